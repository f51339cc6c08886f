"""The type of the final response, where it has one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import outputparsers
from outputparsers import OutputParser, output_parser

from ..assembling import format_for
from ..errors import ConfigurationError, OutputParsingError
from ..messages import ChatResponse, FinishReason, ResponseFormat
from ..models import ChatModel
from .state import AgentState, StopReason

AnswerFormat: TypeAlias = ResponseFormat | OutputParser[Any] | None


def read_format(given: Any) -> AnswerFormat:
    """What `response_format` means. Raises `ConfigurationError` for what is neither a format nor a type."""
    if given is None or isinstance(given, ResponseFormat):
        return given
    if isinstance(given, str | Mapping):
        raise ConfigurationError(
            f"response_format is {given!r}: give a type, or a ResponseFormat(name, schema)"
        )
    try:
        return output_parser(given)
    except (outputparsers.UnsupportedTypeError, TypeError, ValueError, LookupError) as error:
        raise ConfigurationError(f"response_format: {error}") from error


class AnswerType:
    """What `response_format` asks for: a `ResponseFormat` that is sent as it is, or a type to read."""

    def __init__(self, form: AnswerFormat, model: ChatModel, *, has_tools: bool) -> None:
        self._parser: OutputParser[Any] | None = None
        self.format: ResponseFormat | None = None
        self.instructions = ""
        if isinstance(form, ResponseFormat):
            self.format = form
        elif form is not None:
            self._parser = form
            self.format, self.instructions = format_for(form, model, has_tools=has_tools)

    def read(self, text: str) -> Any:
        """The value of a final response; `None` where it is only text. Raises `OutputParsingError`."""
        if self._parser is None:
            return None
        try:
            return self._parser.parse(text)
        except outputparsers.OutputParsingError as error:
            raise OutputParsingError(error.text, error.expected, error.problems, where="react") from error

    def wrong(self, response: ChatResponse) -> outputparsers.OutputParsingError | None:
        """Why a final response cannot be read; `None` where it can, and where asking again would not help."""
        message = response.message
        is_answer = message.text and not message.tool_calls and response.finish_reason is FinishReason.STOP
        if self._parser is None or not is_answer:
            return None
        try:
            self._parser.parse(message.text or "")
        except outputparsers.OutputParsingError as error:
            return error
        return None

    def known(self, state: AgentState) -> Any:
        """The value of a final response that may not fit, as it was stored or as others wrote it."""
        if state.stop_reason is not StopReason.FINAL or state.final_response is None:
            return None
        try:
            return self.read(state.final_response)
        except OutputParsingError:  # the type may be another one by now
            return None
