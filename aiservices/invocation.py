"""What travels through the pipeline: the invocation on the way down, the result on the way up."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import outputparsers
from guardrails import DEFAULT_CONFIG, Failure, Link, OutputGuardrailsConfig

from .context import InvocationContext
from .driving import Driver, Emit
from .events import AskedAgain, Event, Restarted, notify
from .memory import ChatMemory
from .messages import (
    NO_USAGE,
    ChatMessage,
    ChatRequest,
    ChatRequestParameters,
    ChatResponse,
    ModelEvent,
    PartialText,
    ResponseFormat,
    SystemMessage,
    TextContent,
    TokenUsage,
    ToolSpec,
    UserMessage,
)
from .models import ChatModel
from .models.moderation import ModerationModel
from .rag.augmentor import RetrievalAugmentor
from .rag.knowledge import Knowledge
from .reading import MethodSpec
from .results import Result
from .segments import ScoredSegment
from .skills import SkillShelf
from .stores import Store
from .streams import Told
from .tools import (
    DEFAULT_TOOLBOX,
    Assortment,
    CompensationLog,
    CompensationMode,
    Ledger,
    Limits,
    Toolbox,
    check_reasks,
)

T = TypeVar("T")
MAX_CORRECTION_CHARS: Final = 2_000
Proceed: TypeAlias = Callable[["Invocation"], Coroutine[Any, Any, Result[Any]]]


class Stage(Protocol):
    """A concern of a call: it meets the invocation on the way down and the result on the way up.

    It calls `proceed` once, again with other messages, or never.
    """

    def __call__(self, call: Invocation, proceed: Proceed, /) -> Coroutine[Any, Any, Result[Any]]: ...


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything about a method that was decided when its service was created."""

    method: MethodSpec
    model: ChatModel
    parameters: ChatRequestParameters
    assortment: Assortment
    skills: SkillShelf = field(default_factory=SkillShelf)
    response_format: ResponseFormat | None = None
    instructions: str = ""
    parse_retries: int = 1
    system_message_transformer: Callable[..., Any] | None = None
    chat_request_transformer: Callable[..., Any] | None = None
    listeners: tuple[Callable[[Event], object], ...] = ()
    toolbox: Toolbox = DEFAULT_TOOLBOX
    compensation: CompensationMode = CompensationMode.OFF
    compensation_log: Store | None = None
    recall: Callable[[Any], ChatMemory] | None = None
    remember_raw: bool = False
    input_chain: tuple[Link[Any], ...] = ()
    output_chain: tuple[Link[Any], ...] = ()
    output_config: OutputGuardrailsConfig = DEFAULT_CONFIG
    moderation_model: ModerationModel | None = None
    augmentor: RetrievalAugmentor | None = None
    store_retrieved_content: bool = False

    @property
    def limits(self) -> Limits:
        return self.toolbox.limits


class Journal:
    """What one call has done so far, for its result and for the error that may end it."""

    __slots__ = (
        "findings",
        "ledger",
        "log",
        "outbox",
        "reasks",
        "responses",
        "said",
        "shown",
        "sources",
        "user",
    )

    def __init__(self) -> None:
        self.responses: list[ChatResponse] = []
        self.ledger = Ledger()
        self.log: CompensationLog | None = None
        self.reasks: list[str] = []
        self.findings: list[Failure] = []
        self.sources: tuple[ScoredSegment, ...] = ()
        self.user: UserMessage | None = None
        self.outbox: Told | None = None
        self.shown = False
        self.said: list[str] = []  # of an answer that is not whole yet

    @property
    def text(self) -> str | None:
        """What the model has said last, as far as it came."""
        if self.said:
            return "".join(self.said)
        return self.responses[-1].text if self.responses else None

    @property
    def usage(self) -> TokenUsage:
        """The tokens of all requests of the call."""
        responses = self.responses
        if len(responses) == 1:
            return responses[0].usage
        return sum((response.usage for response in responses), NO_USAGE)


@dataclass(frozen=True)  # without slots, for `changed`
class Invocation:
    """A call on its way to the model.

    The user's own contents, the `knowledge` that was retrieved and the format instructions stay apart until
    the request is made, so that a stage can replace one and leave the others. `gated` calls show a stream's
    reader nothing of the answer before it was judged. `history` is what was said before the user message,
    `exchange` what was said after it.
    """

    setup: Setup
    driver: Driver
    context: InvocationContext
    arguments: Mapping[str, Any]
    parameters: ChatRequestParameters
    journal: Journal
    system: SystemMessage | None = None
    user: UserMessage | None = None
    knowledge: Knowledge | None = None
    instructions: str = ""
    response_format: ResponseFormat | None = None
    history: tuple[ChatMessage, ...] = ()
    exchange: tuple[ChatMessage, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    deadline: float | None = None
    gated: bool = False

    @property
    def method(self) -> MethodSpec:
        return self.setup.method

    def notify(self, event: Callable[..., Event], *details: Any) -> None:
        """Tell the listeners, and the reader of a stream, of an event; it is made when there are any."""
        listeners, outbox = self.setup.listeners, self.journal.outbox
        if listeners or outbox is not None:
            told = event(self.context, *details)
            notify(listeners, told)
            if outbox is not None:
                outbox.append(told)

    @property
    def is_streamed(self) -> bool:
        """Whether somebody reads what happens while it happens."""
        return self.journal.outbox is not None

    async def flush(self) -> None:
        """Hand what was told since to the reader of the stream."""
        outbox = self.journal.outbox
        if outbox:
            await Emit(outbox)

    async def show(self, event: ModelEvent) -> None:
        """Hand a piece of the answer to the reader of the stream, unless it has to be judged first."""
        if type(event) is PartialText:
            self.journal.said.append(event.text)
        if not self.gated:
            self.journal.shown = True
            await Emit(event)

    def asking_again(
        self, exchange: tuple[ChatMessage, ...], *messages: ChatMessage, reason: str
    ) -> Invocation:
        """The same invocation after what was said so far, and with what is said about the answer.

        Raises `LimitExceededError` when it was asked again too often.
        """
        journal = self.journal
        check_reasks(self.setup.limits, len(journal.reasks))
        journal.reasks.append(reason)
        self.notify(AskedAgain, reason, len(journal.reasks))
        if journal.shown:
            journal.shown = False
            self.notify(Restarted)
        return changed(self, exchange=(*exchange, *messages))

    async def augmented(self, user: UserMessage) -> UserMessage:
        """A message of the user with what was retrieved, as the model will get it."""
        return user if self.knowledge is None else await self.knowledge.joined(self.driver, user)

    async def request(self) -> ChatRequest:
        """The request as the model will get it."""
        messages: list[ChatMessage] = [self.system] if self.system is not None else []
        messages.extend(self.history)
        if self.user is not None:
            messages.append(with_instructions(await self.augmented(self.user), self.instructions))
        messages.extend(self.exchange)
        return ChatRequest(
            tuple(messages), self.tools, response_format=self.response_format, parameters=self.parameters
        )


def changed(value: T, /, **changes: Any) -> T:
    """A copy with other values, quicker than `dataclasses.replace`, of what is copied at every step.

    Its class has no `__post_init__`, and no slots: a dictionary is copied at once.
    """
    copy = object.__new__(type(value))
    copy.__dict__.update(value.__dict__, **changes)
    return copy


def with_instructions(user: UserMessage, instructions: str) -> UserMessage:
    """The user message with the instructions at the end of its last text: mixed contents keep their order."""
    if not instructions:
        return user
    contents = list(user.contents)
    for index in reversed(range(len(contents))):
        content = contents[index]
        if isinstance(content, TextContent):
            contents[index] = TextContent(f"{content.text}\n{instructions}")
            break
    else:
        contents.append(TextContent(instructions))
    return replace(user, contents=tuple(contents))


def correction_of(error: outputparsers.OutputParsingError) -> str:
    """What the model is told of an answer that could not be read."""
    wrong = cut(str(error), MAX_CORRECTION_CHARS)
    return f"Your answer could not be used. {wrong}\nAnswer again, with the corrected answer only."


def cut(text: str, limit: int) -> str:
    """The text, or its beginning."""
    return text if len(text) <= limit else f"{text[:limit]}..."
