"""Measures how often retrieval finds the right paragraph: by meaning, by keywords, and by both.

    python examples/retrieval_accuracy.py

50 paragraphs and 30 questions of three kinds: in the words of the paragraph, in other words, codes and names.
Everything runs in this process, on the embedded embedding model.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from aiservices.models.embedding import EmbeddingModel
from aiservices.models.local import LocalEmbeddingModel
from aiservices.rag import (
    EmbeddingStoreRetriever,
    HybridRetriever,
    InMemoryEmbeddingStore,
    KeywordIndex,
    KeywordRetriever,
    TextSegment,
)
from aiservices.rag.retrievers import DrivenRetriever

KNOWLEDGE = json.loads((Path(__file__).parent / "data" / "knowledge.json").read_text(encoding="utf-8"))
DEPTH = 10


@dataclass(frozen=True)
class Question:
    kind: str
    text: str
    answer: str


@dataclass(frozen=True)
class Score:
    """How many questions found their paragraph at the first place, and among the first three."""

    first: int
    among_three: int
    total: int

    def __str__(self) -> str:
        return f"{self.first:>3} {self.among_three:>3} of {self.total:<3}"


def retrievers(embedding_model: EmbeddingModel) -> Mapping[str, DrivenRetriever]:
    """The three ways to look the paragraphs up."""
    ids = [each["id"] for each in KNOWLEDGE["paragraphs"]]
    segments = [TextSegment(each["text"], {"id": each["id"]}) for each in KNOWLEDGE["paragraphs"]]
    store, index = InMemoryEmbeddingStore(), KeywordIndex()
    store.add(embedding_model.embed([each.text for each in segments]).vectors, segments, ids=ids)
    index.add(segments, ids=ids)
    dense = EmbeddingStoreRetriever(embedding_store=store, embedding_model=embedding_model, max_results=DEPTH)
    keyword = KeywordRetriever(keyword_index=index, max_results=DEPTH)
    return {
        "dense": dense,
        "keyword": keyword,
        "hybrid": HybridRetriever(dense, keyword, max_results=DEPTH),
    }


def score(retriever: DrivenRetriever, questions: Iterable[Question]) -> Score:
    places = []
    for question in questions:
        found = [each.id for each in retriever.retrieve(question.text)]
        places.append(found.index(question.answer) if question.answer in found else DEPTH)
    return Score(sum(place < 1 for place in places), sum(place < 3 for place in places), len(places))


def main() -> None:
    questions = [Question(**each) for each in KNOWLEDGE["questions"]]
    kinds = list(dict.fromkeys(question.kind for question in questions))
    print(f"{'':<8} " + " ".join(f"{kind:<15}" for kind in ("all", *kinds)))
    for name, retriever in retrievers(LocalEmbeddingModel()).items():
        asked = [questions, *([each for each in questions if each.kind == kind] for kind in kinds)]
        print(f"{name:<8} " + " ".join(f"{score(retriever, each)!s:<15}" for each in asked))


if __name__ == "__main__":
    main()
