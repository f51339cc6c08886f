"""The planner loop: ask, call, note, save, ask again. Every composite runs on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, Protocol

from ..driving import KeyedLocks, Promise
from ..errors import AgentError
from .actions import Action, Call, Done, Gathered, Noop, Suspend
from .attempting import Attempted, attempt, seen_by
from .frames import Frame, Open, index_of
from .needs import MISSING
from .node import Here, Node, OnError, Waiting, listed
from .planner import DrivenPlanner, Planner, PlanningContext
from .scope import AgentInvocation

_TURNS: Final = KeyedLocks()


class Planned(Protocol):
    """A composite, as its loop sees it."""

    name: str
    agents: tuple[Node, ...]
    on_error: OnError | None
    timeout: float | None
    make_planner: Callable[[], Planner]


class PlannerLoop:
    """One run of one composite.

    What it was doing is in its frame, so that a run that is resumed goes on there: calls that had not
    finished are made, those that had are not, and the planner hears of each exactly once.
    """

    def __init__(self, composite: Planned, here: Here, frame: Frame | None) -> None:
        self._here = here
        self._run = here.run
        self._driver = here.run.driver
        self._agents = composite.agents
        self._name = composite.name
        self._inside = _inside(composite, here)
        self._planner = composite.make_planner()
        self._context = PlanningContext(
            here.scope, composite.agents, place=here.place.numbers, deadline=self._inside.deadline
        )
        self._frame = frame or Frame()
        self._is_new = frame is None
        self._has_background = False

    async def value(self) -> tuple[Any, str]:
        """The value of the composite and why it ended. Raises `Waiting`, and what its agents raise."""
        await self._driver.call(self._planner.init, self._context)
        await (self._begin() if self._is_new else self._resume())
        await self._advance()
        frame = self._frame
        if frame.suspended:
            await self._save()  # so that it is asked again, and not told the same
            raise Waiting
        if any(each.waiting for each in frame.opens):
            raise Waiting
        assert frame.ended is not None
        value = frame.ended.value
        if value is Gathered.LAST:
            value = frame.last[1]
        elif value is Gathered.ALL:
            value = self._here.scope.history.outputs(self._here.place.numbers, frame.number)
        return value, frame.ended.reason

    async def _begin(self) -> None:
        planner = self._planner
        if isinstance(planner, DrivenPlanner):
            action = await planner.decide(self._context, self._driver)
        else:
            action = await self._driver.call(planner.first_action, self._context)
        self._apply([self._checked(action)])
        await self._save()

    async def _resume(self) -> None:
        frame = self._frame
        await self._driver.call(self._planner.restore, frame.planner)
        frame.opens = [each for each in frame.opens if not (each.heard and each.finished)]
        for each in frame.opens:
            if each.finished is not None and each.told is None and not each.heard:
                await self._tell(each, each.finished)
        if frame.suspended:
            frame.suspended = False
            self._apply([await self._ask(None)])
            await self._save()

    async def _advance(self) -> None:
        """Make calls until there are none to make."""
        while batch := await self._next():
            background = [each for each in batch if self._agents[each.index].background]
            if background:
                await self._beside(background)
                return
            if len(batch) == 1:
                await self._make(batch[0], alone=not self._has_background)
            else:
                await self._driver.gather([self._make(each, alone=False) for each in batch])

    async def _beside(self, background: Sequence[Open]) -> None:
        """Let background agents run beside all that comes after them, and wait for them at the end."""
        self._has_background = True
        jobs = []
        for each in background:
            each.running = True
            agent = self._agents[each.index]
            seen = self._seen(each, agent)
            promise = None if agent.output_key is None else self._here.scope.delay(agent.output_key)
            jobs.append(partial(self._make_apart, each, promise, seen))
            if not each.heard:
                path = self._here.place.within(agent.name, each.number).path
                each.heard = True
                await self._tell(each, AgentInvocation(agent.name, path, {}, None))
        self._take_told()
        await self._driver.gather([self._advance(), *(job() for job in jobs)])

    def _seen(self, each: Open, agent: Node) -> Mapping[str, Any]:
        """What a background agent is to read, whatever comes after it writes; the same after a crash.

        It waits for an earlier one that is to write the same key, so that what it writes itself comes later.
        """
        scope = self._here.scope
        seen = {**seen_by(agent, scope), **(each.seen or {})}
        earlier = None if agent.output_key is None else scope.promise_of(agent.output_key)
        if earlier is not None:
            seen[agent.output_key or ""] = earlier
        each.seen = {
            key: value
            for key, value in seen.items()
            if value is not MISSING and not isinstance(value, Promise)
        }
        return seen

    async def _make_apart(self, each: Open, promise: Promise | None, seen: Mapping[str, Any]) -> None:
        """Make a call in the background; whoever waits for its key goes on when it has ended, well or not."""
        key = self._agents[each.index].output_key
        error: Exception | None = AgentError(f"the agent that was to write {key!r} was cancelled")
        try:
            await self._make(each, alone=False, seen=seen)
            error = Waiting() if each.waiting else None
            if error is None and key is not None and promise is not None:
                self._here.scope.arrived(key, promise)
        except Exception as raised:
            error = raised
            raise
        finally:
            if promise is not None:
                promise.keep(error, None if each.finished is None else each.finished.output)

    async def _make(self, each: Open, *, alone: bool, seen: Mapping[str, Any] | None = None) -> None:
        """Make a call, note what came of it, and ask the planner."""
        agent = self._agents[each.index]
        here = self._within(each, agent, seen)
        try:
            done = await attempt(agent, here)
        except Waiting:
            each.waiting = True
            return
        if alone:
            await self._note(each, agent, here, done)
        else:
            async with self._driver.lock(_TURNS, self):
                await self._note(each, agent, here, done)

    def _within(self, each: Open, agent: Node, seen: Mapping[str, Any] | None) -> Here:
        here = self._inside
        place = here.place.within(agent.name, each.number)
        scope = here.scope
        if each.arguments is not None:
            scope = self._run.apart(scope, place, each.arguments)
        listeners = here.listeners + agent.listeners if agent.listeners else here.listeners
        return Here(here.run, scope, place, listeners, here.handlers, here.deadline, seen)

    async def _note(self, each: Open, agent: Node, here: Here, done: Attempted) -> None:
        invocation = AgentInvocation(agent.name, here.place.path, done.inputs, done.output)
        numbers, record = here.place.numbers, self._run.record

        def change() -> None:
            if not done.skipped:
                if record is not None:
                    record.keep_invocation(
                        numbers, invocation, agent.output_key, composite=agent.is_composite
                    )
                if agent.output_key is not None:
                    here.scope.write(agent.output_key, done.output)
                self._frame.note(each.number, done.output)
                here.scope.history.add(numbers, invocation, composite=agent.is_composite)
            each.finished = invocation
            if record is not None:
                record.forget(numbers, history=False)

        await self._save(change)
        if each.heard:
            self._frame.opens.remove(each)
        else:
            await self._tell(each, invocation)

    async def _tell(self, each: Open, invocation: AgentInvocation) -> None:
        each.told = await self._ask(invocation)
        await self._save()

    async def _ask(self, previous: AgentInvocation | None) -> Action:
        asked = self._context
        context = PlanningContext(asked.scope, asked.agents, previous, asked.place, asked.deadline)
        planner = self._planner
        if isinstance(planner, DrivenPlanner):
            action: Any = await planner.decide(context, self._driver)
        else:
            action = await self._driver.call(planner.next_action, context)
        return self._checked(action)

    def _checked(self, action: Any) -> Action:
        planner = type(self._planner).__name__
        if not isinstance(action, Action):
            raise AgentError(
                f"{self._here.place.path}: the planner {planner} gave {action!r}: give call(...), noop(), "
                "done(...) or suspend()",
                agent=self._name,
            )
        if isinstance(action, Call):
            for step in action.steps:
                try:
                    index_of(step.agent, self._agents)
                except LookupError:
                    raise AgentError(
                        f"{self._here.place.path}: the planner {planner} called {step.agent!r}, which is "
                        "none of its agents: give it one of context.agents, whose names are "
                        f"{listed([agent.name for agent in self._agents])}",
                        agent=self._name,
                    ) from None
        return action

    async def _next(self) -> list[Open]:
        """The calls to make now: those not made yet, and then what the planner wanted when they had ended."""
        if not self._has_background:
            return self._to_run() or self._take_told()
        async with self._driver.lock(_TURNS, self):
            return self._to_run() or self._take_told()

    def _to_run(self) -> list[Open]:
        return [each for each in self._frame.opens if each.is_to_run]

    def _take_told(self) -> list[Open]:
        """Let what the planner wanted take effect, and give the calls that it brings."""
        frame = self._frame
        told = [each for each in frame.opens if each.told is not None]
        if told:
            self._settle(told)
            actions = [each.told for each in told if each.told is not None]
            for each in told:
                each.told = None
                if each.finished is not None:
                    frame.opens.remove(each)
            self._apply(actions)
        return self._to_run()

    def _settle(self, told: Sequence[Open]) -> None:
        """Of agents side by side with one output key the last one counts, whichever ended last."""
        done = [each for each in told if each.finished is not None and each.arguments is None]
        if len(done) < 2:
            return
        written = [self._agents[each.index].output_key for each in done]
        for each, key in zip(done, written, strict=True):
            if key is not None and written.count(key) > 1 and each.finished is not None:
                self._here.scope.write(key, each.finished.output)

    def _apply(self, actions: Sequence[Action]) -> None:
        frame = self._frame
        calls = [step for action in actions if isinstance(action, Call) for step in action.steps]
        for step in calls:
            frame.begin(step, index_of(step.agent, self._agents))
        ended = [action for action in actions if isinstance(action, Done)]
        if ended or calls:
            frame.ended = None if calls else ended[-1]
        frame.suspended = not calls and any(isinstance(action, Suspend) for action in actions)
        if frame.opens or frame.ended is not None or frame.suspended:
            return
        assert any(isinstance(action, Noop) for action in actions)
        raise AgentError(
            f"{self._here.place.path}: the planner {type(self._planner).__name__} gave noop() while nothing "
            "is running, so it would wait for ever: give call(...), done(...) or suspend()",
            agent=self._name,
        )

    async def _save(self, change: Callable[[], None] | None = None) -> None:
        """Save the frame, after a change that an agent running beside this one must not save by halves."""
        record = self._run.record

        def changed() -> None:
            if change is not None:
                change()
            if record is not None:
                self._frame.planner = self._planner.execution_state()
                record.keep_frame(self._here.place, self._frame, self._agents)

        if record is None:
            changed()
        else:
            await record.save(self._driver, changed)


def checked_planner(make: Callable[[], Any]) -> Callable[[], Planner]:
    """The factory, and what it makes is a planner. Raises `AgentError` where it is none."""

    def made() -> Planner:
        planner = make()
        if not isinstance(planner, Planner):
            raise AgentError(f"{make!r} made {planner!r}, which is no Planner: subclass Planner")
        return planner

    return made


def _inside(composite: Planned, here: Here) -> Here:
    """Where the agents of a composite are called: it helps them first, and its time limits theirs."""
    handlers, deadline = here.handlers, here.deadline
    if composite.on_error is not None:
        handlers = (composite.on_error, *handlers)
    if composite.timeout is not None:
        own = time.monotonic() + composite.timeout
        deadline = own if deadline is None else min(own, deadline)
    return replace(here, handlers=handlers, deadline=deadline)
