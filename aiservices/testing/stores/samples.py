"""Names and values that a careless store changes, mistakes or chokes on."""

from __future__ import annotations

from typing import Any, Final

# Strings that are taken for one another, for a pattern or for something of the store's own.
NAMES: Final = (
    *(
        "a",
        "A",
        "a ",
        "a  ",
        " a",
        "\ta",
        "a\n",
        "á",
        "a\u0301",
        "ß",
        "ss",
        "i",
        "I",
        "ı",
        "İ",
        "ﬁ",
        "fi",
        "",
    ),
    *(
        "a%",
        "a_",
        "a%b",
        "a_b",
        "axb",
        "a*",
        "a?",
        "[a]",
        "a\\",
        "a\\%",
        "a'",
        'a"',
        "`a`",
        "a;--",
        "$1",
        ":a",
    ),
    *("a:b", "a/b", "a/../b", "{a}", "a}", "null", "0", "00", "日本", "\ud7ff", "\ue000", "😀", "\U0010ffff"),
)
VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, 1, -1, 2**53 + 1, 2**64, -(10**300), 1.0, 0.1, -0.0, 1e308, 5e-324, 1e22),
    *("", "0", "null", "é\u2028\0\x7f😀\\\"'", [], {}, [None, [{}]], {"": "", "a.b": {"$ref": 1}}),
)
NO_VALUES: Final[tuple[Any, ...]] = (
    *(float("nan"), float("inf"), -float("inf"), "\ud800", {"\udfff": 1}, b"bytes", {1, 2}, (1, 2), object()),
    *({1: "a"}, {True: 1}, {None: 1}, [{"deep": [float("nan")]}], {"a": {"b": object}}),
)
