"""A system of agents as the text of a Mermaid flowchart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple, assert_never

from .describing import shortened, told_branches, told_rounds
from .node import Node
from .topology import Branches, Chosen, ForEach, InOrder, Rounds, SideBySide

_CLASSES: Final = (
    "classDef human stroke-dasharray: 5 3,stroke-width: 2px",
    "classDef optional stroke-dasharray: 2 2",
    "classDef point fill: #888,stroke: #888",
)
_PLAIN: Final = " ,()?!'→…"


def drawn(root: Node) -> str:
    """The text of the flowchart of an agent and all that it is composed of."""
    drawing = _Drawing()
    inputs = ", ".join(need.key for need in root.needs if need.required)
    ends = drawing.agent(root, "a", 1)
    drawing.node("start", '(["{}"])', ["start", inputs], 1)
    drawing.node("finish", '(["{}"])', ["end", root.output_key or ""], 1)
    drawing.arrow("start", ends.entry)
    drawing.arrow(ends.exit, "finish")
    return "\n".join(["flowchart TD", *drawing.nodes, *drawing.arrows, *_indented(_CLASSES)]) + "\n"


class _Ends(NamedTuple):
    """Where arrows to an agent lead, and where those from it begin."""

    entry: str
    exit: str


class _Drawing:
    """Nodes and arrows. Arrows come last, because one within a subgraph would claim the nodes it leads to.

    Ids tell only the place in the tree: no name is one, so that no name can be mistaken for a keyword.
    """

    def __init__(self) -> None:
        self.nodes: list[str] = []
        self.arrows: list[str] = []

    def node(self, id: str, shape: str, lines: Sequence[str], depth: int, style: str = "") -> _Ends:
        text = "<br/>".join(escaped(shortened(line)) for line in lines if line)
        self.nodes.append("  " * depth + id + shape.format(text) + (f":::{style}" if style else ""))
        return _Ends(id, id)

    def arrow(self, begin: str, end: str, told: str = "", line: str = "-->") -> None:
        label = f'|"{escaped(told)}"|' if told else ""
        self.arrows.append(f"  {begin} {line}{label} {end}")

    def agent(self, agent: Node, id: str, depth: int) -> _Ends:
        if agent.topology is None:
            return self._leaf(agent, id, depth)
        self.nodes.append("  " * depth + f'subgraph {id}["{escaped(_title(agent))}"]')
        ends = self._composite(agent, id, depth + 1)
        self.nodes.append("  " * depth + "end")
        return ends

    def _leaf(self, agent: Node, id: str, depth: int) -> _Ends:
        key = f"→ {agent.output_key}" if agent.output_key else ""
        remarks = ("optional" if agent.optional else "", "in the background" if agent.background else "")
        if agent.is_person:
            return self.node(id, '[/"{}"/]', [agent.name, agent.description, key], depth, "human")
        style = "optional" if agent.optional or agent.background else ""
        return self.node(id, '["{}"]', [agent.name, key, *remarks], depth, style)

    def _composite(self, agent: Node, id: str, depth: int) -> _Ends:
        parts = [self.agent(each, f"{id}_{index}", depth) for index, each in enumerate(agent.agents)]
        topology = agent.topology
        assert topology is not None
        match topology:
            case InOrder():
                return self._row(parts)
            case Rounds():
                return self._rounds(topology, parts, id, depth)
            case SideBySide():
                fork = self.node(f"{id}_fork", '(("{}"))', [" "], depth, "point").entry
                return self._forked(parts, [""] * len(parts), fork, id, depth)
            case ForEach(items):
                each = self.node(f"{id}_fork", '{{{{"{}"}}}}', [f"for each of {items}"], depth).entry
                return self._forked(parts, [""], each, id, depth, line="==>")
            case Branches():
                return self._branches(topology, parts, id, depth)
            case Chosen(by):
                return self._star(parts, id, by or "planner", depth)
            case _:
                assert_never(topology)

    def _row(self, parts: Sequence[_Ends]) -> _Ends:
        for one, other in pairwise(parts):
            self.arrow(one.exit, other.entry)
        return _Ends(parts[0].entry, parts[-1].exit)

    def _rounds(self, rounds: Rounds, parts: Sequence[_Ends], id: str, depth: int) -> _Ends:
        row = self._row(parts)
        asked = self.node(f"{id}_again", '{{"{}"}}', told_rounds(rounds), depth).entry
        self.arrow(row.exit, asked)
        self.arrow(asked, row.entry, "again")
        return _Ends(row.entry, asked)

    def _branches(self, branches: Branches, parts: Sequence[_Ends], id: str, depth: int) -> _Ends:
        which = "the first that holds" if branches.first_match else "all that hold"
        begin = self.node(f"{id}_if", '{{"{}"}}', [which], depth).entry
        ends = self._forked(parts, told_branches(branches, len(parts)), begin, id, depth)
        if len(branches.conditions) == len(parts) and None not in branches.conditions:
            self.arrow(begin, ends.exit, "none holds", "-.->")
        return ends

    def _forked(
        self,
        parts: Sequence[_Ends],
        told: Sequence[str],
        begin: str,
        id: str,
        depth: int,
        *,
        line: str = "-->",
    ) -> _Ends:
        join = self.node(f"{id}_join", '(("{}"))', [" "], depth, "point").exit
        for part, words in zip(parts, told, strict=True):
            self.arrow(begin, part.entry, words, line)
            self.arrow(part.exit, join, line=line)
        return _Ends(begin, join)

    def _star(self, parts: Sequence[_Ends], id: str, by: str, depth: int) -> _Ends:
        hub = self.node(f"{id}_hub", '{{{{"{}"}}}}', [by], depth)
        for part in parts:
            if part.entry == part.exit:
                self.arrow(hub.entry, part.entry, line="<-.->")
            else:
                self.arrow(hub.entry, part.entry, line="-.->")
                self.arrow(part.exit, hub.entry, line="-.->")
        return hub


def escaped(words: str) -> str:
    """The words as they may stand between quotes: what could mean something to Mermaid or HTML is spelt out.

    Dots and strokes within words are harmless and kept, so that names can be read in the text too.
    """
    shown = []
    for index, each in enumerate(words):
        inner = words[index - 1 : index].isalnum() and words[index + 1 : index + 2].isalnum()
        if each.isalnum() or each in _PLAIN or (each in "_-." and inner):
            shown.append(each)
        elif each.isprintable():
            shown.append(f"#{ord(each)};")
        else:  # a control character or half a surrogate pair has no code that a browser would take
            shown.append("#65533;")
    # Mermaid takes a line with "direction LR" in it for a statement, quotes or no quotes.
    return "".join(shown).replace("direction ", "direction#32;") or " "


def _title(agent: Node) -> str:
    key = f" → {agent.output_key}" if agent.output_key else ""
    return shortened(f"{agent.name}{key}")


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]
