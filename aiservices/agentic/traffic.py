"""Which keys flow into and out of agents, by the way in which they follow one another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Want:
    """A key that an agent reads. `early` ones can be looked for before anything runs."""

    key: str
    hint: Any
    agent: str
    required: bool = True
    early: bool = True


@dataclass(frozen=True, slots=True)
class Traffic:
    """What comes from outside, what is written on every path, and what may be written.

    `late` is what is written in the background, beside what comes after. `problems` are sentences about what
    is inside, and `gaps` those about keys that are not always written.
    """

    wants: tuple[Want, ...] = ()
    sure: frozenset[str] = frozenset()
    maybe: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    late: frozenset[str] = frozenset()


Flow: TypeAlias = Callable[[Sequence[Traffic]], Traffic]
"""What agents read and write together."""

_NONE: frozenset[str] = frozenset()


def in_order(parts: Sequence[Traffic]) -> Traffic:
    """One after another: what one writes the next ones can read."""
    wants: list[Want] = []
    gaps: list[str] = []
    sure = maybe = _NONE
    for part in parts:
        for want in part.wants:
            if want.key in sure:
                continue
            given = any(each.key == want.key and each.required for each in wants)
            if want.key in maybe and want.required and not given:
                gaps.append(
                    f"{want.agent!r} reads {want.key!r}, which is not written on every path before it: "
                    "write it always, or give the parameter a default"
                )
            else:
                wants.append(want)
        sure, maybe = sure | part.sure, maybe | part.maybe
    problems = (*_problems(parts), *_overtaken(parts))
    return Traffic(tuple(wants), sure, maybe, problems, tuple(gaps))


def _overtaken(parts: Sequence[Traffic]) -> Iterator[str]:
    """Keys that are written in the background and by what comes after: nobody knows what is left in the end.

    Of several in the background a later one waits for an earlier one.
    """
    late = _NONE
    for part in parts:
        for key in sorted(late & part.maybe - part.late):
            yield (
                f"{key!r} is written in the background and by an agent after that: give each an output_key "
                "of its own"
            )
        late |= part.late


def repeated(leaves_early: bool) -> Flow:
    """In order again and again; one that may leave after any agent is sure of the first one only."""

    def flow(parts: Sequence[Traffic]) -> Traffic:
        overtaken = dict.fromkeys(_overtaken([*parts, *parts]))  # the first ones come after the last ones too
        whole = replace(in_order(parts), problems=(*_problems(parts), *overtaken))
        return replace(whole, sure=parts[0].sure) if leaves_early else whole

    return flow


def side_by_side(parts: Sequence[Traffic]) -> Traffic:
    """All at once: nobody can read what another writes, nor may two write the same key."""
    problems = _problems(parts)
    met: set[str] = set()
    for part in parts:
        problems += [
            f"agents side by side write the same key {key!r}: give each an output_key of its own"
            for key in sorted(met & part.maybe)
        ]
        met |= part.maybe
    return Traffic(_all_wants(parts), _union(part.sure for part in parts), _union_of(parts), tuple(problems))


def one_of(*, always: bool) -> Flow:
    """Some of them: only what all of them write is written on every path, and where `always` one runs."""

    def flow(parts: Sequence[Traffic]) -> Traffic:
        sure = reduce(frozenset.intersection, [part.sure for part in parts]) if always else _NONE
        return Traffic(_all_wants(parts), sure, _union_of(parts), tuple(_problems(parts)))

    return flow


def for_each(items: str, item: str, name: str) -> Flow:
    """Once for each item: what is written within is not seen outside."""

    def flow(parts: Sequence[Traffic]) -> Traffic:
        wants = [Want(items, Any, name), *(want for want in _all_wants(parts) if want.key != item)]
        return Traffic(tuple(wants), problems=tuple(_problems(parts)))

    return flow


def in_any_order(parts: Sequence[Traffic]) -> Traffic:
    """As a planner decides: what one of them may write is not asked for from outside."""
    written = _union_of(parts)
    wants = tuple(want for want in _all_wants(parts) if want.key not in written)
    return Traffic(wants, _NONE, written, tuple(_problems(parts)))


def and_written(keys: frozenset[str], flow: Flow) -> Flow:
    """The same where the planner itself writes some keys."""

    def flowing(parts: Sequence[Traffic]) -> Traffic:
        whole = flow(parts)
        wants = tuple(want for want in whole.wants if want.key not in keys)
        return replace(whole, wants=wants, maybe=whole.maybe | keys)

    return flowing if keys else flow


def merged(wants: Iterable[Want]) -> tuple[Want, ...]:
    """One want for each key, in the order in which they were met; required where any of them is."""
    found: dict[str, Want] = {}
    for want in wants:
        known = found.setdefault(want.key, want)
        if want.required and not known.required:
            found[want.key] = want
    return tuple(found.values())


def _all_wants(parts: Sequence[Traffic]) -> tuple[Want, ...]:
    return tuple(want for part in parts for want in part.wants)


def _problems(parts: Sequence[Traffic]) -> list[str]:
    return [problem for part in parts for problem in part.problems]


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return reduce(frozenset.union, sets, _NONE)


def _union_of(parts: Sequence[Traffic]) -> frozenset[str]:
    return _union(part.maybe for part in parts)
