"""From a `ChatRequest` to the body that the engine is sent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from ...errors import InvalidRequestError
from ...messages import (
    AiMessage,
    ChatMessage,
    ChatRequest,
    ChatRequestParameters,
    Content,
    CustomMessage,
    ResponseFormat,
    SystemMessage,
    TextContent,
    ToolChoice,
    ToolResultMessage,
    UserMessage,
)
from . import tool_calls
from .choosing import SOLVED, YES_OR_NO, Choice
from .schemas import described

Body: TypeAlias = dict[str, Any]

TEXT_TEMPERATURE: Final = 0.2
"""Of free text, unless a request says otherwise: small models lose the thread above it."""
NO_LOOPS: Final = MappingProxyType(
    {"dry_multiplier": 0.8, "dry_base": 1.75, "dry_allowed_length": 6, "dry_penalty_last_n": 64}
)
"""Small models fall into loops: repeating six tokens of the last 64 is made ever less likely."""
LIKELIEST: Final = 500
"""How many tokens are looked at for a label; asking for all of them would take seconds."""


def body_of(request: ChatRequest) -> Body:
    """The body of a request whose answer the model writes: text, JSON that fits a schema, or a call."""
    tools, shape = tool_calls.offered(request), request.response_format
    notes = [tool_calls.told(request)] if tools else []
    if shape is not None:
        notes.append(_shape(shape))
    messages = conversation(request.messages, notes)
    if tools and shape is None:
        _solved_first(messages, tool_calls.SOLVED)
    grammar = tool_calls.grammar_of(request)
    writes_json = shape is not None or (tools and request.tool_choice is ToolChoice.REQUIRED)
    style: Mapping[str, Any] = (
        {"temperature": 0} if writes_json else {"temperature": TEXT_TEMPERATURE, **NO_LOOPS}
    )
    return {
        "messages": messages,
        "max_tokens": tool_calls.most_tokens(request),
        "logprobs": True,
        "top_logprobs": 1,
        **style,
        **({} if grammar is None else {"grammar": grammar}),
        **settings(request.parameters),
    }


def look_of(request: ChatRequest, choice: Choice) -> Body:
    """The body that shows what the model would write next after the beginning of a choice's answer.

    The beginning goes into the last message, which is the assistant's.
    """
    form = request.response_format
    note = YES_OR_NO if choice.is_yes_or_no or form is None else _shape(form)
    messages = conversation(request.messages, [note])
    if choice.is_yes_or_no:
        _solved_first(messages, SOLVED)
    return {
        **request.parameters.extra,
        "messages": messages,
        "temperature": 0,
        "max_tokens": 1,
        "logprobs": True,
        "top_logprobs": LIKELIEST,
    }


def begun(body: Body, text: str) -> Body:
    """The body with the beginning of the assistant's answer."""
    return {**body, "messages": [*body["messages"], _message("assistant", text)]} if text else body


def conversation(messages: Sequence[ChatMessage], notes: Sequence[str] = ()) -> list[Body]:
    """The messages as every chat template takes them: texts of system, user and assistant in turn.

    `notes` go to the end of the system message. Tool results become what a user says, and neighbours of one
    role become one message, as templates know no tools or insist on turns.
    Raises `InvalidRequestError` for media.
    """
    system = [message.text for message in messages if isinstance(message, SystemMessage)]
    made = [_message("system", "\n\n".join([*system, *notes]))] if system or notes else []
    for message in messages:
        for role, text in _said(message):
            if made and made[-1]["role"] == role:
                made[-1] = _message(role, f"{made[-1]['content']}\n\n{text}")
            else:
                made.append(_message(role, text))
    return made


def settings(parameters: ChatRequestParameters) -> Body:
    """The settings by the engine's names; those that are not set are left out."""
    named = {
        "temperature": parameters.temperature,
        "top_p": parameters.top_p,
        "max_tokens": parameters.max_output_tokens,
        "stop": None if parameters.stop is None else list(parameters.stop),
        "seed": parameters.seed,
    }
    return {**{key: value for key, value in named.items() if value is not None}, **parameters.extra}


def _solved_first(messages: list[Body], solved: Sequence[tuple[str, str]]) -> None:
    at = 1 if messages[0]["role"] == "system" else 0
    messages[at:at] = [_message(role, text) for role, text in solved]


def _shape(form: ResponseFormat) -> str:
    schema = json.dumps(described(form.schema), ensure_ascii=False)
    return f"Answer with JSON that fits this schema: {schema}"


def _said(message: ChatMessage) -> Iterator[tuple[str, str]]:
    match message:
        case UserMessage():
            yield "user", _text_of(message.contents)
        case AiMessage():
            yield (
                "assistant",
                "\n".join(filter(None, [message.text, *map(tool_calls.as_text, message.tool_calls)])),
            )
        case ToolResultMessage():
            outcome = "failed" if message.is_error else "gave"
            yield "user", f"The tool {message.tool_name} {outcome}: {_text_of(message.contents)}"
        case CustomMessage():
            yield _custom(message)
        case SystemMessage():
            pass  # stands at the head


def _custom(message: CustomMessage) -> tuple[str, str]:
    role, content = message.attributes.get("role"), message.attributes.get("content")
    if not isinstance(role, str) or not isinstance(content, str):
        raise InvalidRequestError("a CustomMessage for the embedded model has the texts `role` and `content`")
    return role, content


def _text_of(contents: Sequence[Content]) -> str:
    for content in contents:
        if not isinstance(content, TextContent):
            raise InvalidRequestError(
                f"the embedded model reads text only, and was sent a {type(content).__name__}: describe it "
                "in words, or use a model with that capability"
            )
    return "\n".join(content.text for content in contents if isinstance(content, TextContent))


def _message(role: str, text: str) -> Body:
    return {"role": role, "content": text}
