"""A parent that is declared in another module than its child."""

from __future__ import annotations

from decimal import Decimal as Price
from typing import Protocol, TypedDict, TypeVar

__all__ = ["Answering", "Parent", "Price", "Titled"]

T = TypeVar("T")


class Answering(Protocol[T]):
    def ask(self, text: str) -> list[T]: ...


class Parent(Protocol):
    def price(self, text: str) -> Price: ...


class Titled(TypedDict):
    title: str
