"""Documents, segments and their metadata."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from aiservices.rag import Document, Metadata, ScoredSegment, TextSegment
from aiservices.segments import fingerprint

UUID_1 = UUID(int=1)


def test_metadata_holds_what_filters_can_compare() -> None:
    values = {"s": "x", "i": 2**70, "f": 0.5, "b": True, "d": date(2026, 1, 2), "u": UUID_1, "l": ["x", "y"]}
    assert dict(Metadata(values)) == values


def test_a_value_of_none_means_that_the_key_is_absent() -> None:
    assert dict(Metadata({"page": None, "source": "a"})) == {"source": "a"}


@pytest.mark.parametrize(
    ("items", "error", "named"),
    [
        ({"": 1}, ValueError, "blank key, of the value 1"),
        ({" ": 1}, ValueError, "blank key"),
        ({None: 1}, TypeError, "the key None"),
        ({"k": object()}, TypeError, r"metadata\['k'\] is a object"),
        ({"k": {"a": 1}}, TypeError, r"metadata\['k'\] is a dict"),
        ({"k": ["x", None]}, TypeError, r"metadata\['k\[1\]'\] is a NoneType"),
        ({"k": float("nan")}, ValueError, r"metadata\['k'\] is nan"),
        ({"k": float("-inf")}, ValueError, r"metadata\['k'\] is -inf"),
    ],
)
def test_other_keys_and_values_are_refused_by_name(items: Any, error: type[Exception], named: str) -> None:
    """M4"""
    with pytest.raises(error, match=named):
        Document("text", items)
    with pytest.raises(error, match=named):
        TextSegment("text", items)


def test_metadata_is_read_only_and_a_copy() -> None:
    """M7"""
    given = {"tags": ["x"]}
    document = Document("text", given)  # type: ignore[arg-type]
    given["tags"].append("y")
    given["more"] = []
    assert document.metadata == {"tags": ["x"]}
    with pytest.raises(TypeError):
        document.metadata["tags"] = []  # type: ignore[index]


def test_values_compare_hash_and_travel_between_processes() -> None:
    segment = TextSegment("text", {"page": 1}, 3, 7)
    scored = ScoredSegment(segment, 0.5, "id", {"rank": 1})
    for value in (Document("text", {"page": 1}), segment, scored):
        copy = pickle.loads(pickle.dumps(value))
        assert copy == value
        assert hash(copy) == hash(value)
    assert (scored.text, scored.metadata) == ("text", {"page": 1})


def test_a_document_has_an_id_made_of_its_content_unless_it_is_given_one() -> None:
    plain = Document("text", {"page": 1})
    assert plain.id == Document("text", {"page": 1}).id
    assert len({plain.id, Document("text").id, Document("other", {"page": 1}).id}) == 3
    assert Document("text", id="mine").id == "mine"
    with pytest.raises(ValueError, match="the id of a document is blank"):
        Document("text", id=" ")


def test_the_fingerprint_is_the_same_in_every_process_and_tells_types_apart() -> None:
    metadata = {"b": True, "a": datetime(2026, 1, 2, 3), "l": ["x"]}
    program = (
        "from datetime import datetime; from aiservices.segments import fingerprint; "
        "print(fingerprint('té\\ud800xt', {'l': ['x'], 'a': datetime(2026, 1, 2, 3), 'b': True}))"
    )
    said = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.split() == [fingerprint("té\ud800xt", metadata)]
    assert len({fingerprint("", {"k": value}) for value in (1, "1", True, 1.0)}) == 4


def test_attributes_of_what_was_found_are_json_values() -> None:
    with pytest.raises(TypeError, match="attributes"):
        ScoredSegment(TextSegment("text"), attributes={"k": object()})


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Document(b"text"), "the text of a Document is a bytes"),  # type: ignore[arg-type]
        (lambda: Document("text", id=7), "the id of a document is a int"),  # type: ignore[arg-type]
        (lambda: TextSegment(None), "the text of a TextSegment is a NoneType"),  # type: ignore[arg-type]
        (lambda: ScoredSegment("text"), "the segment of a ScoredSegment is a str"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_text_is_refused_where_it_comes_in(make: Callable[[], object], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        make()
