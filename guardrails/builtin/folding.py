"""One spelling for texts that look alike, so that patterns meet the words and not their disguise."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_MARKS = re.compile("[\u0300-\u036f\u064b-\u0652]")
_LATIN_AND_OTHERS = re.compile(r"\b(?=\w*[a-z])(?=\w*[\u0370-\u04ff])\w+")
# Letters of Greek and Cyrillic that look like Latin ones.
_LOOKALIKES: Final = str.maketrans(
    "аеорсухіјѕԁһӏքαορτυνκιεχ",
    "aeopcyxijsdhlpaoptuvkiex",
)


def folded(text: str) -> str:
    """Lower case, no accents or invisible characters, narrow letters, and no lookalikes in Latin words."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).casefold()
    text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    text = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", text)))
    return _LATIN_AND_OTHERS.sub(lambda word: word.group().translate(_LOOKALIKES), text)
