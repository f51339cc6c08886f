"""Random systems of agents do what a simple interpreter does: the same value, order and state."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from aiservices import InMemoryStore
from aiservices.agentic import (
    Agent,
    AgenticScope,
    AgentOutcome,
    Completed,
    Failed,
    agent,
    conditional,
    loop,
    parallel,
    parallel_map,
    sequence,
)
from aiservices.errors import StoreError

KEYS = ("k0", "k1", "k2")


@dataclass(frozen=True)
class Leaf:
    """Adds a number to the sum of some keys and writes another one; it may fail, or be awaited."""

    name: str
    reads: tuple[str, ...]
    writes: str | None
    number: int
    fails: bool = False
    is_async: bool = False


@dataclass(frozen=True)
class Sequence:
    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Loop:
    parts: tuple[Tree, ...]
    rounds: int
    key: str
    limit: int
    at_end: bool


@dataclass(frozen=True)
class Parallel:
    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Conditional:
    parts: tuple[tuple[str, int, Tree], ...]
    otherwise: Tree | None
    first: bool


@dataclass(frozen=True)
class Each:
    leaf: Leaf
    items: tuple[int, ...]


Tree: TypeAlias = "Leaf | Sequence | Loop | Parallel | Conditional | Each"


class BoomError(Exception):
    pass


@dataclass
class Interpreter:
    """The reference: plain recursion, one agent after another."""

    state: dict[str, int]
    ran: list[tuple[str, int]] = field(default_factory=list)

    def run(self, tree: Tree) -> Any:
        match tree:
            case Leaf():
                return self.leaf(tree, self.state)
            case Sequence(parts):
                value = None
                for part in parts:
                    value = self.run(part)
                return value
            case Loop():
                return self.loop(tree)
            case Parallel(parts):
                self.all(parts)
                return None
            case Conditional(parts, otherwise, first):
                chosen = [part for key, limit, part in parts if self.state[key] > limit]
                chosen = chosen[:1] if first else chosen
                chosen = chosen or ([] if otherwise is None else [otherwise])
                return self.all(chosen)[-1] if chosen else None
            case Each(leaf, items):
                return [self.leaf(leaf, self.state | {"item": item}) for item in items]

    def all(self, parts: Any) -> list[Any]:
        error, values = None, []
        for part in parts:
            try:
                values.append(self.run(part))
            except BoomError as raised:  # the others end all the same
                error = error or raised
        if error is not None:
            raise error
        return values

    def loop(self, tree: Loop) -> Any:
        value = None
        for _ in range(tree.rounds):
            for part in tree.parts:
                value = self.run(part)
                if not tree.at_end and self.state[tree.key] > tree.limit:
                    return value
            if tree.at_end and self.state[tree.key] > tree.limit:
                return value
        return value

    def leaf(self, leaf: Leaf, seen: dict[str, int]) -> int:
        if leaf.fails:
            raise BoomError(leaf.name)
        value = sum(seen[key] for key in leaf.reads) + leaf.number
        self.ran.append((leaf.name, value))
        if leaf.writes is not None:
            self.state[leaf.writes] = value
        return value


def built(tree: Tree, **options: Any) -> Any:
    match tree:
        case Leaf():
            return leaf_agent(tree)
        case Sequence(parts):
            return sequence(*map(built, parts), **options)
        case Loop(parts, rounds, key, limit, at_end):
            return loop(
                *map(built, parts),
                max_iterations=rounds,
                until=lambda scope: scope.read(key) > limit,
                check="round_end" if at_end else "each_agent",
                **options,
            )
        case Parallel(parts):
            return parallel(*map(built, parts), **options)
        case Conditional(parts, otherwise, first):
            branches = [(over(key, limit), built(part)) for key, limit, part in parts]
            default = None if otherwise is None else built(otherwise)
            return conditional(*branches, otherwise=default, first_match=first, **options)
        case Each(leaf):
            return parallel_map(built(leaf), items=f"items of {leaf.name}", **options)


def over(key: str, limit: int) -> Callable[[AgenticScope], bool]:
    return lambda scope: scope.read(key) > limit


def leaf_agent(leaf: Leaf) -> Any:
    def plus(**given: int) -> int:
        if leaf.fails:
            raise BoomError(leaf.name)
        return sum(given.values()) + leaf.number

    # The keys are given, so a default is never used; without it, what only some branches write is refused.
    parameters = ", ".join(
        f"{key}: int" if key == "item" else f"{key}: int = 0" for key in sorted(leaf.reads)
    )
    head = "async def" if leaf.is_async else "def"
    names: dict[str, Any] = {"plus": plus}
    given = ", ".join(f"{key}={key}" for key in leaf.reads)
    exec(f"{head} function({parameters}) -> int:\n    return plus({given})", names)
    return agent(name=leaf.name, output_key=leaf.writes)(names["function"])


@st.composite
def leaves(
    draw: Any, writes: tuple[str | None, ...], extra: tuple[str, ...] = (), fails: bool = True
) -> Leaf:
    return Leaf(
        name=draw(st.text("abcdefgh", min_size=4, max_size=8)),
        reads=tuple(draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=2))) + extra,
        writes=draw(st.sampled_from(writes)),
        number=draw(st.integers(-3, 5)),
        fails=fails and draw(st.integers(0, 14)) == 0,
        is_async=draw(st.booleans()),
    )


@st.composite
def trees(draw: Any, depth: int = 3) -> Tree:
    """Systems in which no branch reads what one beside it writes, so that they have one right result."""
    kind = draw(st.sampled_from(["leaf", "sequence", "loop", "parallel", "conditional", "each"]))
    some = st.lists(trees(depth - 1), min_size=1, max_size=3).map(tuple) if depth else None
    if kind == "each":
        return Each(draw(leaves((None,), ("item",))), tuple(draw(st.lists(st.integers(0, 5), max_size=3))))
    if some is None or kind == "leaf":
        return draw(leaves((None, *KEYS)))
    if kind == "sequence":
        return Sequence(draw(some))
    if kind == "loop":
        rounds, key, limit = draw(st.integers(1, 3)), draw(st.sampled_from(KEYS)), draw(st.integers(0, 9))
        return Loop(draw(some), rounds, key, limit, draw(st.booleans()))
    if kind == "parallel":
        branches = st.lists(leaves((None,)), min_size=1, max_size=3)
        return Parallel(tuple(draw(branches)))
    limits = st.tuples(st.sampled_from(KEYS), st.integers(-1, 9))
    if draw(st.booleans()):
        first = [(*draw(limits), part) for part in draw(some)]
        return Conditional(tuple(first), draw(st.none() | trees(depth - 1)), True)
    every = [(*draw(limits), draw(leaves((None,)))) for _ in range(draw(st.integers(1, 3)))]
    return Conditional(tuple(every), draw(st.none() | leaves((None, *KEYS))), False)


def inputs_of(tree: Tree) -> dict[str, Any]:
    match tree:
        case Leaf():
            return {}
        case Each(leaf, items):
            return {f"items of {leaf.name}": list(items)}
        case Conditional(parts, otherwise):
            inner = [part for _, _, part in parts] + ([] if otherwise is None else [otherwise])
        case Sequence(parts) | Parallel(parts):
            inner = list(parts)
        case Loop():
            inner = list(tree.parts)
    return {key: value for part in inner for key, value in inputs_of(part).items()}


def consistent(tree: Tree) -> bool:
    """Whether the lists of items, which are known by the names of leaves, do not get in each other's way."""
    names = [each.leaf.name for each in eaches(tree)]
    return len(names) == len(set(names))


def eaches(tree: Tree) -> list[Each]:
    match tree:
        case Each():
            return [tree]
        case Leaf():
            return []
        case Conditional(parts, otherwise):
            inner = [part for _, _, part in parts] + ([] if otherwise is None else [otherwise])
        case Sequence(parts) | Parallel(parts):
            inner = list(parts)
        case Loop():
            inner = list(tree.parts)
    return [each for part in inner for each in eaches(part)]


STATE = {"k0": 0, "k1": 1, "k2": 2}


def compare(outcome: AgentOutcome, tree: Tree) -> None:
    reference = Interpreter(dict(STATE))
    given = inputs_of(tree)
    try:
        expected = reference.run(tree)
    except BoomError as error:
        expect_failure(outcome, str(error))
    else:
        assert isinstance(outcome, Completed), outcome
        assert outcome.value == expected
    state = {key: value for key, value in outcome.scope.state.items() if key not in given}
    assert state == reference.state
    assert [(each.agent, each.output) for each in outcome.scope.history.leaves()] == reference.ran


@given(trees().filter(consistent))
def test_both_styles_agree_with_the_reference(tree: Tree) -> None:
    made: Agent = sequence(built(tree))
    inputs = STATE | inputs_of(tree)
    compare(made.run(**inputs), tree)
    compare(asyncio.run(made.arun(**inputs)), tree)


@given(trees().filter(consistent))
def test_a_saved_run_agrees_with_the_reference_and_so_does_what_is_saved(tree: Tree) -> None:
    made: Agent = sequence(built(tree), store=InMemoryStore())
    outcome = made.run(memory_id="m", **STATE, **inputs_of(tree))
    compare(outcome, tree)
    if isinstance(outcome, Completed):
        compare(made.resume("m"), tree)


@given(trees().filter(consistent), st.data())
def test_a_run_that_failed_somewhere_and_is_resumed_agrees_with_the_reference(tree: Tree, data: Any) -> None:
    """The store fails at some write, as if the process had died there; nothing runs twice that was saved."""
    store = Failing()
    made: Agent = sequence(built(tree), store=store)
    inputs = STATE | inputs_of(tree)
    made.run(memory_id="whole", **inputs)
    store.left = data.draw(st.integers(1, store.count - 1)) if store.count > 1 else 1
    outcome = made.run(memory_id="m", **inputs)
    store.left = 10**9
    if isinstance(outcome, Failed):
        outcome = made.resume("m")
    compare(outcome, tree)


def expect_failure(outcome: AgentOutcome, name: str) -> None:
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, BoomError)
    assert str(outcome.error) == name


class Failing(InMemoryStore):
    """Fails from some write on, and counts them."""

    left = 10**9
    count = 0

    def put(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        if namespace.endswith("runs"):
            self.count += 1
            self.left -= 1
            if self.left < 0:
                raise StoreError("the process has died", namespace=namespace, key=key)
        return super().put(namespace, key, value, **options)
