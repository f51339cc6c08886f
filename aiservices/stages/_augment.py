"""Looking up what the user's message is about, before anyone judges or sends it."""

from __future__ import annotations

from typing import Any, assert_never

from ..events import Retrieved
from ..invocation import Invocation, Proceed, changed
from ..messages import AiMessage, ChatResponse, PartialText
from ..rag.augmentor import Retrieval
from ..rag.knowledge import Knowledge
from ..rag.query import Query, QueryContext
from ..reading import AnswerForm
from ..results import Result


async def augment(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Retrieve once, for all requests of the call; answer without the model where that was asked for.

    A message without text is sent as it is, and so is one for which the router chose no retriever.
    """
    augmentor, user = call.setup.augmentor, call.user
    assert augmentor is not None
    if user is None or not user.text.strip():
        return await proceed(call)
    found = await augmentor.retrieval(call.driver, Query(user.text, _context(call)))
    call.journal.sources = found.contents
    if found.asked:
        queries = tuple(query.text for query in found.queries)
        call.notify(Retrieved, queries, found.contents, found.failures)
        await call.flush()
    if found.asked and not found.contents and augmentor.on_empty is not None:
        result = await _without_the_model(augmentor.on_empty, call)
    else:
        result = await proceed(await _augmented(call, found))
    if isinstance(result, Result):  # or another stage's mistake, which is told outside
        result = changed(result, sources=found.contents, retrieval_errors=found.failures)
    return result


def _context(call: Invocation) -> QueryContext:
    context = call.context
    return QueryContext(
        invocation=context,
        messages=call.history,
        system_message=call.system,
        user_message=call.user,
        parameters=context.parameters,
        memory_id=context.memory_id,
    )


async def _augmented(call: Invocation, found: Retrieval) -> Invocation:
    """The call with what was found, and in memory the message with or without it."""
    augmentor, user = call.setup.augmentor, call.user
    assert augmentor is not None
    assert user is not None
    if not found.contents:
        return call
    call = changed(call, knowledge=Knowledge(found.contents, augmentor))
    call.journal.user = await kept(call)
    return call


async def kept(call: Invocation) -> Any:
    """The user's message as memory is to keep it."""
    user = call.user
    return await call.augmented(user) if user is not None and call.setup.store_retrieved_content else user


async def _without_the_model(text: str, call: Invocation) -> Result[Any]:
    """The answer that was set for this: it was checked at `create` that the return type can be read of it."""
    message, answer = AiMessage(text), call.method.answer
    if call.is_streamed:
        await call.show(PartialText(text))
    match answer.form:
        case AnswerForm.RESPONSE:
            return Result(ChatResponse(message), message=message)
        case AnswerForm.NOTHING:
            return Result(None, message=message)
        case AnswerForm.MESSAGE:
            return Result(message, message=message)
        case AnswerForm.VALUE:
            assert answer.parser is not None
            return Result(answer.parser.parse(text), message=message)
        case AnswerForm.IMAGE | AnswerForm.IMAGES:
            raise AssertionError("a text is no image, which is told at `create`")
        case _:
            assert_never(answer.form)
