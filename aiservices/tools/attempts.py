"""One run of a tool for a call: what it does is noted the moment it has done it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..context import ToolContext
from ..driving import Watch
from ..messages import ToolCall
from .functions import Tool
from .ledger import Done, Effect, Ledger
from .outcomes import ToolOutcome


class Attempt:
    """A run of a tool. Interceptors may cause none for a call, or several.

    The effect of a success is entered in the ledger in the thread where the tool ran, before anything
    around it learns of the success: so it can be undone whatever becomes of the call. `late` is told when a
    run ends that nobody waits for any more; what it did `is_unwanted` when its call was told as failed, or
    when the invocation has failed meanwhile. With `doubted`, a run that was broken off counts as one that may
    have done its work. `done` is set when the call has ended.
    """

    done: Done

    def __init__(
        self,
        tool: Tool[..., Any],
        ran: ToolCall,
        context: ToolContext,
        key: str,
        ledger: Ledger,
        *,
        late: Callable[[Attempt], object] | None,
        doubted: bool = False,
    ) -> None:
        self.tool, self.ran, self.context, self.key = tool, ran, context, key
        self.effect: Effect | None = None
        self.is_over = self.is_unwanted = False
        self.watch = Watch(self._ended, self._ended_late)
        self.ledger = ledger
        self._late = late
        self._doubted = doubted

    def _ended(self, value: Any, error: BaseException | None) -> None:
        self.is_over, self.effect = True, self._effect(value, error)
        if self.effect is not None:
            self.ledger.effects.append(self.effect)

    def _ended_late(self, value: Any, error: BaseException | None) -> None:
        self.effect = effect = self._effect(value, error)
        if effect is not None:
            self.done.effects.append(effect)
            self.is_unwanted = self.done.outcome.is_error or self._is_too_late(effect)
        if self._late is not None:
            self._late(self)

    def _is_too_late(self, effect: Effect) -> bool:
        """Enter an effect, and say whether it missed the undoing of all: whoever does that looks after us."""
        self.ledger.effects.append(effect)
        return self.ledger.undoing is not None and effect.take()

    def _effect(self, value: Any, error: BaseException | None) -> Effect | None:
        if self.tool.undo is None or (isinstance(value, ToolOutcome) and value.is_error):
            return None
        if error is not None and (isinstance(error, Exception) or not self._doubted):
            return None
        order = next(self.ledger.orders)
        effect = Effect(self.tool, self.ran, self.context, self.key, order, certain=error is None)
        if isinstance(value, ToolOutcome):
            effect.value, effect.text = value.value, value.text
        else:
            effect.value = value
        return effect
