"""Finding tools: where there are many, the model is shown a search and what it has found."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

from ..models.embedding import EmbeddingModel
from .functions import Tool
from .outcomes import ToolOutcome
from .signatures import Signature, read_signature

FOUND: Final = "found_tools"
"""The attribute of a search's result message that names the tools found; no model sees it."""
_WORD: Final = re.compile(r"[^\W_]+")


class ToolSearch(ABC):
    """A way to find tools by what they do. `name` is what the model calls the search.

    A tool whose attributes say `always_visible` is shown from the start and not searched for.
    """

    name = "search_tools"

    def __init__(self, max_results: int = 5) -> None:
        if max_results < 1:
            raise ValueError(f"max_results is {max_results}: give 1 or more")
        self.max_results = max_results

    @abstractmethod
    def search(self, query: str, tools: Sequence[Tool[..., Any]]) -> list[Tool[..., Any]]:
        """The tools that fit the query, best first, at most `max_results`."""


class KeywordToolSearch(ToolSearch):
    """Finds tools by the words of their name, which count twice, and of their description."""

    def search(self, query: str, tools: Sequence[Tool[..., Any]]) -> list[Tool[..., Any]]:
        wanted = _words(query)
        scores = [
            (2 * len(wanted & _words(item.name)) + len(wanted & _words(item.spec.description)), item)
            for item in tools
        ]
        ranked = sorted((pair for pair in scores if pair[0]), key=lambda pair: -pair[0])
        return [item for _, item in ranked[: self.max_results]]


class EmbeddingToolSearch(ToolSearch):
    """Finds tools by meaning: the query's vector against those of "name. description"."""

    def __init__(self, model: EmbeddingModel, max_results: int = 5) -> None:
        super().__init__(max_results)
        self.model = model
        self._vectors: dict[str, Sequence[float]] = {}

    def search(self, query: str, tools: Sequence[Tool[..., Any]]) -> list[Tool[..., Any]]:
        texts = [f"{item.name.replace('_', ' ')}. {item.spec.description}" for item in tools]
        known = self._vectors
        new = [text for text in dict.fromkeys(texts) if text not in known]
        wanted, *vectors = (list(map(float, vector)) for vector in self.model.embed([query, *new]).vectors)
        known = {text: known[text] for text in texts if text in known} | dict(zip(new, vectors, strict=True))
        self._vectors = known  # replaced as a whole, as other calls may be searching meanwhile
        scores = [_cosine(wanted, known[text]) for text in texts]
        ranked = sorted(range(len(tools)), key=lambda index: -scores[index])
        return [tools[index] for index in ranked[: self.max_results]]


def search_tool(search: ToolSearch, tools: Sequence[Tool[..., Any]]) -> Tool[..., Any]:
    """The tool by which a model searches the others."""

    def find(query: str) -> ToolOutcome:
        found = list(search.search(query, tools))[: search.max_results]
        lines = [f"{item.name}: {item.spec.description}".rstrip(": ") for item in found]
        text = "\n".join(["These tools are available now:", *lines]) if found else "No tool fits."
        names = [item.name for item in found]
        return ToolOutcome(text, value=names, attributes={FOUND: names})

    return Tool(lambda: replace(_find_signature(), name=search.name), find)


@cache
def _find_signature() -> Signature:
    """How every search is called: read once, though each request to the model has a search of its own."""

    def find(query: str) -> ToolOutcome:
        raise NotImplementedError

    description = "Search for tools that can do something. What is found can be called afterwards."
    return read_signature(find, description=description)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _cosine(first: Sequence[float], second: Sequence[float]) -> float:
    product = sum(a * b for a, b in zip(first, second, strict=True))
    length = (sum(a * a for a in first) * sum(b * b for b in second)) ** 0.5
    return product / length if length else 0.0
