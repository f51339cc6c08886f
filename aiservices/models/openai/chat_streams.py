"""Streams of chat completions: the pieces are put together to the JSON that a plain answer would be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pydantic_core import from_json

from ...errors import ServerError
from ...messages import (
    ModelEvent,
    PartialText,
    PartialThinking,
    PartialToolCall,
    ResponseDone,
)
from ..failures import Failure
from .chat_answers import THINKING_FIELDS, arguments_of, chat_answer, text_of_parts
from .complaints import complaint_in, failure_from
from .harmony import Channels

NOTHING: Final[tuple[ModelEvent, ...]] = ()


class ChatAssembly:
    """One streamed answer. Of several choices the first is read."""

    def __init__(self, host: str) -> None:
        self.over = False
        self._host = host
        self._head: dict[str, Any] = {}
        self._usage: Any = None
        self._choice: dict[str, Any] = {}
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._thinking_field: str | None = None
        self._channels: Channels | None = Channels()
        self._calls = _Calls()
        self._logprobs: list[Any] = []
        self._others: dict[str, Any] = {}

    def feed(self, data: dict[str, Any]) -> Sequence[ModelEvent]:
        """Take a chunk; chunks without a choice tell of the usage, or of nothing."""
        if complaint := complaint_in(data):
            raise failure_from(complaint)
        self._head.update(data)
        if usage := data.get("usage"):
            self._usage = usage
        choices = data.get("choices")
        if not choices or choices[0].get("index"):
            return NOTHING
        choice: dict[str, Any] = choices[0]
        if choice.get("finish_reason") or not self._choice:
            self._choice.update(choice)
        if logprobs := choice.get("logprobs"):
            self._logprobs += logprobs.get("content") or ()
        delta = choice.get("delta")
        return self._read(delta) if delta else NOTHING

    def finish(self, *, marked: bool) -> Sequence[ModelEvent]:
        """The whole answer, after what was held back of its text."""
        if not self._choice:
            raise Failure("its stream held no answer", kind=ServerError)
        if not marked and not self._choice.get("finish_reason"):
            raise Failure("its stream broke off before the answer was whole", kind=ServerError)
        held = self._channels.finish() if self._channels else ()
        events: list[ModelEvent] = [_spoken(thought, text) for thought, text in held]
        return [*events, ResponseDone(chat_answer(self._whole(), self._host))]

    def _whole(self) -> dict[str, Any]:
        message = {**self._others, "content": "".join(self._texts) if self._texts else None}
        if self._thinking_field:
            message[self._thinking_field] = "".join(self._thoughts)
        message["tool_calls"] = self._calls.whole()
        choice = {**self._choice, "message": message, "logprobs": {"content": self._logprobs}}
        return {**self._head, "choices": [choice], "usage": self._usage}

    def _read(self, delta: dict[str, Any]) -> Sequence[ModelEvent]:
        events: list[ModelEvent] = []
        for name, value in delta.items():
            if not value or name == "role":
                continue
            if name == "content":
                events += self._text(value)
            elif name == "tool_calls":
                events += [self._calls.add(part) for part in value]
            elif name in THINKING_FIELDS:
                events += self._thought(name, value)
            else:
                self._others[name] = _joined(self._others.get(name), value)
        return events

    def _text(self, value: Any) -> Sequence[ModelEvent]:
        if isinstance(value, list):
            thought, value = text_of_parts(value, "thinking"), text_of_parts(value)
            events = self._thought(THINKING_FIELDS[0], thought) if thought else NOTHING
            return [*events, *self._text(value)] if value else events
        self._texts.append(value)
        if self._channels is None:
            return (PartialText(value),)
        pieces = self._channels.feed(value)
        if not self._channels.may_be_marked:
            self._channels = None  # an ordinary text: the rest of it is not looked at
        return [_spoken(thought, text) for thought, text in pieces]

    def _thought(self, name: str, value: str) -> Sequence[ModelEvent]:
        # Some servers send the same piece under two names.
        self._thinking_field = self._thinking_field or name
        if name != self._thinking_field:
            return NOTHING
        self._thoughts.append(value)
        return (PartialThinking(value),)


def _spoken(thought: bool, text: str) -> ModelEvent:
    return PartialThinking(text) if thought else PartialText(text)


def _joined(before: Any, value: Any) -> Any:
    """What a field that our code does not know has grown to."""
    if isinstance(before, str) and isinstance(value, str):
        return before + value
    if isinstance(before, list) and isinstance(value, list):
        return before + value
    if isinstance(before, dict) and isinstance(value, dict):
        return before | {name: _joined(before.get(name), each) for name, each in value.items()}
    return value


class _Call:
    """A tool call while it is streamed."""

    def __init__(self, number: int, index: int | None) -> None:
        self.number = number
        self.index = index
        self.id: str | None = None
        self.name: str | None = None
        self.arguments: list[str] = []
        self.others: dict[str, Any] = {}

    @property
    def is_complete(self) -> bool:
        """Whether the arguments so far are whole JSON."""
        try:
            from_json("".join(self.arguments))
        except ValueError:
            return False
        return True


class _Calls:
    """The tool calls of a stream. A part belongs to the call of its id, its index, or the latest one."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []

    def add(self, part: dict[str, Any]) -> PartialToolCall:
        """Take a part; the event tells the id and name that are known by now."""
        function = part.get("function") or {}
        name = function.get("name") or None
        call = self._call_for(part.get("id") or None, part.get("index"), name)
        call.id = call.id or part.get("id") or None
        call.name = call.name or name
        arguments = arguments_of(function.get("arguments"))
        if arguments:
            call.arguments.append(arguments)
        for field, value in part.items():
            if value and field not in {"id", "index", "type", "function"}:
                call.others[field] = _joined(call.others.get(field), value)
        return PartialToolCall(call.number, call.id, call.name, arguments)

    def whole(self) -> list[dict[str, Any]]:
        """The calls as a plain answer would list them."""
        return [
            {
                "id": call.id,
                "function": {"name": call.name, "arguments": "".join(call.arguments)},
                **call.others,
            }
            for call in self._calls
        ]

    def _call_for(self, id: str | None, index: int | None, name: str | None) -> _Call:
        call = self._candidate(id, index, name)
        if call is not None and not _begins_another(call, id, name):
            return call
        call = _Call(len(self._calls), index)
        self._calls.append(call)
        return call

    def _candidate(self, id: str | None, index: int | None, name: str | None) -> _Call | None:
        latest_first = self._calls[::-1]
        by_id = (call for call in latest_first if id is not None and call.id == id)
        by_index = (call for call in latest_first if index is not None and call.index == index)
        return next(by_id, None) or next(by_index, None) or self._latest(id, index, name)

    def _latest(self, id: str | None, index: int | None, name: str | None) -> _Call | None:
        """The last call begun, unless the part names itself, by id or by index, as the start of another."""
        call = self._calls[-1] if self._calls else None
        if call is None or (id is not None and call.id is not None):
            return None
        return None if name is not None and index is not None and call.index is not None else call


def _begins_another(call: _Call, id: str | None, name: str | None) -> bool:
    """Whether a part with this id and name is a new call, though an index or the order speaks for `call`."""
    if id is not None and call.id is not None:
        return id != call.id
    if name is None or call.name is None:
        return False
    # A name that comes again: some servers repeat it with each part, others send all calls under one index.
    return name != call.name or (bool(call.arguments) and call.is_complete)
