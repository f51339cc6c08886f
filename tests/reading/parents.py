"""A parent that is declared in another module than its child."""

from __future__ import annotations

from decimal import Decimal as Price
from typing import Protocol, TypedDict

__all__ = ["Parent", "Price", "Titled"]


class Parent(Protocol):
    def price(self, text: str) -> Price: ...


class Titled(TypedDict):
    title: str
