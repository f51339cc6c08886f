"""From the arguments of a method to the pipeline and back."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from .context import NO_PARAMETERS, InvocationContext, InvocationParameters
from .driving import ASYNCHRONOUS, BLOCKING, Driver
from .invocation import Invocation, Journal, Proceed, Setup
from .memory import key_of
from .messages import ChatRequestParameters
from .reading import Delivery, MethodSpec
from .streaming import streamed
from .streams import Outcome, Told

T = TypeVar("T")


def invoker(setup: Setup, chain: Proceed) -> Callable[[dict[str, Any]], Any]:
    """What a method does with its arguments, by name: a function, or a coroutine function."""
    if setup.method.answer.delivery is not Delivery.WHOLE:
        return partial(_stream, setup, chain)
    return partial(_acall if setup.method.asynchronous else _call, setup, chain)


def _call(setup: Setup, chain: Proceed, arguments: dict[str, Any]) -> Any:
    result = BLOCKING.run(chain(_begin(setup, arguments, BLOCKING)))
    return result if setup.method.answer.wrapped else result.content


async def _acall(setup: Setup, chain: Proceed, arguments: dict[str, Any]) -> Any:
    result = await ASYNCHRONOUS.run(chain(_begin(setup, arguments, ASYNCHRONOUS)))
    return result if setup.method.answer.wrapped else result.content


def _stream(setup: Setup, chain: Proceed, arguments: dict[str, Any]) -> Any:
    return streamed(setup.method, partial(_streaming, setup, chain, arguments))


async def _streaming(
    setup: Setup, chain: Proceed, arguments: dict[str, Any], driver: Driver, outcome: Outcome[Any]
) -> None:
    """The call behind a stream: it begins with the first step, and its reader hears of its end."""
    try:
        call = _begin(setup, arguments, driver)
        call.journal.outbox = Told()
        try:
            outcome.result = await chain(call)
        finally:
            await call.flush()
    except Exception as error:  # one that was cancelled has neither result nor error
        outcome.error = error
        raise
    finally:
        del outcome  # the error's traceback holds this frame: break the cycle


def _begin(setup: Setup, arguments: dict[str, Any], driver: Driver) -> Invocation:
    method, parameters = setup.method, setup.parameters
    given = NO_PARAMETERS
    if method.invocation_parameters is not None:
        given = _checked(method, method.invocation_parameters, arguments, InvocationParameters)
    if method.request_parameters is not None:
        parameters |= _checked(method, method.request_parameters, arguments, ChatRequestParameters)
    memory_id = None
    if method.memory_id is not None:
        memory_id = arguments[method.memory_id]
        key_of(memory_id)  # refuses what is no id before anything is done
    context = InvocationContext(
        os.urandom(16).hex(),
        method.service,
        method.name,
        datetime.now().astimezone(),
        arguments,
        given,
        memory_id,
    )
    timeout = setup.limits.timeout
    deadline = None if timeout is None else time.monotonic() + timeout
    return Invocation(setup, driver, context, arguments, parameters, Journal(), deadline=deadline)


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
