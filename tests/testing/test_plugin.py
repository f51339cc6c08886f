"""The pytest plugin is on by itself and fails tests that leave replies unused."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

TESTS = """
    from aiservices import ChatRequest, UserMessage

    REQUEST = ChatRequest([UserMessage("hi")])

    def test_all_used(scripted_chat_model):
        first, second = scripted_chat_model("one"), scripted_chat_model("two", capabilities=["tools"])
        assert first.chat(REQUEST).text + second.chat(REQUEST).text == "onetwo"
        assert "tools" in second.capabilities

    def test_some_left(scripted_chat_model):
        scripted_chat_model("one", "two").chat(REQUEST)

    def test_second_has_some_left(scripted_chat_model):
        scripted_chat_model("one").chat(REQUEST)
        scripted_chat_model("two")

    def test_failed_before_the_end(scripted_chat_model):
        scripted_chat_model("one")
        assert False, "the one failure to be told"

    def test_unexpected_request(scripted_chat_model):
        scripted_chat_model().chat(REQUEST)

    def test_swallowed_request(scripted_chat_model):
        try:
            scripted_chat_model().chat(REQUEST)
        except AssertionError:
            pass
"""


@pytest.fixture
def outcome(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.RunResult:
    monkeypatch.setenv("COLUMNS", "300")  # the summary is cut to the width of the terminal
    pytester.makepyfile(TESTS)
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", "-rA")


def test_each_test_is_told_what_its_models_lack_once(outcome: pytest.RunResult) -> None:
    outcome.assert_outcomes(passed=4, failed=2, errors=3)
    outcome.stdout.fnmatch_lines_random(
        [
            "PASSED *::test_all_used",
            "ERROR *::test_some_left - *UnusedRepliesError: 1 replies*'two'",
            "ERROR *::test_second_has_some_left - *UnusedRepliesError: 1 replies*'two'",
            "FAILED *::test_failed_before_the_end - *",
            "FAILED *::test_unexpected_request - *UnexpectedRequestError: request 1 *",
            "ERROR *::test_swallowed_request - *UnexpectedRequestError: request 1 *'hi'",
        ]
    )


def test_the_fixture_is_there_in_this_very_suite(scripted_chat_model: object) -> None:
    assert callable(scripted_chat_model)


def test_a_run_that_uses_no_double_does_not_pay_for_them(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import sys

        def test_nothing_is_loaded():
            heavy = {"pydantic", "jinja2", "openai", "aiservices.testing.scripted"}
            assert not heavy & sys.modules.keys()
            assert "aiservices.testing.plugin" in sys.modules
    """)
    others = ("-p", "no:langsmith_plugin")  # which comes with LangGraph, and loads pydantic itself
    pytester.runpytest_subprocess("-p", "no:cacheprovider", *others).assert_outcomes(passed=1)
