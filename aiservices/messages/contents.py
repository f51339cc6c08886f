"""What a message is made of: text and media."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

from .frozen import NO_ATTRIBUTES, attributes_of


@dataclass(frozen=True, slots=True)
class TextContent:
    """A piece of text."""

    text: str
    attributes: Mapping[str, Any] = field(default=NO_ATTRIBUTES, hash=False, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if self.attributes is not NO_ATTRIBUTES:
            frozen = attributes_of(self.attributes, owner="TextContent.attributes")
            object.__setattr__(self, "attributes", frozen)


@dataclass(frozen=True, slots=True)
class _Media:
    """Bytes with a media type, or the address of some; exactly one of `url` and `data` is given.

    `attributes` carries what a provider needs beside, as on every message.

    Raises `ValueError` when both or neither are given, or when bytes come without a media type.
    """

    url: str | None = None
    data: bytes | None = None
    media_type: str | None = None
    attributes: Mapping[str, Any] = field(default=NO_ATTRIBUTES, hash=False, kw_only=True)

    default_media_type: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        name = type(self).__name__
        if (self.url is None) == (self.data is None):
            raise ValueError(f"{name} takes either url= or data=, one of the two")
        if self.data is not None and self.media_type is None:
            if self.default_media_type is None:
                raise ValueError(f"{name}(data=...) also needs media_type=, such as 'image/png'")
            object.__setattr__(self, "media_type", self.default_media_type)
        if self.attributes is not NO_ATTRIBUTES:
            object.__setattr__(self, "attributes", attributes_of(self.attributes, owner=f"{name}.attributes"))

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read a file; the media type is guessed from its name.

        Raises `OSError` when the file cannot be read, `ValueError` when the type cannot be guessed.
        """
        path = Path(path)
        media_type = mimetypes.guess_type(path.name)[0] or cls.default_media_type
        if media_type is None:
            raise ValueError(f"the media type of {path.name!r} is unknown: give data= and media_type=")
        return cls(data=path.read_bytes(), media_type=media_type)

    @property
    def base64(self) -> str:
        """The bytes as base64 text; empty for a content that is only an address."""
        return base64.b64encode(self.data or b"").decode("ascii")

    @property
    def address(self) -> str:
        """The `url`, or the bytes as a `data:` URL."""
        return self.url if self.url is not None else f"data:{self.media_type};base64,{self.base64}"

    def __repr__(self) -> str:
        source = f"url={self.url!r}" if self.url is not None else f"data=<{len(self.data or b'')} bytes>"
        return f"{type(self).__name__}({source}, media_type={self.media_type!r})"


@dataclass(frozen=True, slots=True, repr=False)
class ImageContent(_Media):
    """An image. `detail` is the resolution a provider should read it in: `low`, `high` or `auto`."""

    detail: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class AudioContent(_Media):
    """A sound recording."""


@dataclass(frozen=True, slots=True, repr=False)
class VideoContent(_Media):
    """A film."""


@dataclass(frozen=True, slots=True, repr=False)
class PdfContent(_Media):
    """A PDF document. `file_name` is what the model is told it is called."""

    file_name: str | None = None

    default_media_type: ClassVar[str | None] = "application/pdf"


Content: TypeAlias = TextContent | ImageContent | AudioContent | VideoContent | PdfContent
"""Anything a user message or a tool result can hold."""


def reworded(contents: Iterable[Content], text: str) -> tuple[Content, ...]:
    """The contents with one text in place of their own: where the first of these stood, else before all."""
    kept: list[Content] = []
    place = None
    for content in contents:
        if not isinstance(content, TextContent):
            kept.append(content)
        elif place is None:
            place = len(kept)
    kept.insert(place or 0, TextContent(text))
    return tuple(kept)
