"""Every failure is an error of ours that says what happened, where, and what to do, and shows no secret."""

import logging
import socket
import time
import traceback
from collections.abc import Iterator
from email.utils import formatdate
from typing import Any

import pytest

from aiservices.errors import (
    AuthenticationError,
    ConfigurationError,
    ContentFilteredError,
    ContextLengthError,
    InvalidRequestError,
    ModelError,
    ModelNotFoundError,
    ModelTimeoutError,
    RateLimitError,
    ServerError,
)
from aiservices.messages import ChatRequest, ChatRequestParameters, FinishReason, UserMessage
from aiservices.models.failures import wait_asked_by
from aiservices.models.openai import OpenAiChatModel
from tests.models.fake_server import Answer, Script
from tests.models.openai.wire import HELLO, KEY, completion, model


def error_from(script: Script, *answers: Any, **options: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        model(script.will_say(*answers), **({"max_attempts": 1} | options)).chat(HELLO)
    return caught.value


def told(message: str, code: Any = None, kind: Any = None, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "code": code, "type": kind, "param": None, **more}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, told("bad", None, "invalid_request_error"), InvalidRequestError),
        (400, told("too long", "context_length_exceeded", "invalid_request_error"), ContextLengthError),
        (400, told("This model's maximum context length is 8192 tokens.", None, "x"), ContextLengthError),
        (400, told("too long", 400, "exceed_context_size_error"), ContextLengthError),
        (400, told("request exceeds the available context size", 400, "x"), ContextLengthError),
        (400, told("filtered", "content_filter"), ContentFilteredError),
        (400, told("no such model", "model_not_found"), ModelNotFoundError),
        (401, told("who?", "invalid_api_key", "invalid_request_error"), AuthenticationError),
        (403, told("not you"), AuthenticationError),
        (404, told("no such model", "model_not_found"), ModelNotFoundError),
        (404, {"detail": "Not Found"}, ModelNotFoundError),
        (408, told("slow"), ModelTimeoutError),
        (409, told("conflict"), InvalidRequestError),
        (413, told("too large"), ContextLengthError),
        (422, {"detail": [{"msg": "wrong"}]}, InvalidRequestError),
        (429, told("slow down", "rate_limit_exceeded", "tokens"), RateLimitError),
        (429, told("pay", "insufficient_quota", "insufficient_quota"), RateLimitError),
        (500, told("boom", None, "server_error"), ServerError),
        (503, b"<html>Service Unavailable</html>", ServerError),
        (500, b"", ServerError),
        (404, {"error": "model 'x' not found, try pulling it first"}, ModelNotFoundError),
    ],
)
def test_an_answer_of_failure_becomes(script: Script, status: int, body: Any, kind: type[ModelError]) -> None:
    error = error_from(script, Answer(body, status, {"x-request-id": "req_1"}))
    assert type(error) is kind
    assert (error.status, error.request_id) == (status, "req_1")
    assert error.__cause__ is not None
    host = script.url.split("/")[2]
    assert str(error).startswith(f"'gpt-test' at {host} ")
    assert f"(HTTP {status})" in str(error)
    assert len(script.requests) == 1


def test_the_text_says_what_happened_where_and_what_to_do(script: Script) -> None:
    text = str(error_from(script, Answer(told("Incorrect API key."), 401)))
    host = script.url.split("/")[2]
    assert text == (
        f"'gpt-test' at {host} refused the credentials (HTTP 401): Incorrect API key; "
        "give api_key= or set OPENAI_API_KEY"
    )


def test_the_text_names_the_model_that_was_asked(script: Script) -> None:
    request = ChatRequest([UserMessage("Hi")], parameters=ChatRequestParameters(model_name="gpt-other"))
    with pytest.raises(ServerError, match="'gpt-other' at"):
        model(script.will_say(Answer(b"", 500)), max_attempts=1).chat(request)


def test_long_words_are_cut_so_that_no_whole_prompt_is_quoted(script: Script) -> None:
    text = str(error_from(script, Answer(told("You said:\n" + "lorem " * 500), 400)))
    assert len(text) < 500
    assert "…" in text
    assert "\n" not in text


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.anyio
async def test_all_four_ways_to_ask_fail_alike(script: Script, stream: bool) -> None:
    asking = model(script.will_say(Answer(told("no"), 404)))
    with pytest.raises(ModelNotFoundError):
        next(asking.stream(HELLO)) if stream else asking.chat(HELLO)
    with pytest.raises(ModelNotFoundError):
        await (anext(asking.astream(HELLO)) if stream else asking.achat(HELLO))


def test_the_details_of_a_content_filter_are_kept(script: Script) -> None:
    inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"hate": {"filtered": True}}}
    error = error_from(script, Answer(told("filtered", "content_filter", innererror=inner), 400))
    assert error.response is not None
    assert error.response.finish_reason is FinishReason.CONTENT_FILTER
    assert error.response.metadata["innererror"] == inner


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "20"}, 0.02),
        ({"retry-after": "0.05"}, 0.05),
        ({"retry-after-ms": "what", "retry-after": "2"}, 2.0),
        ({"retry-after": formatdate(0, usegmt=True)}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_the_wait_that_a_server_asks_for(
    script: Script, headers: dict[str, str], seconds: float | None
) -> None:
    error = error_from(script, Answer(told("slow"), 429, headers))
    assert isinstance(error, RateLimitError)
    assert error.retry_after == seconds


def test_a_date_to_come_back_at_is_understood() -> None:
    wait = wait_asked_by({"retry-after": formatdate(time.time() + 30, usegmt=True)})
    assert wait is not None
    assert 28 < wait <= 30


def test_a_server_that_asks_for_patience_is_asked_again_when_it_said(script: Script) -> None:
    busy = Answer(told("slow"), 429, {"retry-after-ms": "120"})
    started = time.monotonic()
    answer = model(script.will_say(busy, Answer(b"", 503, {"retry-after": "0"}), completion("ok"))).chat(
        HELLO
    )
    assert answer.text == "ok"
    assert len(script.requests) == 3
    assert 0.1 < time.monotonic() - started < 3


@pytest.mark.anyio
async def test_streams_are_opened_again_as_well(script: Script) -> None:
    busy = Answer(b"", 503, {"retry-after": "0"})
    events = [{"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]}]
    assert len(list(model(script.will_say(busy, events)).stream(HELLO))) == 2
    assert len([event async for event in model(script.will_say(busy, events)).astream(HELLO)]) == 2


def test_no_quota_left_is_not_asked_again(script: Script) -> None:
    error_from(script, Answer(told("pay", "insufficient_quota"), 429, {"retry-after": "0"}), max_attempts=3)
    assert len(script.requests) == 1


def test_half_an_answer_is_asked_for_again(script: Script) -> None:
    answer = model(script.will_say(Answer(completion("x" * 1000), breaks_off=True), completion("ok"))).chat(
        HELLO
    )
    assert answer.text == "ok"


def test_half_an_answer_is_the_servers_error(script: Script) -> None:
    error = error_from(script, Answer(completion("x" * 1000), breaks_off=True))
    assert type(error) is ServerError
    assert "RemoteProtocolError" in str(error)


def test_silence_is_a_time_out(script: Script) -> None:
    error = error_from(script, Answer(completion("late"), after=5), timeout=0.2)
    assert type(error) is ModelTimeoutError
    assert "raise timeout=" in str(error)


def test_a_request_sets_its_own_time_out(script: Script) -> None:
    request = ChatRequest([UserMessage("Hi")], parameters=ChatRequestParameters(timeout=0.2))
    with pytest.raises(ModelTimeoutError):
        model(script.will_say(Answer(completion("late"), after=5)), max_attempts=1).chat(request)


def test_silence_within_a_stream_is_a_time_out(script: Script) -> None:
    chunk = {"choices": [{"delta": {"content": "a"}}]}
    stream = model(script.will_say(Answer([chunk, chunk], between=0.4)), timeout=0.6).stream(HELLO)
    assert len([next(stream), next(stream)]) == 2
    late = model(script.will_say(Answer([chunk, chunk], between=5)), timeout=0.2).stream(HELLO)
    with pytest.raises(ModelTimeoutError):
        next(late)


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


def test_nobody_there_is_the_servers_error(nobody: str) -> None:
    with pytest.raises(ServerError, match=r"ConnectError.*check base_url"):
        OpenAiChatModel("gpt-test", api_key=KEY, base_url=nobody, max_attempts=1).chat(HELLO)


def test_what_json_cannot_say_is_refused() -> None:
    request = ChatRequest([UserMessage("Hi")], parameters=ChatRequestParameters(temperature=object()))  # type: ignore[arg-type]
    with pytest.raises(InvalidRequestError, match="a object is no JSON value"):
        OpenAiChatModel("gpt-test", api_key=KEY).chat(request)


SECRET = "k9-abc123SECRET"


@pytest.fixture
def secretive(script: Script) -> OpenAiChatModel:
    return OpenAiChatModel(
        "gpt-test",
        api_key=SECRET,
        base_url=f"{script.url}?key=query-{SECRET}",
        headers={"x-api-key": f"header-{SECRET}"},
        query={"token": f"other-{SECRET}"},
    )


@pytest.mark.anyio
async def test_no_secret_is_shown_anywhere(
    script: Script, secretive: OpenAiChatModel, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = told(f"wrong: {SECRET}, header-{SECRET}, query-{SECRET}", "server_error")
    busy = Answer(echo, 503, {"retry-after": "0"})
    script.will_say(busy, completion("ok"))
    secretive.chat(HELLO)
    script.will_say(busy, completion("ok"))
    await secretive.achat(HELLO)
    script.will_say(Answer(echo, 401))
    with pytest.raises(AuthenticationError) as caught:
        secretive.chat(HELLO)
    shown = [caplog.text, repr(secretive), repr(vars(secretive)), *traceback.format_exception(caught.value)]
    assert "HTTP Request" in caplog.text, "the HTTP library's log is part of what is looked at"
    assert "***" in str(caught.value)
    assert "SECRET" not in "\n".join(shown)
    assert caught.value.__cause__ is None, "its text shows the secret"


def test_secrets_reach_the_server_all_the_same(script: Script, secretive: OpenAiChatModel) -> None:
    script.will_say(completion("ok"))
    secretive.chat(HELLO)
    (heard,) = script.requests
    assert heard.headers["authorization"] == f"Bearer {SECRET}"
    assert heard.headers["x-api-key"] == f"header-{SECRET}"
    assert dict(heard.query) == {"key": f"query-{SECRET}", "token": f"other-{SECRET}"}
    assert heard.path.endswith("/v1/chat/completions")


def test_a_missing_key_is_an_error_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(AuthenticationError, match="OPENAI_API_KEY"):
        OpenAiChatModel("gpt-test")


@pytest.mark.parametrize("options", [{}, {"api_key": ""}])
def test_a_server_on_this_machine_needs_no_key(
    script: Script, monkeypatch: pytest.MonkeyPatch, options: dict[str, str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "not for this")
    script.will_say(completion("ok"))
    assert OpenAiChatModel("gpt-test", base_url=script.url, **options).chat(HELLO).text == "ok"
    assert "authorization" not in script.requests[0].headers


@pytest.mark.parametrize("header", ["Authorization", "api-key"])
def test_other_headers_may_say_who_is_asking(
    script: Script, monkeypatch: pytest.MonkeyPatch, header: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    OpenAiChatModel("gpt-test", headers={header: KEY})
    with pytest.raises(AuthenticationError):
        OpenAiChatModel("gpt-test", headers={"x-title": "tests"})
    OpenAiChatModel("gpt-test", base_url=script.will_say(completion("ok")).url, headers={header: KEY}).chat(
        HELLO
    )
    assert script.requests[0].headers[header.lower()] == KEY


def test_address_and_key_are_found_in_the_environment(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", script.url + "/")
    script.will_say(completion("ok"))
    made = OpenAiChatModel("gpt-test", organization="org-1", project="proj-1")
    assert made.chat(HELLO).text == "ok"
    headers = script.requests[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert (headers["openai-organization"], headers["openai-project"]) == ("org-1", "proj-1")
    assert repr(made) == f"OpenAiChatModel('gpt-test', base_url={script.url!r})"


@pytest.mark.parametrize(
    "options",
    [
        {"base_url": ""},
        {"base_url": "localhost:8000/v1"},
        {"base_url": "ftp://x/v1"},
        {"base_url": "http:///v1"},
        {"base_url": "https://user:password@x/v1"},
        {"api": "assistants"},
        {"model_name": ""},
    ],
)
def test_an_option_that_cannot_be_meant_is_an_error_at_once(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        OpenAiChatModel(**({"model_name": "gpt-test", "api_key": KEY} | options))
    assert "password@" not in str(caught.value)


def test_a_key_that_no_header_can_hold_is_an_error_at_once_and_not_told() -> None:
    with pytest.raises(AuthenticationError, match="characters that no key has") as caught:
        OpenAiChatModel("gpt-test", api_key="sk-тайна")
    assert "тайна" not in str(caught.value)
