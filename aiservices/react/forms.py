"""Checkpoints as JSON values and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..errors import StoreError
from ..messages import (
    ChatMessage,
    FrozenMapping,
    TokenUsage,
    ToolResultMessage,
    messages_from_json,
    messages_to_json,
)
from .answers import AnswerType
from .channels import Channels
from .decisions import decision_from_json, decision_to_json
from .records import Checkpoint, Progress, open_calls
from .state import AgentState, StopReason

FORMAT: Final = 1


class CheckpointForm:
    """The form in which checkpoints are stored."""

    def __init__(self, channels: Channels, answers: AnswerType) -> None:
        self._channels = channels
        self._answers = answers

    def written(self, checkpoint: Checkpoint, channels: Mapping[str, Any], kept: int) -> dict[str, Any]:
        """The form of a checkpoint whose channels are JSON values already.

        The first messages, as many as are `kept`, are those of its parent.
        """
        state, progress = checkpoint.state, checkpoint.progress
        usage = progress.usage
        return {
            "format": FORMAT,
            "version": checkpoint.version,
            "node": checkpoint.node,
            "next": checkpoint.next,
            "kept": kept,
            "messages": messages_to_json(state.messages[kept:]),
            "final_response": state.final_response,
            "active_skills": list(state.active_skills),
            "pending": [call.id for call in state.pending],
            "stop_reason": None if state.stop_reason is None else str(state.stop_reason),
            "channels": dict(channels),
            "run_id": progress.run_id,
            "steps": progress.steps,
            "rounds": progress.rounds,
            "counts": dict(progress.counts),
            "usage": [usage.input, usage.output, usage.cached, usage.known],
            "guarded": list(progress.guarded),
            "is_judged": progress.is_judged,
            "decisions": {id: decision_to_json(item) for id, item in progress.decisions.items()},
            "results": messages_to_json(progress.results),
            "skills": None if progress.skills is None else list(progress.skills),
            "forgotten": sorted(progress.forgotten),
        }

    def read(
        self, thread_id: str, key: str, form: Mapping[str, Any], before: Sequence[Mapping[str, Any]]
    ) -> Checkpoint:
        """The checkpoint behind a form, without its place.

        The messages that it has kept are in the forms `before`, in order. Raises `StoreError` for a form
        that this version does not know.
        """
        try:
            if form["format"] != FORMAT:
                raise ValueError(f"its format is {form['format']!r}")
            kept = [message for item in before for message in messages_from_json(item["messages"])]
            if form["kept"] != len(kept):
                raise ValueError(f"it has kept {form['kept']} messages, of which {len(kept)} are there")
            messages = (*kept, *messages_from_json(form["messages"]))
            state, progress = self._state(thread_id, form, messages), _progress(form)
            return Checkpoint(state, form["node"], form["next"], form["version"], progress)
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(
                f"the checkpoint {key!r} of thread {thread_id!r} has a form that this version does not know "
                f"({error}): it was written by another one, or damaged",
                namespace="aiservices.react.checkpoints",
                key=key,
            ) from error

    def _state(
        self, thread_id: str, form: Mapping[str, Any], messages: tuple[ChatMessage, ...]
    ) -> AgentState:
        reason = form["stop_reason"]
        state = AgentState(
            thread_id,
            messages,
            form["final_response"],
            tuple(form["active_skills"]),
            (),
            None if reason is None else StopReason(reason),
            self._channels.typed(form["channels"], thread_id),
        )
        answer = open_calls(state)
        calls = answer.tool_calls if answer is not None else ()
        return state.replace(
            pending=tuple(call for call in calls if call.id in form["pending"]),
            value=self._answers.known(state),
        )


def _progress(form: Mapping[str, Any]) -> Progress:
    *amounts, known = form["usage"]
    return Progress(
        form["run_id"],
        form["steps"],
        form["rounds"],
        FrozenMapping(form["counts"]),
        TokenUsage(*amounts, known=known),
        tuple(form["guarded"]),
        form["is_judged"],
        FrozenMapping({id: decision_from_json(item) for id, item in form["decisions"].items()}),
        _results(form["results"]),
        None if form.get("skills") is None else tuple(form["skills"]),
        frozenset(form.get("forgotten", ())),
    )


def _results(form: Any) -> tuple[ToolResultMessage, ...]:
    messages = messages_from_json(form)
    return tuple(item for item in messages if isinstance(item, ToolResultMessage))
