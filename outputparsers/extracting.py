"""Finding the answer inside what a model said: thinking, channel markers, fences, prose."""

from __future__ import annotations

import re
from dataclasses import dataclass

_THINKING = re.compile(r"\s*<(think|thinking)>.*?</\1>\s*", re.DOTALL | re.IGNORECASE)
_OPEN_THINKING = re.compile(r"\s*<(think|thinking)>", re.IGNORECASE)
_END_OF_THINKING = re.compile(r"</(?:think|thinking)>", re.IGNORECASE)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>\s*final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")
_ANY_CHANNEL = re.compile(r"<\|channel\|>[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")
_CHANNEL_START = re.compile(r"\s*(?:<\|start\|>[^<]*)?<\|channel\|>")
_END_OF_MESSAGE = re.compile(r"<\|(?:end|return|call|start)\|>")
FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[^`]*$")
_END_OF_LINE = re.compile(r"[ \t\r]*(?:\n|$)")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|["{}\[\]]', re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_LOOKS_LIKE_JSON = re.compile(r'\{\s*(?:["\'}]|$)|\[\s*(?:["{\[\]]|$)')
_CLOSES = {"{": "}", "[": "]"}
_FALSE_STARTS = 16

_OBJECT = r'\{\s*(?:["}]|($))'
_WORD = r"(?:true|false|null)(?=[\s,\]])"
_WORD_CUT_OFF = r"(?:t(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|n(?:u(?:ll?)?)?)?($)"
OBJECT_OPENING = re.compile(_OBJECT)
"""How an object begins. Where a group of an opening matches, the text ends before one can tell."""
ARRAY_OPENING = re.compile(_OBJECT + r'|\[\s*(?:["{\[\]]|($))')
"""How an object begins, or an array of texts, objects or arrays."""
ARRAY_OF_WORDS_OPENING = re.compile(_OBJECT + rf'|\[\s*(?:["{{\[\]\d-]|{_WORD}|{_WORD_CUT_OFF})')
"""How an object begins, or any array: `[1]` may be one, or the mark of a footnote."""


@dataclass(frozen=True, slots=True)
class Block:
    """A balanced stretch of braces or brackets; `alone` when no other words share its last line."""

    text: str
    alone: bool


@dataclass(frozen=True, slots=True)
class Blocks:
    """The outermost blocks of a text, in order; `cut_off` when the last one is never closed."""

    found: tuple[Block, ...]
    cut_off: bool


def spoken_text(text: str) -> str:
    """What a model said to the reader: without a leading complete thought and without channel markers."""
    spoken = text
    if "<|" in spoken and _CHANNEL_START.match(spoken):
        spoken = _final_message(spoken)
    thought = _THINKING.match(spoken) if "<" in spoken else None
    return spoken[thought.end() :] if thought else spoken


def final_answer(text: str) -> str:
    """Where data is expected, thoughts go even in part: up to their end, or all when they have none."""
    spoken = spoken_text(text).lstrip("\ufeff")
    ends = list(_END_OF_THINKING.finditer(spoken)) if not spoken.lstrip().startswith(("{", "[", '"')) else []
    if ends:
        spoken = spoken[ends[-1].end() :]
    elif _OPEN_THINKING.match(spoken):
        return ""
    return spoken.strip()


def fenced_text(text: str) -> str | None:
    """The content of the last fenced block, or None."""
    if "```" not in text and "~~~" not in text:
        return None
    content: str | None = None
    inside: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if not fence and mark:
            fence, inside = mark.group(1), []
        elif fence and line.strip().startswith(fence) and not line.strip(" \t\r`~"):
            fence, content = "", "\n".join(inside)
        else:
            inside.append(line)
    return None if content is None else content.strip()


def find_blocks(text: str) -> Blocks:
    """All outermost blocks of braces or brackets, whatever stands around them."""
    found: list[Block] = []
    position = false_starts = 0
    while opening := _OPENING.search(text, position):
        start = opening.start()
        end = end_of_block(text, start)
        if end is None:
            if looks_like_json(text, start) or false_starts >= _FALSE_STARTS:
                return Blocks(tuple(found), cut_off=True)
            # A brace in prose that nothing closes: what follows may still be an answer.
            false_starts += 1
            position = start + 1
            continue
        found.append(Block(text[start:end], alone=_is_alone(text, start, end)))
        position = end
    return Blocks(tuple(found), cut_off=False)


def _final_message(text: str) -> str:
    messages = list(_FINAL_CHANNEL.finditer(text))
    if not messages:
        messages = [m for m in _ANY_CHANNEL.finditer(text) if "analysis" not in m.group()]
    if not messages:
        return ""
    return _END_OF_MESSAGE.split(text[messages[-1].end() :], maxsplit=1)[0]


def looks_like_json(text: str, start: int = 0) -> bool:
    """Whether `text` opens at `start` like JSON with something in it, not like `{this}` or `[1]` in prose."""
    return _LOOKS_LIKE_JSON.match(text, start) is not None


def end_of_block(text: str, start: int) -> int | None:
    """Where the block opened at `start` ends; None when it is never closed or its brackets do not match."""
    awaited: list[str] = []
    for token in _TOKEN.finditer(text, start):
        mark = token.group()
        if mark in _CLOSES:
            awaited.append(_CLOSES[mark])
        elif mark == '"':
            return None
        elif mark in "}]":
            if awaited.pop() != mark:
                return None
            if not awaited:
                return token.end()
    return None


def _is_alone(text: str, start: int, end: int) -> bool:
    before = start - 1
    while before >= 0 and text[before] in " \t\r":
        before -= 1
    return _END_OF_LINE.match(text, end) is not None and (before < 0 or text[before] in "\n:")
