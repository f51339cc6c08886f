"""Checking the flow of data through a system of agents before it runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

from ..errors import ConfigurationError
from .fitting import fits, named
from .node import Node, nodes


def checked(root: Node) -> tuple[str, ...]:
    """What is remarkable about a system. Raises `ConfigurationError` with all that is wrong with it."""
    traffic = root.traffic()
    found = dict.fromkeys((*traffic.problems, *traffic.gaps, *_misfits(root)))
    problems = [f"{root.name}: {each}" for each in found]
    if problems:
        raise ConfigurationError(problems)
    own = [remark for node in nodes(root) for remark in node.remarks]
    return tuple(f"{root.name}: {each}" for each in (*own, *_unread(root)))


def _misfits(root: Node) -> Iterator[str]:
    """Keys whose writers and readers do not agree on what they are."""
    written: defaultdict[str, list[tuple[str, Any]]] = defaultdict(list)
    read: defaultdict[str, list[tuple[str, Any]]] = defaultdict(list)
    for node in nodes(root):
        if node.output_key is not None:
            written[node.output_key].append((node.name, node.output_type))
        if not node.is_composite:
            for need in node.needs:
                read[need.key].append((node.name, need.hint))
    for key, writers in written.items():
        for (writer, gives), (reader, wants) in product(writers, read[key]):
            if not fits(gives, wants):
                yield (
                    f"{key!r} is written by {writer!r} as {named(gives)} and read by {reader!r} as "
                    f"{named(wants)}: make the types agree"
                )
        for (one, gives), (other, too) in combinations(writers, 2):
            if not fits(gives, too) and not fits(too, gives):
                yield (
                    f"{key!r} is written by {one!r} as {named(gives)} and by {other!r} as {named(too)}: "
                    "make the types agree, or give one another output_key"
                )


def _unread(root: Node) -> Iterator[str]:
    """Outputs that nobody reads, where nobody can read the scope unseen."""
    everyone = list(nodes(root))
    if any(node.reads_scope for node in everyone):
        return
    read = {key for node in everyone for key in node.inputs}
    for node in everyone[1:]:
        if node.output_key is not None and node.output_key not in read and node is not everyone[-1]:
            yield f"nobody reads {node.output_key!r}, which {node.name!r} writes"
