"""The saved form of a run: one entry of a store, written anew after each step."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ..driving import Driver, KeyedLocks
from ..errors import AgentError
from ..stores import Store
from .frames import Frame, decoded, read_invocation, written_invocation
from .node import Node
from .outcomes import Pending
from .places import Place
from .saving import Codec
from .scope import AgenticScope, AgentInvocation, Numbers

RUNS: Final = "aiservices.agentic.runs"
COMPLETED: Final = "completed"
_FORMAT: Final = 2
_SAVING: Final = KeyedLocks()


class Record:
    """What is saved of one run. Every write expects the version of the one before: a second writer fails."""

    def __init__(self, store: Store, key: str, codec: Codec, version: int = 0) -> None:
        self._store = store
        self.key = key
        self.codec = codec
        self.version = version
        self.run_id = new_id()
        self.status = "running"
        self.inputs: dict[str, Any] = {}
        self.states: dict[Numbers, dict[str, Any]] = {(): {}}
        self.frames: dict[Numbers, dict[str, Any]] = {}
        self.invocations: dict[Numbers, list[Any]] = {}
        self.answers: dict[str, Any] = {}
        self.pending: list[dict[str, str]] = []
        self.result: list[Any] = [None, "done"]
        self.error = ""

    @classmethod
    async def load(cls, driver: Driver, store: Store, key: str, codec: Codec) -> Record | None:
        """The record of a run, or `None` where there is none."""
        entry = await driver.twin(store.get, store.aget, RUNS, key)
        if entry is None:
            return None
        record, form = cls(store, key, codec, entry.version), entry.value
        if form.get("format") != _FORMAT:
            raise AgentError(f"the run {key!r} was saved in a form that this version does not know")
        record.status, record.error = form["status"], form["error"]
        record.run_id = form["run_id"]
        record.inputs, record.answers = form["inputs"], form["answers"]
        record.pending, record.result = form["pending"], form["result"]
        record.states = {_numbers(place): state for place, state in form["states"].items()}
        record.frames = {_numbers(place): frame for place, frame in form["frames"].items()}
        record.invocations = {_numbers(place): each for place, each in form["invocations"].items()}
        return record

    async def save(self, driver: Driver, change: Callable[[], None] | None = None) -> None:
        """Write what there is now, after a change. Raises `ConflictError` when somebody else has written."""
        async with driver.lock(_SAVING, self):
            if change is not None:
                change()
            self.version = await driver.twin(self._put, self._aput, self._form())

    async def delete(self, driver: Driver) -> bool:
        """Delete it all and say whether it was there."""
        return await driver.twin(self._store.delete, self._store.adelete, RUNS, self.key)

    def _put(self, form: dict[str, Any]) -> int:
        return self._store.put(RUNS, self.key, form, expected_version=self.version)

    async def _aput(self, form: dict[str, Any]) -> int:
        return await self._store.aput(RUNS, self.key, form, expected_version=self.version)

    def _form(self) -> dict[str, Any]:
        return {
            "format": _FORMAT,
            "run_id": self.run_id,
            "status": self.status,
            "error": self.error,
            "inputs": self.inputs,
            "answers": dict(self.answers),
            "pending": self.pending,
            "result": self.result,
            "states": {_id(place): dict(state) for place, state in self.states.copy().items()},
            "frames": {_id(place): frame for place, frame in self.frames.copy().items()},
            "invocations": {_id(place): each for place, each in self.invocations.copy().items()},
        }

    def note(self, place: Numbers, key: str, value: Any) -> None:
        """Keep what was written to a scope, as it is now. Raises `AgentError` for what cannot be saved."""
        state = self.states.setdefault(place, {})
        if value is None and not place:
            state.pop(key, None)
        else:
            state[key] = self.codec.encode(value, f"the value of {key!r}")

    def scope_at(self, place: Numbers, outer: AgenticScope | None) -> AgenticScope:
        """The scope of a place, with what was saved of it."""
        scope = AgenticScope(outer=outer)
        for key, form in self.states.setdefault(place, {}).items():
            scope.write(key, self.codec.decode(form))
        scope.saved_by(lambda key, value: self.note(place, key, value))
        return scope

    def recall(self, scope: AgenticScope) -> None:
        """Give the scope of a resumed run its history."""
        for place, (form, composite) in self.invocations.items():
            scope.history.add(place, read_invocation(form, self.codec), composite=composite)

    def frame_at(self, place: Place, agents: Sequence[Node]) -> Frame | None:
        """What was saved of the composite at a place."""
        form = self.frames.get(place.numbers)
        return None if form is None else decoded(form, self.codec, agents, place.path)

    def keep_frame(self, place: Place, frame: Frame, agents: Sequence[Node]) -> None:
        self.frames[place.numbers] = frame.encoded(self.codec, agents)

    def keep_invocation(
        self, place: Numbers, invocation: AgentInvocation, key: str | None, *, composite: bool
    ) -> None:
        """Keep what an agent gave, under a key where it has one. Raises `AgentError` naming that."""
        self.invocations[place] = [written_invocation(invocation, self.codec, key), composite]

    def forget(self, place: Numbers, *, history: bool) -> None:
        """Forget the frames and scopes at and below a place, and what ran below it when asked to.

        What is in the scope of the run stays.
        """
        depth = len(place)
        for kept in (self.frames, self.states):
            for each in [each for each in kept if each[:depth] == place]:
                if each or kept is self.frames:
                    del kept[each]
        if history:
            for each in [each for each in self.invocations if each[:depth] == place and len(each) > depth]:
                del self.invocations[each]

    def completed(self, value: Any, reason: str) -> None:
        self.status = COMPLETED
        self.result = [self.codec.encode(value, "the result"), reason]
        self.frames.clear()
        self.pending = []

    def suspended(self, pending: Sequence[Pending]) -> None:
        self.status = "suspended"
        self.pending = [{"id": each.id, "agent": each.agent, "question": each.question} for each in pending]

    def failed(self, error: BaseException) -> None:
        self.status, self.error = "failed", f"{type(error).__name__}: {error}"[:1000]

    @property
    def value(self) -> Any:
        return self.codec.decode(self.result[0])


def new_id() -> str:
    """Names a run, and only it."""
    return os.urandom(16).hex()


def _id(place: Numbers) -> str:
    return ".".join(map(str, place))


def _numbers(text: str) -> Numbers:
    return tuple(map(int, text.split("."))) if text else ()


def decoded_inputs(record: Record) -> Mapping[str, Any]:
    """What a saved run was given."""
    return {key: record.codec.decode(form) for key, form in record.inputs.items()}
