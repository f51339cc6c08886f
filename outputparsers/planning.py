"""From a type to the places of its growing values: nothing required or constrained, no user code called.

Objects are instances whose missing fields are None until they end and get their defaults; lists hold what has
arrived; a scalar that is not complete is None. A union of objects without a discriminator stays a dictionary:
its arm may still change.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic_core import ValidationError, to_json

from .classifying import Shape, Wire
from .decoding import python_validator_of, validator_of
from .places import (
    ANYTHING,
    MISSING,
    NOWHERE,
    ArrayPlan,
    Envelope,
    FreeKeys,
    ObjectPlan,
    Place,
    Record,
    Tagged,
    converted,
)
from .records import has_default, instance, keys_of, shallow
from .tolerating import NAMED_TUPLES, named_tuple_as_object, tolerant
from .walking import split_definitions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .walking import Node

_THROUGH = {
    "function-before": "schema",
    "function-after": "schema",
    "function-wrap": "schema",
    "default": "schema",
    "custom-error": "schema",
    "nullable": "schema",
    "json-or-python": "json_schema",
    "lax-or-strict": "lax_schema",
}
_RECORDS = frozenset({"model", "dataclass", "typed-dict"}) | NAMED_TUPLES
_OBJECTS = _RECORDS | {"dict", "tagged-union"}
_COLLECTIONS: dict[str, Callable[[list[object]], object]] = {
    "list": list, "set": set, "frozenset": frozenset, "deque": deque, "tuple": tuple,
}  # fmt: skip
_LABELS = frozenset({"enum", "literal"})
_LEAVES = frozenset(
    {"str", "int", "float", "decimal", "bool", "none", "date", "time", "datetime", "timedelta", "uuid", "url"}
)
_SPELLED = frozenset({"date", "time", "datetime", "timedelta", "uuid", "url", "decimal"}) | _LABELS
_KEPT = frozenset({"type", "cls", "members", "sub_type", "expected"})
_ANY: Node = {"type": "any"}
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Arms:
    """What a type may be at one place, by what its JSON begins with."""

    objects: list[Node]
    arrays: list[Node]
    scalars: list[Node]
    anything: bool


class Planner:
    """Finds the places of one type, each when it is first met: types may be recursive, and few grow."""

    def __init__(self, core: Node, wire: Wire) -> None:
        self._root, self._definitions = split_definitions(core)
        self._wire = wire
        self._places: dict[int, tuple[Node, Place]] = {}

    def answer(self) -> Place:
        """The place of the whole answer."""
        inner = self.place(self._root)
        if self._wire.shape is Shape.OBJECT:
            return Place(inner.objects, NOWHERE.arrays, NOWHERE.scalar)
        bare = (lambda: inner.objects) if self._wire.takes_objects else None
        envelope = Envelope(self._wire.shape.value, lambda: inner, bare)
        arrays = inner.arrays if self._wire.shape is Shape.COLLECTION else NOWHERE.arrays
        return Place(envelope, arrays, NOWHERE.scalar)

    def place(self, node: Node) -> Place:
        """The place a node of the core schema describes."""
        known = self._places.get(id(node))
        if known is None:
            # The node is kept, so that no other one gets its id.
            known = self._places[id(node)] = (node, self._place(node))
        return known[1]

    def _place(self, node: Node) -> Place:
        roots, arms = self._arms(node)
        if roots:
            return self._of_root_models(roots, arms)
        if arms.anything:
            return ANYTHING
        kinds = {leaf["type"] for leaf in arms.scalars}
        return Place(
            self._objects(arms.objects),
            self._arrays(arms.arrays),
            _scalars(arms.scalars),
            text="str" in kinds and not kinds & _SPELLED,
            bare_words=bool(kinds - {"str", "none", "date", "time", "datetime", "timedelta", "uuid", "url"}),
        )

    def _arms(self, node: Node) -> tuple[list[Node], Arms]:
        roots: list[Node] = []
        arms = Arms([], [], [], anything=False)
        for arm in self._flat(node):
            kind = arm["type"]
            if kind == "model" and arm.get("root_model"):
                roots.append(arm)
            elif kind in _OBJECTS:
                arms.objects.append(arm)
            elif kind in _COLLECTIONS:
                arms.arrays.append(arm)
            elif kind in _LEAVES | _LABELS:
                arms.scalars.append(arm)
            else:
                arms = Arms([], [], [], anything=True)
                break
        return roots, arms

    def _flat(self, node: Node, depth: int = 0) -> Iterator[Node]:
        kind = node["type"]
        if depth > _DEEPEST:
            yield _ANY
        elif kind == "definition-ref":
            yield from self._flat(self._definitions[node["schema_ref"]], depth + 1)
        elif kind == "union":
            for choice in node["choices"]:
                yield from self._flat(choice[0] if isinstance(choice, tuple) else choice, depth + 1)
        elif kind == "chain":
            yield from self._flat(node["steps"][0], depth + 1)
        elif kind in _THROUGH:
            if kind == "nullable":
                yield {"type": "none"}
            yield from self._flat(node[_THROUGH[kind]], depth + 1)
        else:
            yield node

    def _of_root_models(self, roots: list[Node], arms: Arms) -> Place:
        others = [arm for arm in (*arms.objects, *arms.arrays, *arms.scalars) if arm["type"] != "none"]
        if len(roots) > 1 or others or arms.anything:
            return ANYTHING
        inner = roots[0]["schema"]
        held = inner["fields"]["root"]["schema"] if "fields" in inner else inner
        if held["type"] == "default":
            held = held["schema"]
        place = self.place(held)
        validate = python_validator_of(instance(roots[0], {"type": "any"}))

        def scalar(json: str) -> object:
            if arms.scalars and json == "null":
                return None
            value = place.scalar(json)
            return MISSING if value is MISSING else validate(value)

        return converted(place, validate, scalar)

    def _objects(self, arms: list[Node]) -> ObjectPlan:
        if not arms:
            return NOWHERE.objects
        return self._object(arms[0]) if len(arms) == 1 else ANYTHING.objects

    def _object(self, node: Node) -> ObjectPlan:
        match node["type"]:
            case "dict":
                values = node.get("values_schema", _ANY)
                return FreeKeys(self._key(node.get("keys_schema", _ANY)), lambda: self.place(values))
            case "tagged-union":
                return self._tagged(node)
            case kind if kind in NAMED_TUPLES:
                return self._record(named_tuple_as_object(node))
            case _:
                return self._record(node)

    def _key(self, node: Node) -> Callable[[str], object]:
        place = self.place(node)
        return (lambda key: key) if place.text else (lambda key: place.scalar(to_json(key).decode()))

    def _tagged(self, node: Node) -> ObjectPlan:
        tag = node["discriminator"]
        if isinstance(tag, list):
            alone = [path[0] for path in tag if len(path) == 1]
            tag = alone[0] if alone else None
        if not isinstance(tag, str):
            return ANYTHING.objects
        arms = {name: self._later(arm) for name, arm in node["choices"].items()}
        return Tagged(tag, {getattr(name, "value", name): arm for name, arm in arms.items()})

    def _later(self, arm: Node) -> Callable[[], ObjectPlan]:
        return lambda: self.place(arm).objects

    def _record(self, node: Node) -> ObjectPlan:
        """Every field optional, and validated before it comes here."""
        fields = node
        while "fields" not in fields or fields["type"] in ("model", "dataclass"):
            fields = fields["schema"]
        config = node.get("config") or {}
        by_name = bool(config.get("validate_by_name"))
        listed = list(keys_of(fields["fields"], by_name=by_name))
        places = {key: self._at(schema) for keys, schema in listed for key in keys}
        kept = "allow" in (config.get("extra_fields_behavior"), fields.get("extra_behavior"))
        others = ANYTHING if kept else NOWHERE
        make, complete = (python_validator_of(shallow(node, defaults=filled)) for filled in (False, True))
        defaults = [keys for keys, schema in listed if has_default(schema)]
        return Record(places, lambda: others, make, complete, defaults)

    def _at(self, node: Node) -> Callable[[], Place]:
        return lambda: self.place(node)

    def _arrays(self, arms: list[Node]) -> ArrayPlan:
        if not arms:
            return NOWHERE.arrays
        if len(arms) > 1:
            return ANYTHING.arrays
        node = arms[0]
        kind = node["type"]
        items = node.get("items_schema", _ANY)
        if isinstance(items, dict):
            return ArrayPlan(lambda index: self.place(items), _COLLECTIONS[kind], whole_only="set" in kind)
        rest = node.get("variadic_item_index")

        def place(index: int) -> Place:
            at = index if rest is None else min(index, rest)
            return self.place(items[at]) if at < len(items) else NOWHERE

        return ArrayPlan(place, tuple)


def _scalars(arms: list[Node]) -> Callable[[str], object]:
    if not arms:
        return NOWHERE.scalar
    leaves = [{key: value for key, value in arm.items() if key in _KEPT} for arm in arms]
    whole: Node = leaves[0] if len(leaves) == 1 else {"type": "union", "choices": leaves}
    validate = validator_of(tolerant(whole))
    exact = {arm["type"] for arm in arms} <= {"decimal", "none"}

    def scalar(json: str) -> object:
        # A number becomes a float before it becomes a decimal; a text keeps its digits.
        quoted = exact and json[0] in "-0123456789"
        try:
            return validate(f'"{json}"' if quoted else json)
        except ValidationError:
            return MISSING

    return scalar
