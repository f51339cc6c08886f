"""Requests in the language of chat completions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, assert_never

from ...messages import (
    AiMessage,
    ChatMessage,
    ChatRequest,
    ChatRequestParameters,
    CustomMessage,
    SystemMessage,
    TextContent,
    ToolCall,
    ToolChoice,
    ToolResultMessage,
    UserMessage,
)
from .contents import Part, chat_content, chat_part, format_form, tool_form
from .dialect import Manner
from .kept import kept

KEPT: Final = "openai_chat"
# Told with an answer, but not part of what a request may say.
_NOT_SENT: Final = frozenset({"annotations"})


def chat_body(
    request: ChatRequest, parameters: ChatRequestParameters, *, model_name: str, stream: bool, manner: Manner
) -> dict[str, Any]:
    """The JSON of a request. `parameters.extra` is merged last and wins."""
    body: dict[str, Any] = {"model": model_name, "messages": _messages(request.messages, manner)}
    if request.tools:
        body["tools"] = [{"type": "function", "function": tool_form(spec)} for spec in request.tools]
        if request.tool_choice is not ToolChoice.AUTO:
            body["tool_choice"] = request.tool_choice.value
    if request.response_format is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": format_form(request.response_format)}
    body |= _settings(parameters, manner)
    if manner.logprobs:
        body["logprobs"] = True
    if stream:
        body["stream"] = True
        body["stream_options"] = {"include_usage": True}
    body.update(parameters.extra)
    return body


def _settings(parameters: ChatRequestParameters, manner: Manner) -> dict[str, Any]:
    settings = {
        "temperature": parameters.temperature,
        "top_p": parameters.top_p,
        manner.max_tokens_field: parameters.max_output_tokens,
        "stop": parameters.stop,
        "seed": parameters.seed,
    }
    return {name: value for name, value in settings.items() if value is not None}


def _messages(messages: Sequence[ChatMessage], manner: Manner) -> list[Part]:
    said: list[Part] = []
    media: list[Part] = []
    for message in messages:
        if media and not isinstance(message, ToolResultMessage):
            said.append({"role": "user", "content": media})
            media = []
        match message:
            case UserMessage():
                said.append(_user(message))
            case AiMessage():
                said.append(_assistant(message, manner))
            case ToolResultMessage():
                said.append(_tool_result(message))
                media += _media_of(message)
            case SystemMessage(text):
                said.append({"role": manner.system_role, "content": text})
            case CustomMessage(attributes):
                said.append(dict(attributes))
            case _:
                assert_never(message)
    if media:
        said.append({"role": "user", "content": media})
    return said


def _user(message: UserMessage) -> Part:
    said: Part = {"role": "user", "content": chat_content(message.contents)}
    if message.name is not None:
        said["name"] = message.name
    return said


def _assistant(message: AiMessage, manner: Manner) -> Part:
    said: Part = {"role": "assistant", "content": message.text}
    if message.tool_calls:
        said["tool_calls"] = [_tool_call(call, manner) for call in message.tool_calls]
    elif message.text is None and message.refusal is None:
        said["content"] = ""  # a message without anything is refused
    if message.attributes:
        if message.refusal is not None:
            said["refusal"] = message.refusal
        said |= _told_before(kept(message.attributes, KEPT, manner.host))
    if manner.send_thinking and message.thinking:
        said["reasoning_content"] = message.thinking
    return said


def _told_before(told: Any) -> Part:
    if not isinstance(told, dict):
        return {}
    back = {name: value for name, value in told.items() if name not in _NOT_SENT}
    if isinstance(audio := back.get("audio"), dict):
        back["audio"] = {"id": audio.get("id")}  # the sound itself is not taken back
    return back


def _tool_call(call: ToolCall, manner: Manner) -> Part:
    function = {"name": call.name, "arguments": call.arguments or "{}"}
    said: Part = {"id": call.id, "type": "function", "function": function}
    told = kept(call.attributes, KEPT, manner.host)
    return said | told if isinstance(told, dict) else said


def _tool_result(message: ToolResultMessage) -> Part:
    text = message.text
    if not text and message.contents:
        text = "The result follows in the next user message."
    return {"role": "tool", "tool_call_id": message.tool_call_id, "content": text}


def _media_of(message: ToolResultMessage) -> Iterable[Part]:
    """What only a user may show: it follows the results of the whole round, in a message of its own."""
    parts = [chat_part(content) for content in message.contents if not isinstance(content, TextContent)]
    if parts:
        yield {"type": "text", "text": f"From the tool {message.tool_name} (call {message.tool_call_id}):"}
        yield from parts
