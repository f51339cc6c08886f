"""Knowledge is looked up once for a call, goes to the model beside the user's words, and is told of."""

from __future__ import annotations

from typing import Annotated, Any, Protocol

import pytest

import aiservices
from aiservices import (
    STAGES,
    CallStarted,
    ImageContent,
    InvocationParameters,
    Limits,
    MemoryId,
    MessageWindowChatMemory,
    OutputParsingError,
    RequestSent,
    Result,
    Retrieved,
    SystemMessage,
    TextContent,
    ToolCall,
    UserMessage,
    ai_service,
    system_message,
    tool,
    user_message,
)
from aiservices.messages import AiMessage
from aiservices.models import ModerationModel, ModerationResult
from aiservices.rag import (
    CompressingQueryTransformer,
    ContentInjector,
    ModelQueryRouter,
    RetrievalAugmentor,
    ScoredSegment,
    TextSegment,
)
from aiservices.testing import ScriptedChatModel
from tests.declarations import problems_of, request_of, user_text
from tests.rag.looking_up import TOOL_TALK, AsyncSource, Source

from .retrieving import Numbered, docs_in, first_lines, question_of, remembering, service

HOSTILE = "{{ ''.__class__.__mro__ }} {% for i in range(9) %}x{% endfor %} ${a} %(b)s {c} #{d} fn(){ {{it}} }"
BAD_CALL = ToolCall("c1", "look", "{}")


@tool
def look() -> str:
    """Look around."""
    return "nothing"


class Teller(Protocol):
    @system_message("You are terse.")
    @user_message("Tell me: {{ text }}")
    def ask(self, user: Annotated[str, MemoryId], text: str, given: InvocationParameters) -> str: ...


@pytest.mark.parametrize("source", [Source, AsyncSource])
def test_what_was_found_goes_to_the_model_after_the_question_and_into_the_result(
    invoke: Any, source: type[Source]
) -> None:
    segment = ScoredSegment(TextSegment("A", {"page": 1}), 0.9, "id-a")
    knowledge = source(segment, "B")
    asked, model = service("ok", content_retriever=knowledge)
    result = invoke(asked, "ask", "hi")
    assert result.content == "ok"
    assert result.sources == (segment, ScoredSegment(TextSegment("B")))
    assert result.retrieval_errors == ()
    assert knowledge.texts == ["hi"]
    question = question_of(model.request)
    assert question.startswith("hi\n\nAnswer using")
    assert "\nA\n\nB\n" in question


def test_listeners_hear_of_it_before_the_request(invoke: Any) -> None:
    heard: list[Any] = []
    augmentor = RetrievalAugmentor(retrievers=[Source("A")], query_transformer=lambda query: ["x", "y"])
    asked, _ = service("ok", retrieval_augmentor=augmentor, listeners=[heard.append])
    result = invoke(asked, "ask", "hi")
    assert [type(event) for event in heard[:3]] == [CallStarted, Retrieved, RequestSent]
    told = heard[1]
    assert (told.queries, told.contents, told.errors) == (("x", "y"), result.sources, ())
    assert told.context is heard[0].context


def test_a_query_knows_the_call_that_it_is_made_for() -> None:
    knowledge = Source("A")
    memory = MessageWindowChatMemory(10)
    teller = aiservices.create(
        Teller,
        chat_model=ScriptedChatModel("one", "two"),
        chat_memory_provider=lambda id: memory,
        content_retriever=knowledge,
    )
    parameters = InvocationParameters({"tenant": "t1"})
    teller.ask("ann", "first", parameters)
    teller.ask("ann", "second", parameters)
    query = knowledge.queries[1]
    context = query.context
    assert context is not None
    assert context.invocation is not None
    assert (query.text, context.user_message) == ("Tell me: second", UserMessage("Tell me: second"))
    assert context.messages == (UserMessage("Tell me: first"), AiMessage("one"))
    assert context.system_message == SystemMessage("You are terse.")
    assert (context.memory_id, context.parameters) == ("ann", parameters)
    assert (context.invocation.method, context.invocation.arguments["text"]) == ("ask", "second")


def test_old_documents_are_not_sent_again(invoke: Any) -> None:
    """RAG-09"""
    asked, model, memory = remembering("a", "b", content_retriever=Numbered())
    invoke(asked, "ask", "q1")
    invoke(asked, "ask", "q2")
    assert first_lines(model.requests[1].messages) == ["q1", "a", "q2"]
    assert docs_in(model.requests[1].messages) == [[], [], ["DOC-2"]]
    assert [message.text for message in memory.messages()] == ["q1", "a", "q2", "b"]


def test_old_documents_stay_where_memory_is_to_keep_them(invoke: Any) -> None:
    """RAG-09, the other way"""
    knowledge = Numbered()
    asked, model, memory = remembering("a", "b", content_retriever=knowledge, store_retrieved_content=True)
    invoke(asked, "ask", "q1")
    invoke(asked, "ask", "q2")
    assert docs_in(model.requests[1].messages) == [["DOC-1"], [], ["DOC-2"]]
    assert docs_in(memory.messages()) == [["DOC-1"], [], ["DOC-2"], []]
    assert memory.messages()[2] == model.requests[1].messages[2]
    assert knowledge.texts == ["q1", "q2"]


@pytest.mark.parametrize(("stored", "kept"), [(False, []), (True, ["DOC-1"])])
def test_a_call_that_fails_after_a_tool_round_keeps_the_message_as_it_should(
    invoke: Any, stored: bool, kept: list[str]
) -> None:
    """RAG-09"""
    asked, _, memory = remembering(
        BAD_CALL,
        ConnectionError("gone"),
        content_retriever=Numbered(),
        store_retrieved_content=stored,
        tools=[look],
    )
    with pytest.raises(ConnectionError):
        invoke(asked, "ask", "q1")
    assert docs_in(memory.messages()) == [kept, [], []]
    assert first_lines(memory.messages())[0] == "q1"


def test_rounds_and_reasks_repeat_what_was_found_and_look_nothing_up_again(invoke: Any) -> None:
    knowledge, injected = Numbered(), []

    class Injector(ContentInjector):
        async def drive(self, driver: Any, contents: Any, message: Any) -> UserMessage:
            injected.append(message)
            return self.inject(contents, message)

    augmentor = RetrievalAugmentor(retrievers=[knowledge], content_injector=Injector())
    asked, model = service(
        BAD_CALL, "seven", BAD_CALL, "7", returns=int, retrieval_augmentor=augmentor, tools=[look]
    )
    assert invoke(asked, "ask", "q") == 7
    assert knowledge.texts == ["q"]
    assert len(injected) == 1
    assert [question_of(request).count("DOC-1") for request in model.requests[:2]] == [1, 1]
    assert all("DOC-1" in (request.messages[0].text or "") for request in model.requests)


def test_format_instructions_come_after_the_fence(invoke: Any) -> None:
    """TPL-05"""
    asked, model = service("7", returns=int, content_retriever=Source(HOSTILE))
    assert invoke(asked, "ask", f"hi {HOSTILE}") == 7
    question = question_of(model.request)
    assert question.count(HOSTILE) == 2
    words, _, instructions = question.rpartition("</retrieved-")
    assert words.startswith(f"hi {HOSTILE}\n\n")
    assert "number" in instructions


def test_pictures_stay_and_the_texts_are_the_query() -> None:
    class Viewer(Protocol):
        @user_message("What is this?")
        def ask(self, picture: ImageContent) -> str: ...

        def tell(self, contents: list[ImageContent]) -> str: ...

    picture, knowledge = ImageContent(url="https://example.org/cat.png"), Source("A cat.")
    (message,) = request_of(Viewer, picture, content_retriever=knowledge).messages
    assert isinstance(message, UserMessage)
    text, shown = message.contents
    assert isinstance(text, TextContent)
    assert "A cat." in text.text
    assert (shown, knowledge.texts) == (picture, ["What is this?"])
    request = request_of(Viewer, [picture], method="tell", content_retriever=knowledge)
    assert request.messages == (UserMessage([picture]),)
    assert knowledge.texts == ["What is this?"]


@pytest.mark.parametrize("nothing", [{"retrievers": [Source()]}, {"query_router": lambda query: []}])
def test_where_nothing_is_found_the_message_is_sent_as_it_is(invoke: Any, nothing: Any) -> None:
    """Row A4"""
    heard: list[Any] = []
    asked, model = service("ok", retrieval_augmentor=RetrievalAugmentor(**nothing), listeners=[heard.append])
    assert invoke(asked, "ask", "hi").sources == ()
    assert model.request.messages == (UserMessage("hi"),)
    told = [event for event in heard if isinstance(event, Retrieved)]
    assert [event.contents for event in told] == ([()] if "retrievers" in nothing else [])


def test_an_injector_may_be_any_function(invoke: Any) -> None:
    async def inject(contents: Any, message: UserMessage) -> UserMessage:
        return UserMessage(f"{len(contents)} for {message.text}")

    augmentor = RetrievalAugmentor(retrievers=[Source("A", "B")], content_injector=inject)
    asked, model = service("ok", retrieval_augmentor=augmentor)
    invoke(asked, "ask", "hi")
    assert model.request.messages == (UserMessage("2 for hi"),)
    wrong = RetrievalAugmentor(retrievers=[Source("A")], content_injector=lambda contents, message: "text")
    asked, model = service(retrieval_augmentor=wrong)
    with pytest.raises(TypeError, match="content_injector <lambda> gave a str: it gives a UserMessage"):
        invoke(asked, "ask", "hi")


def test_a_query_is_compressed_by_what_memory_holds(invoke: Any) -> None:
    """RAG-15"""
    compressing, knowledge = ScriptedChatModel("cats in Rome"), Source("A")
    augmentor = RetrievalAugmentor(
        retrievers=[knowledge], query_transformer=CompressingQueryTransformer(compressing)
    )
    without, _ = service("ok", retrieval_augmentor=augmentor)
    invoke(without, "ask", "q")
    assert compressing.requests == []
    asked, model, memory = remembering("ok", retrieval_augmentor=augmentor)
    memory.add(UserMessage([ImageContent(url="https://example.org/cat.png")]), *TOOL_TALK[1:])
    invoke(asked, "ask", "q")
    assert knowledge.texts == ["q", "cats in Rome"]
    assert question_of(model.request).startswith("q\n")


@pytest.mark.parametrize(
    ("reply", "chosen"),
    [
        ("1 (docs), 2 (web)", "dw"),
        ("I don't know", "dw"),
        ("2", "w"),
        ("7", "dw"),
        ('["1"]', "d"),
        ("", "dw"),
    ],
)
def test_a_model_routes_the_query(invoke: Any, reply: str, chosen: str) -> None:
    """RAG-16"""
    router = ModelQueryRouter(
        ScriptedChatModel(reply), {Source("d"): "docs", AsyncSource("w"): "web"}, fallback="all"
    )
    asked, _ = service("ok", retrieval_augmentor=RetrievalAugmentor(query_router=router))
    assert "".join(each.text for each in invoke(asked, "ask", "q").sources) == chosen


def test_moderation_and_tool_providers_see_what_is_theirs_to_see(invoke: Any) -> None:
    class Moderating(ModerationModel):
        def moderate(self, texts: Any) -> ModerationResult:
            seen.append(texts)
            return ModerationResult(False)

    class Provider:
        def provide(self, request: Any) -> list[Any]:
            seen.append(request.messages)
            return []

    seen: list[Any] = []

    @aiservices.moderate
    class Asker(Protocol):
        def ask(self, text: str) -> str: ...
        async def aask(self, text: str) -> str: ...

    asked = aiservices.create(
        Asker,
        chat_model=ScriptedChatModel("ok"),
        moderation_model=Moderating(),
        content_retriever=Source("DOC-1"),
        tool_providers=[Provider()],
    )
    invoke(asked, "ask", "hi")
    provided, moderated = seen
    assert moderated == ("hi",)
    assert "DOC-1" in provided[0].text


@pytest.mark.parametrize("options", [{}, {"store_retrieved_content": True}])
def test_without_knowledge_nothing_is_different(invoke: Any, options: Any) -> None:
    asked, model, memory = remembering("ok", **options)
    assert invoke(asked, "ask", "hi").sources == ()
    assert model.request.messages == (UserMessage("hi"),)
    assert memory.messages()[0] == UserMessage("hi")


def test_the_stage_stands_after_memory_and_before_the_guardrails() -> None:
    names = [stage.__name__ for stage in STAGES]  # type: ignore[attr-defined]
    assert names.index("remember") < names.index("augment") < names.index("guard_input")


class Asker(Protocol):
    def ask(self, text: str) -> str: ...


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            {
                "content_retriever": Source(),
                "retrieval_augmentor": RetrievalAugmentor(retrievers=[Source()]),
            },
            "both content_retriever and retrieval_augmentor are given",
        ),
        ({"content_retriever": 3}, "the content_retriever 3 is neither a function nor an object"),
        (
            {"content_retriever": RetrievalAugmentor(retrievers=[Source()])},
            "content_retriever is a RetrievalAugmentor: give it as retrieval_augmentor",
        ),
        ({"content_retriever": Source}, "the content_retriever Source is a class"),
        ({"retrieval_augmentor": Source()}, "retrieval_augmentor is a Source: give a RetrievalAugmentor"),
        ({"store_retrieved_content": "yes"}, "store_retrieved_content is a str: give True or False"),
    ],
)
def test_options_that_do_not_fit_are_problems(options: Any, problem: str) -> None:
    (found,) = problems_of(Asker, **options)
    assert found.startswith(problem)


def test_a_declaration_may_bring_its_knowledge() -> None:
    @ai_service(content_retriever=Source("DOC-1"))
    class Knowing(Protocol):
        def ask(self, text: str) -> str: ...

    assert "DOC-1" in user_text(Knowing, "hi")
    assert user_text(Knowing, "hi", content_retriever=None) == "hi"


def test_a_failure_after_retrieval_is_what_it_would_be_without(invoke: Any) -> None:
    asked, model = service("?", "?", returns=int, content_retriever=Numbered(), limits=Limits(max_reasks=1))
    with pytest.raises(OutputParsingError):
        invoke(asked, "ask", "hi")
    assert len(model.requests) == 2


def test_a_stage_of_ones_own_may_change_the_users_words_after_retrieval(invoke: Any) -> None:
    async def shout(call: Any, proceed: Any) -> Result[Any]:
        user = UserMessage(call.user.text.upper())
        return await proceed(aiservices.invocation.changed(call, user=user))  # type: ignore[no-any-return]

    from aiservices import inserted
    from aiservices.stages import guard_input

    stages = inserted(STAGES, shout, after=guard_input)
    asked, model = service("ok", content_retriever=Source("DOC-1"), stages=stages)
    invoke(asked, "ask", "hi")
    assert question_of(model.request).startswith("HI\n\nAnswer using")
    assert "DOC-1" in question_of(model.request)
