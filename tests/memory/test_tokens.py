"""Tokens estimated without a tokenizer."""

from __future__ import annotations

import json

import pytest

from aiservices import (
    AiMessage,
    AudioContent,
    CustomMessage,
    ImageContent,
    PdfContent,
    SystemMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from aiservices.memory import estimated_tokens

PROSE = (
    "A tool is a function that the model may ask for. Its signature, annotations and docstring say what "
    "the model sees. The calls of an answer run side by side; each gets exactly one result."
)
GERMAN = "Der Vertrag wird zwischen den Parteien geschlossen und tritt am Tage der Unterzeichnung in Kraft."
CODE = "def double(numbers: list[int]) -> list[int]:\n    return [number * 2 for number in numbers]\n"
ORDERS = json.dumps([{"id": f"order-{n}", "price": n * 19.99, "paid": n % 2 == 0} for n in range(20)])

# Counted with the package bpe-openai 0.1: o200k_base and cl100k_base.
COUNTED = {
    "prose": (PROSE, 41, 41),
    "German": (GERMAN, 17, 23),
    "code": (CODE, 23, 23),
    "JSON": (ORDERS, 445, 445),
    "Chinese": ("今天天气很好，我们去公园散步吧。人工智能正在改变世界。", 18, 32),
    "Russian": ("Сегодня хорошая погода, пойдём гулять в парк.", 14, 26),
    "Korean": ("오늘은 날씨가 좋아서 공원에 산책하러 갑시다.", 18, 31),
    "Hindi": ("आज मौसम अच्छा है, चलो पार्क में टहलने चलते हैं।", 15, 49),
}


@pytest.mark.parametrize("counted", COUNTED.values(), ids=COUNTED)
def test_a_text_is_estimated_at_no_fewer_tokens_than_common_tokenizers_count(
    counted: tuple[str, int, int],
) -> None:
    text, *counts = counted
    estimate = estimated_tokens([UserMessage(text)]) - estimated_tokens([UserMessage("")])
    assert max(counts) <= estimate <= 4.5 * min(counts)


def test_everything_that_is_sent_counts() -> None:
    def tokens(*messages: object) -> int:
        return estimated_tokens(messages)  # type: ignore[arg-type]

    assert tokens() == 0
    assert tokens(SystemMessage(PROSE)) == tokens(UserMessage(PROSE)) == tokens(AiMessage(PROSE)) > 40
    assert tokens(AiMessage(thinking=PROSE)) == tokens(AiMessage(PROSE))
    assert tokens(AiMessage(tool_calls=[ToolCall("c", "pay", ORDERS)])) > tokens(AiMessage()) + 400
    assert tokens(ToolResultMessage("c", "pay", ORDERS)) > 400
    assert tokens(AiMessage("x", attributes={"signature": "s" * 350})) >= tokens(AiMessage("x")) + 100
    assert tokens(CustomMessage({"note": PROSE})) > 40
    assert tokens(UserMessage("a"), UserMessage("b")) == 2 * tokens(UserMessage("a"))


def test_media_count_for_what_a_model_makes_of_them_and_not_for_their_bytes() -> None:
    def tokens(content: object) -> int:
        return estimated_tokens([UserMessage([TextContent("look"), content])])  # type: ignore[list-item]

    image = tokens(ImageContent(data=bytes(3_000_000), media_type="image/png"))
    assert image == tokens(ImageContent(url="https://example.org/cat.png"))
    assert 1_000 < image < 2_000
    assert 10_000 < tokens(PdfContent(data=bytes(1_000_000))) < 100_000
    assert 1_000 < tokens(AudioContent(data=bytes(1_000_000), media_type="audio/mpeg")) < 10_000


def test_half_a_surrogate_pair_is_no_reason_to_fail() -> None:
    assert estimated_tokens([UserMessage("\ud83d")]) > 0
