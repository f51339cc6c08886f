"""Requests for the embedded model, in short."""

from typing import Any

from aiservices.messages import ChatRequest, ChatRequestParameters, ResponseFormat, UserMessage


def say(text: str = "Say hello.", tokens: int = 4, **settings: Any) -> ChatRequest:
    """A request for a few tokens of text."""
    parameters = ChatRequestParameters(max_output_tokens=tokens, **settings)
    return ChatRequest([UserMessage(text)], parameters=parameters)


def endless(**settings: Any) -> ChatRequest:
    """A request whose answer would take a minute."""
    return say("Count from one to ten thousand.", 1500, extra={"ignore_eos": True}, **settings)


def fields(**properties: Any) -> dict[str, Any]:
    """The schema of an object."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def fill(text: str, schema: dict[str, Any], **more: Any) -> ChatRequest:
    """A request for JSON."""
    return ChatRequest([UserMessage(text)], response_format=ResponseFormat("answer", schema), **more)
