"""Answers from fifty paragraphs, without a key or a network: with sources, or an honest "I have nothing".

Runs on the embedded models (`aiservices model pull smollm2-135m` fetches the chat model once). Another one:

    python examples/knowledge.py openai:gpt-5-mini
"""

import json
import sys
from pathlib import Path
from typing import Protocol

import aiservices
from aiservices import ChatRequestParameters, Result, system_message
from aiservices.models.local import LocalEmbeddingModel
from aiservices.rag import (
    EmbeddingStoreRetriever,
    InMemoryEmbeddingStore,
    RetrievalAugmentor,
    TextSegment,
)

KNOWLEDGE = json.loads((Path(__file__).parent / "data" / "knowledge.json").read_text(encoding="utf-8"))
QUESTIONS = (
    "How many hearts does an octopus have?",
    "The dishwasher shows E42. What is wrong?",
    "zzz qqq xxx",
)


class Librarian(Protocol):
    @system_message("Answer in one sentence, from the information given.")
    def answer(self, question: str) -> Result[str]: ...


def main(chat_model: str = "local") -> None:
    embedding_model = LocalEmbeddingModel()
    store = InMemoryEmbeddingStore()
    segments = [TextSegment(each["text"], {"topic": each["id"]}) for each in KNOWLEDGE["paragraphs"]]
    store.add(embedding_model.embed([segment.text for segment in segments]).vectors, segments)

    retriever = EmbeddingStoreRetriever(
        embedding_store=store, embedding_model=embedding_model, max_results=1, min_score=0.65
    )
    librarian = aiservices.create(
        Librarian,
        chat_model=chat_model,
        parameters=ChatRequestParameters(temperature=0.0),
        retrieval_augmentor=RetrievalAugmentor(
            retrievers=[retriever], on_empty="I have nothing on that, so I did not ask the model."
        ),
    )
    for question in QUESTIONS:
        result = librarian.answer(question)
        print(f"? {question}\n! {result.content}")
        for source in result.sources:
            print(f"  {source.score:.2f} {source.metadata['topic']}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
