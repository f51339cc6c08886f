"""JSON out of what a model says around it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NoReturn

from ..guardrail import GuardrailRequest
from ..verdicts import Accept, Reprompt, Rewrite, Verdict

ASK_FOR_JSON: Final = "Answer again with valid JSON only: no explanation, no code fence, nothing around it."
_OPENING = re.compile(r"[\[{]")
_MOST_STARTS = 64
_SHOWN_PROBLEM = 400


@dataclass(frozen=True, slots=True)
class Extracted:
    """JSON found in a text: as it stands there, and decoded."""

    text: str
    value: Any


@dataclass(frozen=True, slots=True)
class JsonExtractor:
    """Lets through JSON, cuts it out of prose and code fences, and asks again where there is none.

    Catches: answers with words or fences around the JSON (rewritten to the JSON), and answers without valid
    JSON (asked for again). `check` is given the decoded value and may raise `ValueError` about it, as
    `Person.model_validate` of pydantic does: then it is asked for again with what was raised.
    Misses: JSON that is valid but not what you wanted, unless `check` says so; broken JSON is not mended.
    Of several objects or lists the longest is taken. `NaN` and `Infinity` are no JSON.
    Costs: decoding the text once, a few microseconds for a small answer; prose with many brackets is tried
    at 64 of them at most.
    """

    check: Callable[[Any], object] | None = None
    prompt: str = ASK_FOR_JSON
    inline: ClassVar[bool] = True

    def validate(self, request: GuardrailRequest[object]) -> Verdict[str]:
        found = extract_json(request.text)
        if found is None:
            return Reprompt("the answer holds no valid JSON", self.prompt)
        if self.check is not None:
            try:
                self.check(found.value)
            except ValueError as error:
                problem = str(error)[:_SHOWN_PROBLEM]
                return Reprompt("the JSON is not what is wanted", f"{problem}\n{self.prompt}")
        return Accept() if found.text == request.text.strip() else Rewrite(found.text)


def extract_json(text: str) -> Extracted | None:
    """The JSON that the text is, else the longest object or list in it, else None."""
    whole = _decoded(text.strip())
    return whole if whole is not None else _longest_within(text)


def _longest_within(text: str) -> Extracted | None:
    found: Extracted | None = None
    position = starts = 0
    while starts < _MOST_STARTS and (opening := _OPENING.search(text, position)):
        start, starts = opening.start(), starts + 1
        try:
            value, position = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            position = start + 1
            continue
        if found is None or position - start > len(found.text):
            found = Extracted(text[start:position], value)
    return found


def _decoded(text: str) -> Extracted | None:
    try:
        return Extracted(text, _DECODER.decode(text))
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant)
