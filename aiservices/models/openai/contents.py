"""Contents of messages as the parts that either language knows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, assert_never

from ...errors import InvalidRequestError
from ...messages import (
    AudioContent,
    Content,
    ImageContent,
    PdfContent,
    ResponseFormat,
    TextContent,
    ToolSpec,
    VideoContent,
)
from ..failures import Failure

Part = dict[str, Any]

_AUDIO_FORMATS: Final = {"mpeg": "mp3", "x-wav": "wav", "wave": "wav", "vnd.wave": "wav", "mp4": "m4a"}
_NOT_IN_A_NAME: Final = re.compile(r"[^a-zA-Z0-9_-]+")
LONGEST_NAME: Final = 64
# Bounded, so that formats and tools made anew for each call cannot pile up.
KEPT_FORMS: Final = 256


def chat_content(contents: Sequence[Content]) -> str | list[Part]:
    """A message's contents for chat completions: a text where that is all."""
    if len(contents) == 1 and isinstance(contents[0], TextContent):
        return contents[0].text
    return [chat_part(content) for content in contents]


def chat_part(content: Content) -> Part:
    """One content as a part of a chat completions message."""
    match content:
        case TextContent(text):
            return {"type": "text", "text": text}
        case ImageContent(detail=detail):
            image = {"url": content.address} | ({"detail": detail} if detail else {})
            return {"type": "image_url", "image_url": image}
        case AudioContent():
            return _audio(content)
        case PdfContent(url=url):
            if url is not None:
                raise _impossible("a PDF by its address: give it as data=, or use api='responses'")
            return {"type": "file", "file": {"filename": _file_name(content), "file_data": content.address}}
        case VideoContent():
            # Not OpenAI's, but what the servers that can watch have agreed on.
            return {"type": "video_url", "video_url": {"url": content.address}}
        case _:
            assert_never(content)


def responses_content(contents: Sequence[Content]) -> str | list[Part]:
    """A message's contents for responses: a text where that is all."""
    if len(contents) == 1 and isinstance(contents[0], TextContent):
        return contents[0].text
    return [_responses_part(content) for content in contents]


def _responses_part(content: Content) -> Part:
    match content:
        case TextContent(text):
            return {"type": "input_text", "text": text}
        case ImageContent(detail=detail):
            return {"type": "input_image", "image_url": content.address, "detail": detail or "auto"}
        case AudioContent():
            return _audio(content)
        case PdfContent(url=str(url)):
            return {"type": "input_file", "file_url": url}
        case PdfContent():
            return {"type": "input_file", "filename": _file_name(content), "file_data": content.address}
        case VideoContent():
            raise _impossible("a video: send its frames as images")
        case _:
            assert_never(content)


def _audio(content: AudioContent) -> Part:
    if content.data is None:
        raise _impossible("sound by its address: give it as data=")
    subtype = (content.media_type or "").partition("/")[2].partition(";")[0]
    sound = {"data": content.base64, "format": _AUDIO_FORMATS.get(subtype, subtype)}
    return {"type": "input_audio", "input_audio": sound}


def _file_name(content: PdfContent) -> str:
    return content.file_name or "document.pdf"


def _impossible(what: str) -> Failure:
    return Failure(f"OpenAI's API takes no {what.removeprefix('a ')}", kind=InvalidRequestError)


@lru_cache(maxsize=KEPT_FORMS)
def tool_form(spec: ToolSpec) -> Part:
    """A tool as both languages describe it; what `attributes["openai"]` holds, such as `strict`, is added.

    A schema within the strict subset is enforced.
    """
    form: Part = {
        "name": spec.name,
        "description": spec.description,
        "parameters": dict(spec.parameters) or {"type": "object", "properties": {}},
    }
    if spec.strict:
        form["strict"] = True
    return form | dict(spec.attributes.get("openai") or {})


@lru_cache(maxsize=KEPT_FORMS)
def format_form(response_format: ResponseFormat) -> Part:
    """The schema of an answer as both languages describe it. Names are cut to what the API admits."""
    name = _NOT_IN_A_NAME.sub("_", response_format.name).strip("_")[:LONGEST_NAME]
    schema = dict(response_format.schema)
    return {"name": name or "answer", "schema": schema, "strict": response_format.strict}
