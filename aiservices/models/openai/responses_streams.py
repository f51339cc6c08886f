"""Streams of responses: typed events, the last of which holds the whole answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ...errors import ServerError
from ...messages import ModelEvent, PartialText, PartialThinking, PartialToolCall, ResponseDone
from ..failures import Failure
from .complaints import complaint_in, failure_from
from .responses_answers import responses_answer

_NOTHING: Final[tuple[ModelEvent, ...]] = ()
_THOUGHTS: Final = frozenset({"response.reasoning_summary_text.delta", "response.reasoning_text.delta"})
_LAST: Final = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.cancelled"}
)


class ResponsesAssembly:
    """One streamed answer."""

    def __init__(self, host: str) -> None:
        self.over = False
        self._host = host
        self._items: list[Any] = []
        self._calls: dict[Any, PartialToolCall] = {}
        self._whole: dict[str, Any] = {}

    def feed(self, data: dict[str, Any]) -> Sequence[ModelEvent]:
        """Take an event; those that tell the reader nothing are passed over."""
        kind = data.get("type")
        if kind == "response.output_text.delta":
            return (PartialText(data["delta"]),) if data["delta"] else _NOTHING
        if kind in _THOUGHTS:
            return (PartialThinking(data["delta"]),)
        if kind == "response.function_call_arguments.delta":
            return (self._call(data.get("output_index"), data["delta"]),)
        if kind == "response.output_item.added":
            return self._added(data.get("output_index"), data["item"])
        if kind == "response.output_item.done":
            self._items.append(data["item"])
        elif kind in _LAST:
            self._whole = data["response"]
            self.over = True
        elif complaint := complaint_in(data):
            raise failure_from(complaint)
        return _NOTHING

    def finish(self, *, marked: bool) -> Sequence[ModelEvent]:
        """The whole answer. An end mark alone does not make one: the last event does."""
        if not self.over:
            raise Failure("its stream broke off before the answer was whole", kind=ServerError)
        # Some servers leave the last event's list empty, having told the items one by one.
        whole = self._whole if self._whole.get("output") else {**self._whole, "output": self._items}
        return (ResponseDone(responses_answer(whole, self._host)),)

    def _added(self, index: Any, item: dict[str, Any]) -> Sequence[ModelEvent]:
        if item.get("type") != "function_call":
            return _NOTHING
        call_id = item.get("call_id") or item.get("id")
        self._calls[index] = PartialToolCall(len(self._calls), call_id, item.get("name"), "")
        return (self._calls[index],)

    def _call(self, index: Any, arguments: str) -> PartialToolCall:
        call = self._calls[index]
        return PartialToolCall(call.index, call.id, call.name, arguments)
