"""Runs as a page for a browser: one file that asks for nothing, runs no script and shows any text as text."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, reduce
from hashlib import sha256
from importlib.resources import files
from operator import add
from typing import Any, Final

from ...messages import NO_USAGE, TokenUsage
from ..node import Node
from .boxes import box_of
from .calls import CallStatus, MonitoredCall, MonitoredRun
from .texts import duration, number, readable, shown

MOST_CALLS: Final = 1000
_SYMBOLS: Final = {
    CallStatus.RUNNING: "▶",
    CallStatus.COMPLETED: "✓",
    CallStatus.FAILED: "✗",
    CallStatus.SUSPENDED: "‖",
    CallStatus.SKIPPED: "↷",
    CallStatus.CANCELLED: "⊘",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A call as the page shows it. `left` and `width` place its bar, in parts of a hundred of the run."""

    name: str
    path: str
    status: str
    symbol: str
    tags: tuple[str, ...]
    seconds: str
    tokens: str
    left: float
    width: float
    values: tuple[tuple[str, str], ...]
    error: str
    questions: tuple[str, ...]
    is_open: bool
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """A run as the page shows it."""

    row: Row
    name: str
    began: str
    facts: tuple[tuple[str, str], ...]
    is_open: bool
    left_out: int


def page(runs: Sequence[MonitoredRun], agents: Sequence[Node]) -> str:
    """The page: how agents hang together, then the runs, the last one first."""
    cards = [_card(run, is_open=index < 3) for index, run in enumerate(reversed(runs))]
    counts = Counter(run.status for run in runs)
    usage = reduce(add, (run.usage for run in runs), NO_USAGE)
    template, style = _template()
    rendered: str = template.render(
        cards=cards,
        boxes=[box_of(agent) for agent in agents],
        counts=[(status, _SYMBOLS[status], counts[status]) for status in CallStatus if counts[status]],
        tokens=_tokens(usage),
        made=f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC",
        style=style,
        style_hash=b64encode(sha256(style.encode()).digest()).decode(),
    )
    return rendered


def _card(run: MonitoredRun, *, is_open: bool) -> Card:
    below = sum(1 for _ in run.call.walk()) - 1
    facts = [("run", run.run_id)]
    if run.memory_id is not None:
        facts.append(("memory id", shown(run.memory_id)))
    if run.stop_reason not in ("", "done"):
        facts.append(("ended by", readable(run.stop_reason)))
    row = _row(run.call, max(run.seconds, 1e-9), _Budget(MOST_CALLS))
    began = f"{run.began:%Y-%m-%d %H:%M:%S} UTC"
    return Card(row, readable(run.agent), began, tuple(facts), is_open, max(below - MOST_CALLS, 0))


class _Budget:
    """How many calls below the root may still be shown."""

    def __init__(self, most: int) -> None:
        self._left = most

    def of(self, calls: Sequence[MonitoredCall]) -> Iterator[MonitoredCall]:
        for call in calls:
            if not self._left:
                return
            self._left -= 1
            yield call


def _row(call: MonitoredCall, whole: float, budget: _Budget) -> Row:
    values = [(readable(key), shown(value)) for key, value in call.inputs.items()]
    if call.status is CallStatus.COMPLETED:
        values.append(("output", shown(call.output)))
    if call.usage.total and not call.calls:
        values.append(("tokens", f"{number(call.usage.input)} in, {number(call.usage.output)} out"))
    left = min(max(call.began / whole, 0.0), 1.0) * 100
    return Row(
        name=readable(call.agent),
        path=readable(call.path),
        status=call.status.value,
        symbol=_SYMBOLS[call.status],
        tags=_tags(call),
        seconds="" if call.status is CallStatus.SKIPPED else duration(call.seconds),
        tokens=_tokens(call.usage),
        left=left,
        width=min(max(call.seconds / whole * 100, 0.5), 100 - left + 0.5),
        values=tuple(values),
        error=shown(call.error) if call.error else "",
        questions=tuple(map(shown, call.questions)),
        is_open=not call.calls and call.status in (CallStatus.FAILED, CallStatus.SUSPENDED),
        rows=tuple(_row(each, whole, budget) for each in budget.of(call.calls)),
    )


def _tags(call: MonitoredCall) -> tuple[str, ...]:
    tags = []
    if call.iteration > 1:
        tags.append(f"#{number(call.iteration)}")
    if call.attempt > 1:
        tags.append(f"attempt {call.attempt}")
    return tuple(tags)


def _tokens(usage: TokenUsage) -> str:
    if not usage.total:
        return ""
    more = "" if usage.known else "≥ "
    return f"{more}{number(usage.total)} tokens"


@cache
def _template() -> tuple[Any, str]:
    """The template and its style sheet."""
    from jinja2 import Environment, StrictUndefined

    here = files(__name__.rpartition(".")[0])
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string((here / "report.html.jinja").read_text(encoding="utf-8"))
    return template, (here / "report.css").read_text(encoding="utf-8")
