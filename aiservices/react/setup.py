"""Everything about an executor that was decided when it was built."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..messages import ChatMessage, SystemMessage, ToolCall
from ..models import ChatModel
from ..skills import SkillShelf
from ..tools import Assortment, Limits, Toolbox
from .answers import AnswerType
from .channels import Channels
from .records import Threads
from .state import AgentState

Approval: TypeAlias = bool | Callable[[ToolCall, AgentState], Any]
"""Whether a call waits for a decision: always, or as a function of call and state says, sync or async."""
ConversationPolicy: TypeAlias = Callable[
    [Sequence[ChatMessage], AgentState], Iterable[ChatMessage] | Awaitable[Iterable[ChatMessage]]
]
"""What a request holds of the conversation, as a function of messages and state says, sync or async."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The parts of an executor. `max_steps` is how often one run asks the model, `None` without bound."""

    name: str
    model: ChatModel
    system: SystemMessage | None
    assortment: Assortment
    toolbox: Toolbox
    max_steps: int | None
    agent_hooks: tuple[Any, ...]
    action_hooks: tuple[Any, ...]
    policy: Any
    approvals: Mapping[str, Approval]
    shelf: SkillShelf
    unlocked: SkillShelf
    answers: AnswerType
    channels: Channels
    threads: Threads
    release_thread: bool

    @property
    def limits(self) -> Limits:
        return self.toolbox.limits
