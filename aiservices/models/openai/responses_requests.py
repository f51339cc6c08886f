"""Requests in the language of responses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, assert_never

from ...errors import InvalidRequestError
from ...messages import (
    AiMessage,
    ChatMessage,
    ChatRequest,
    ChatRequestParameters,
    CustomMessage,
    SystemMessage,
    ToolChoice,
    ToolResultMessage,
    UserMessage,
)
from ..failures import Failure
from .contents import Part, format_form, responses_content, tool_form
from .dialect import Manner
from .kept import kept
from .responses_answers import KEPT, items_say

# Only these answer `include=["reasoning.encrypted_content"]` with anything but a refusal.
_REASONS: Final = re.compile(r"(.*/)?(o\d|gpt-(oss|[5-9])(?!.*chat))|.*codex")


def responses_body(
    request: ChatRequest, parameters: ChatRequestParameters, *, model_name: str, stream: bool, manner: Manner
) -> dict[str, Any]:
    """The JSON of a request. `parameters.extra` is merged last and wins."""
    if parameters.stop is not None or parameters.seed is not None:
        raise Failure(
            "the Responses API takes neither stop= nor seed=: use api='chat'", kind=InvalidRequestError
        )
    body: dict[str, Any] = {
        "model": model_name,
        "input": [item for message in request.messages for item in _items(message, manner)],
        "store": False,
    }
    _add_tools(body, request)
    if stream:
        body["stream"] = True
    if request.response_format is not None:
        body["text"] = {"format": {"type": "json_schema", **format_form(request.response_format)}}
    if include := _include(model_name, manner):
        body["include"] = include
    body |= _settings(parameters)
    body.update(parameters.extra)
    return body


def _settings(parameters: ChatRequestParameters) -> dict[str, Any]:
    settings = {
        "temperature": parameters.temperature,
        "top_p": parameters.top_p,
        "max_output_tokens": parameters.max_output_tokens,
    }
    return {name: value for name, value in settings.items() if value is not None}


def _add_tools(body: dict[str, Any], request: ChatRequest) -> None:
    if request.tools:
        # Left out, `strict` would be true here, and optional parameters an error.
        body["tools"] = [{"type": "function", "strict": False, **tool_form(spec)} for spec in request.tools]
        if request.tool_choice is not ToolChoice.AUTO:
            body["tool_choice"] = request.tool_choice.value


def _include(model_name: str, manner: Manner) -> list[str]:
    reasons = ["reasoning.encrypted_content"] if _REASONS.match(model_name) else []
    return reasons + (["message.output_text.logprobs"] if manner.logprobs else [])


def _items(message: ChatMessage, manner: Manner) -> Iterator[Part]:
    match message:
        case UserMessage(contents=contents):
            yield {"role": "user", "content": responses_content(contents)}
        case AiMessage():
            yield from _assistant(message, manner)
        case ToolResultMessage(tool_call_id=call_id, contents=contents):
            yield {"type": "function_call_output", "call_id": call_id, "output": responses_content(contents)}
        case SystemMessage(text):
            yield {"role": manner.system_role, "content": text}
        case CustomMessage(attributes):
            yield dict(attributes)
        case _:
            assert_never(message)


def _assistant(message: AiMessage, manner: Manner) -> Iterator[Part]:
    """The very items that the model answered with; rebuilt where the message has been rewritten since."""
    items = kept(message.attributes, KEPT, manner.host)
    if isinstance(items, list) and items_say(items, message):
        yield from items
        return
    if message.text or not message.tool_calls:
        yield {"role": "assistant", "content": message.text or message.refusal or ""}
    for call in message.tool_calls:
        yield {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments or "{}",
        }
