"""How probable the model found the label it chose."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ..messages import ChatResponse, TokenLogprob

_WRAPPED: Final = re.compile(r'"value"\s*:\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"}]+))')
_LAST_LINE: Final = re.compile(r"\w[^\n]*")


def confidence_in(label: str, response: ChatResponse) -> float | None:
    """The probability, 0 to 1, of the label as the model tells it; `None` when it does not."""
    if response.label_probabilities is not None:
        return _told(response.label_probabilities, label)
    return _spelled(response.logprobs, label) if response.logprobs else None


def _told(probabilities: Mapping[str, float], label: str) -> float | None:
    probability = probabilities.get(label)
    if probability is None or math.isnan(probability):
        return None
    return min(1.0, max(0.0, probability))


def _spelled(logprobs: Sequence[TokenLogprob], label: str) -> float | None:
    """The probability of the tokens that spell the label; a token that only partly does counts whole."""
    start, stop = _span("".join(item.token for item in logprobs), label)
    chosen = [
        item.logprob for item, begin, end in _placed(logprobs) if begin < end and end > start and begin < stop
    ]
    total = sum(chosen)
    return math.exp(min(0.0, total)) if chosen and not math.isnan(total) else None


def _placed(logprobs: Sequence[TokenLogprob]) -> Iterator[tuple[TokenLogprob, int, int]]:
    end = 0
    for item in logprobs:
        begin, end = end, end + len(item.token)
        yield item, begin, end


def _span(text: str, label: str) -> tuple[int, int]:
    """Where the answer stands. Before it the model may have thought aloud, and named other labels or this.

    So that is, each the last time: the label as the value of the wrapping object, another spelling of it
    there, the label as a word of its own, and else the last line.
    """
    word = re.escape(label)
    for pattern in (
        re.compile(rf'"value"\s*:\s*(?:"({word})"|({word})(?=[\s,}}]))'),
        _WRAPPED,
        re.compile(rf"(?<!\w)({word})(?!\w)", re.IGNORECASE),
        _LAST_LINE,
    ):
        found = list(pattern.finditer(text))
        if found:
            return found[-1].span(found[-1].lastindex or 0)
    return 0, 0
