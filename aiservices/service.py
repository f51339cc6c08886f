"""From a Protocol to an object that answers."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import partial
from typing import Any, TypedDict, TypeVar, cast, get_origin, overload

from typing_extensions import TypeForm, Unpack

from .context import NO_PARAMETERS, InvocationContext, InvocationParameters
from .declaring import declare, declared_on
from .driving import ASYNCHRONOUS, BLOCKING, Driver
from .errors import ConfigurationError
from .events import Listener, hearing
from .invocation import Invocation, Journal, Setup, Stage
from .messages import DEFAULT_PARAMETERS, ChatRequest, ChatRequestParameters, ResponseFormat
from .models import Capability, ChatModel, resolve_chat_model
from .pipeline import STAGES, compose
from .proxying import make_proxy
from .reading import MethodSpec, read_service

T = TypeVar("T")
MessageOption = str | Callable[[InvocationContext], Any] | None
SystemTransformer = Callable[[str | None, InvocationContext], Any]
RequestTransformer = Callable[[ChatRequest, InvocationContext], Any]


class Options(TypedDict, total=False):
    """The options of a service beside its model; `AiServices` says what each means."""

    system_message: MessageOption
    user_message: MessageOption
    system_message_transformer: SystemTransformer | None
    chat_request_transformer: RequestTransformer | None
    parameters: ChatRequestParameters
    parse_retries: int
    stages: Sequence[Stage]
    listeners: Sequence[Listener]


@dataclass(frozen=True, slots=True, kw_only=True)
class AiServices:
    """A configuration from which any number of services can be created.

    - `chat_model`: a `ChatModel`, or a name such as `openai:gpt-5-mini` or `local`.
    - `system_message`, `user_message`: for methods that declare none; template text, or a sync or async
      callable of the `InvocationContext` whose text is used as it is.
    - `system_message_transformer`: a callable of the rendered system text (`None` when there is none) and
      the context; gives the text to send, or `None` for none.
    - `chat_request_transformer`: a callable of each request and the context; gives the request to send.
    - `parameters`: settings of each request; a `ChatRequestParameters` argument of a method wins over them.
    - `parse_retries`: how often an answer that does not fit the return type is asked for again; 1.
    - `stages`: the pipeline, `aiservices.pipeline.STAGES` by default.
    - `listeners`: callables of one event, or objects with `on_event`.
    """

    chat_model: ChatModel | str | None = None
    system_message: MessageOption = None
    user_message: MessageOption = None
    system_message_transformer: SystemTransformer | None = None
    chat_request_transformer: RequestTransformer | None = None
    parameters: ChatRequestParameters = DEFAULT_PARAMETERS
    parse_retries: int = 1
    stages: Sequence[Stage] = STAGES
    listeners: Sequence[Listener] = ()

    def replace(self, **changes: Any) -> AiServices:
        """The same configuration with other values. Raises `ConfigurationError` for an unknown option."""
        _refuse_unknown(changes)
        return replace(self, **changes)

    def create(self, service: TypeForm[T]) -> T:
        """Make a service of a Protocol. Raises `ConfigurationError` with every mistake of its declaration."""
        return cast("T", _create(self, service, sys._getframe(1)))


def create(
    service: TypeForm[T], *, chat_model: ChatModel | str | None = None, **options: Unpack[Options]
) -> T:
    """Make a service of a Protocol: an object whose methods ask the model.

    `chat_model` and the `options` are those of `AiServices`; what `@ai_service` declared is their default.
    Raises `ConfigurationError` with every mistake of the declaration and of the options.
    """
    given: dict[str, Any] = {**declared_on(get_origin(service) or service).options, **options}
    if chat_model is not None:
        given["chat_model"] = chat_model
    _refuse_unknown(given)
    return cast("T", _create(AiServices(**given), service, sys._getframe(1)))


@overload
def ai_service(service: type[T], /) -> type[T]: ...
@overload
def ai_service(
    *, name: str | None = None, chat_model: ChatModel | str | None = None, **options: Unpack[Options]
) -> Callable[[type[T]], type[T]]: ...
def ai_service(
    service: type[Any] | None = None,
    /,
    *,
    name: str | None = None,
    chat_model: ChatModel | str | None = None,
    **options: Unpack[Options],
) -> Any:
    """Mark a Protocol as a service and check its declaration right where it stands.

    Names in annotations that do not exist yet are left for `create`. The options become the defaults of
    `create`; `name` is what the service is called in events and errors. Raises `ConfigurationError`.
    """
    given: dict[str, Any] = dict(options)
    if chat_model is not None:
        given["chat_model"] = chat_model
    _refuse_unknown(given)
    frame = sys._getframe(1)

    def mark(protocol: type[T]) -> type[T]:
        declare(protocol, service_name=name, options=given)
        read_service(
            protocol,
            system=given.get("system_message"),
            user=given.get("user_message"),
            names=frame.f_locals,
            final=False,
        )
        return protocol

    return mark if service is None else mark(service)


def _create(config: AiServices, service: Any, frame: Any) -> Any:
    problems = _option_problems(config)
    if problems:
        raise ConfigurationError(problems)
    spec = read_service(service, system=config.system_message, user=config.user_message, names=frame.f_locals)
    model = resolve_chat_model(config.chat_model or "")
    invokers = {method.name: _invoker(_setup(method, model, config)) for method in spec.methods}
    return make_proxy(spec, invokers)


def _refuse_unknown(options: Mapping[str, Any]) -> None:
    known = {item.name for item in fields(AiServices)}
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ConfigurationError(
            f"unknown option {name!r}: known are {', '.join(sorted(known))}" for name in unknown
        )


def _option_problems(config: AiServices) -> list[str]:
    problems = []
    if config.chat_model is None:
        problems.append("no chat_model: give a ChatModel or a name such as 'openai:gpt-5-mini' or 'local'")
    if (
        isinstance(config.parse_retries, bool)
        or not isinstance(config.parse_retries, int)
        or config.parse_retries < 0
    ):
        problems.append(f"parse_retries is {config.parse_retries!r}: give 0 or more")
    for listener in config.listeners:
        try:
            hearing(listener)
        except TypeError as error:
            problems.append(str(error))
    return problems


def _setup(method: MethodSpec, model: ChatModel, config: AiServices) -> Setup:
    parser = method.answer.parser
    schema = parser.json_schema() if parser is not None else None
    response_format, instructions = None, ""
    if parser is not None and schema is not None and Capability.JSON_SCHEMA in model.capabilities:
        response_format = ResponseFormat(parser.schema_name, schema, parser.strict)
    elif parser is not None:
        instructions = parser.format_instructions()
    return Setup(
        method=method,
        model=model,
        chain=compose(config.stages),
        parameters=config.parameters,
        response_format=response_format,
        instructions=instructions,
        parse_retries=config.parse_retries,
        system_message_transformer=config.system_message_transformer,
        chat_request_transformer=config.chat_request_transformer,
        listeners=tuple(hearing(listener) for listener in config.listeners),
    )


def _invoker(setup: Setup) -> Callable[[dict[str, Any]], Any]:
    return partial(_acall if setup.method.asynchronous else _call, setup)


def _call(setup: Setup, arguments: dict[str, Any]) -> Any:
    result = BLOCKING.run(setup.chain(_begin(setup, arguments, BLOCKING)))
    return result if setup.method.answer.wrapped else result.content


async def _acall(setup: Setup, arguments: dict[str, Any]) -> Any:
    result = await ASYNCHRONOUS.run(setup.chain(_begin(setup, arguments, ASYNCHRONOUS)))
    return result if setup.method.answer.wrapped else result.content


def _begin(setup: Setup, arguments: dict[str, Any], driver: Driver) -> Invocation:
    method, parameters = setup.method, setup.parameters
    given = NO_PARAMETERS
    if method.invocation_parameters is not None:
        given = _checked(method, method.invocation_parameters, arguments, InvocationParameters)
    if method.request_parameters is not None:
        parameters |= _checked(method, method.request_parameters, arguments, ChatRequestParameters)
    context = InvocationContext(
        uuid.uuid4().hex, method.service, method.name, datetime.now().astimezone(), arguments, given
    )
    return Invocation(setup, driver, context, arguments, parameters, Journal())


def _checked(method: MethodSpec, name: str, arguments: Mapping[str, Any], kind: type[T]) -> T:
    value = arguments[name]
    default = method.signature.parameters[name].default
    if value is None and default is None:
        return kind()
    if not isinstance(value, kind):
        raise TypeError(
            f"{method.where}: the argument {name!r} is a {type(value).__name__}, not {kind.__name__}"
        )
    return value
