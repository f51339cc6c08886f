"""Answers that are one of a few labels: chosen by how likely the model finds each, not by writing one.

The distribution is that of constrained decoding at temperature 1: at each step only tokens that lead to a
label count. Most choices are decided by one look at the next token, which is cheaper than writing the
answer, and at least as accurate (`examples/accuracy.py` measures it).
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

NextTokens = Callable[[str], Iterable[tuple[str, float]]]
"""The likeliest tokens after a beginning of the answer, with their log probabilities."""

WRAPPER: Final = "value"
MOST_LABELS: Final = 32
MOST_LOOKS: Final = 24
SMALLEST_SHARE: Final = 0.02
"""A beginning that several labels share is followed only when the model finds it at least this likely."""

YES_OR_NO: Final = "Answer yes or no."
SOLVED: Final = (
    ("user", "Is the sky blue?"),
    ("assistant", "yes"),
    ("user", "Is a mouse bigger than a house?"),
    ("assistant", "no"),
    ("user", "Text: Mia has a cat.\nQuestion: Does Mia have a dog?"),
    ("assistant", "no"),
    ("user", "Text: The shop is open on Sundays.\nQuestion: Is the shop open on Sunday?"),
    ("assistant", "yes"),
)
"""Questions with their answers, which go before a question of the user."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A closed choice.

    `candidates` are what the model could write after `beginning`; `labels` are their names on the wire and
    `answers` the JSON texts that they stand for, in the same order.
    """

    beginning: str
    candidates: tuple[str, ...]
    labels: tuple[str, ...]
    answers: tuple[str, ...]
    is_yes_or_no: bool = False


def choice_of(schema: Mapping[str, Any]) -> Choice | None:
    """The closed choice that a schema is: `{"value": …}` with a boolean, an enumeration or constants."""
    properties = schema.get("properties", {})
    if (
        schema.get("type") != "object"
        or properties.keys() != {WRAPPER}
        or WRAPPER not in schema.get("required", ())
    ):
        return None
    values = _values(properties[WRAPPER], schema)
    if values is None or not 1 < len(values) <= MOST_LABELS:
        return None
    answers = tuple(json.dumps({WRAPPER: value}, ensure_ascii=False) for value in values)
    labels = tuple(value if isinstance(value, str) else json.dumps(value) for value in values)
    if len(set(labels)) < len(labels):
        return None  # such as 1 and "1": names would be ambiguous
    if values == [True, False]:
        return Choice("", ("yes", "no"), labels, answers, is_yes_or_no=True)
    written = [json.dumps(value, ensure_ascii=False) + "}" for value in values]
    quote = '"' if all(text.startswith('"') for text in written) else ""
    beginning = f'{{"{WRAPPER}": {quote}'
    return Choice(beginning, tuple(text.removeprefix(quote) for text in written), labels, answers)


def probabilities(candidates: Sequence[str], next_tokens: NextTokens) -> list[float]:
    """How likely each candidate is; the sum is 1. `next_tokens` is asked 24 times at most, mostly once."""
    found = dict.fromkeys(candidates, 0.0)
    open_ends: list[tuple[str, float, tuple[str, ...]]] = [("", 1.0, tuple(candidates))]
    looks = 0
    while open_ends:
        begun, mass, alive = open_ends.pop(0)
        shares = _shares(begun, alive, next_tokens(begun)) if looks < MOST_LOOKS else {}
        looks += 1
        if not shares:  # no label is in sight: each may be meant
            shares = {(begun, (candidate,)): 1 / len(alive) for candidate in alive}
        for (text, meant), share in shares.items():
            if len(meant) == 1:
                found[meant[0]] += mass * share
            else:
                open_ends.append((text, mass * share, meant))
    total = sum(found.values())
    return [found[candidate] / total for candidate in candidates]


def _shares(
    begun: str, alive: tuple[str, ...], tokens: Iterable[tuple[str, float]]
) -> dict[tuple[str, tuple[str, ...]], float]:
    """What the next token leads to, with shares that add up to 1: a label, or a beginning of several."""
    shares: defaultdict[tuple[str, tuple[str, ...]], float] = defaultdict(float)
    for token, logprob in tokens:
        text = begun + token
        meant = tuple(each for each in alive if token and (each.startswith(text) or text.startswith(each)))
        if meant:
            shares["" if len(meant) == 1 else text, meant] += math.exp(logprob)
    total = sum(shares.values())
    kept = {
        key: share for key, share in shares.items() if len(key[1]) == 1 or share >= SMALLEST_SHARE * total
    }
    total = sum(kept.values())
    return {key: share / total for key, share in kept.items()} if total else {}


def _values(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[Any] | None:
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        return _values(root.get("$defs", {}).get(reference.removeprefix("#/$defs/"), {}), root)
    if "enum" in schema:
        return list(schema["enum"])
    if "const" in schema:
        return [schema["const"]]
    if schema.get("type") == "boolean":
        return [True, False]
    if schema.get("type") == "null":
        return [None]
    return _values_of_all(schema.get("anyOf", schema.get("oneOf", ())), root)


def _values_of_all(parts: Sequence[Mapping[str, Any]], root: Mapping[str, Any]) -> list[Any] | None:
    values: list[Any] = []
    for part in parts:
        more = _values(part, root)
        if more is None:
            return None
        values += [value for value in more if value not in values]
    return values or None
