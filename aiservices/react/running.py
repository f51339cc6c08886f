"""One run of a thread: from node to node, with a checkpoint after each."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Coroutine, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from ..driving import Driver, Emit
from ..errors import AiServiceError, ConfigurationError, LimitExceededError
from ..events import Restarted
from ..invocation import changed
from ..messages import (
    NO_USAGE,
    AiMessage,
    ChatMessage,
    ChatResponse,
    FrozenMapping,
    ModelEvent,
    ToolCall,
)
from ..skills import activated_in
from ..tools import (
    ToolRegistry,
    check_tokens,
    ids_in,
    in_turns,
    is_immediate,
    remaining,
    with_unique_ids,
)
from .acting import UPDATES, Acting, completed
from .decisions import Decision, Edit, check_edits, read_decisions
from .hooks import Hooked, Update
from .records import ACTION, AGENT, END, START, Checkpoint, Progress, has_open_round, open_calls
from .requesting import Requesting
from .setup import Setup
from .state import AgentState, NodeOutput, StopReason, kept_by
from .updating import closed, results_saying

Outbox: TypeAlias = deque[NodeOutput]


class Run:
    """A run while it runs, a new one where it has no `progress` yet.

    With an `outbox` its reader finds there what happens, as it happens.
    """

    def __init__(
        self,
        setup: Setup,
        driver: Driver,
        keeper: object,
        checkpoint: Checkpoint | None,
        *,
        progress: Progress | None = None,
        outbox: Outbox | None = None,
        tokens: bool = False,
    ) -> None:
        timeout = setup.limits.timeout
        deadline = None if timeout is None else time.monotonic() + timeout
        self._setup = setup
        self._driver = driver
        self._keeper = keeper
        self._at = checkpoint
        self._outbox = outbox
        self._progress = progress = progress or Progress(os.urandom(16).hex())
        show = self._show if tokens else None
        self._requesting = Requesting(setup, driver, progress.run_id, deadline, show=show)
        self._deadline = deadline
        self._latest = None if tokens else deadline  # whoever reads an answer may take their time
        self._acting: Acting
        self._tools: ToolRegistry  # of the open round

    @property
    def state(self) -> AgentState:
        """The state of the last checkpoint, for others: whatever they do to it, the checkpoint stays."""
        return self._saved if self._keeper is None else kept_by(self._saved, self._keeper)

    async def begin(self, thread_id: str, messages: Sequence[ChatMessage]) -> AgentState:
        """A new turn: what was said before, what is said now, and all that follows."""
        before = None if self._at is None else self._at.state
        if before is None:
            before = AgentState(thread_id, channels=self._setup.channels.initial())
        elif self._at is not None:
            before = await closed(self._setup, self._driver, before, self._at.progress)
        state = changed(
            before,
            messages=(*before.messages, *messages),
            final_response=None,
            stop_reason=None,
            pending=(),
            value=None,
        )
        await self._leave(state, START, AGENT)
        return await self._go()

    async def resume(self, decision: object) -> AgentState:
        """Go on from the checkpoint; where decisions are still missing nothing runs."""
        if decision is not None:
            await self._decide(decision)
        at = self._at
        assert at is not None
        stays = at.next == END or bool(at.state.pending)
        if not stays and at.state.stop_reason is not None:  # a limit has ended it
            await self._save(changed(at.state, stop_reason=None), at.node, at.next)
        if self._outbox is not None:
            await self._emit(self._outbox, at.node)
        return self.state if stays else await self._go()

    async def _go(self) -> AgentState:
        assert self._at is not None
        progress = self._progress
        thread_id = self._at.state.thread_id
        self._acting = Acting(self._setup, self._driver, thread_id, progress.run_id, self._deadline)
        message = open_calls(self._at.state) if self._at.next == ACTION else None
        try:
            if message is not None:
                await self._take_up(message)
            await in_turns(self._ask, self._act, message=message)
        except Exception as error:
            self._tell(error)
            raise
        if self._at.next == END:
            if self._setup.release_thread:
                await self._setup.threads.release(self._driver, thread_id)
            if self._outbox is not None:
                await self._emit(self._outbox, END)
        return self.state

    async def _take_up(self, message: AiMessage) -> None:
        """Learn what a run knows that has asked for these calls itself."""
        state = self._saved
        self._tools = await self._offered(state)
        await self._acting.notes.learn(message.tool_calls, self._progress)
        if not self._progress.is_judged:
            guarded = await self._acting.guarded(message, self._tools, state)
            self._progress = changed(self._progress, guarded=guarded, is_judged=True)

    def _tell(self, error: Exception) -> None:
        """Let the error tell what was done, and where it can be gone on from."""
        assert self._at is not None
        node, thread_id = self._at.node, self._at.state.thread_id
        error.add_note(f"in a run of {self._setup.name!r} on thread {thread_id!r}, after the node {node!r}")
        if isinstance(error, AiServiceError):
            error.responses = responses = tuple(self._requesting.responses)
            error.usage = sum((response.usage for response in responses), NO_USAGE)
            error.tool_executions = self._acting.ledger.executions

    async def _ask(self) -> AiMessage | None:
        """The agent node. Gives the answer where its calls are to run now."""
        state, setup, at = self._saved, self._setup, self._at
        assert at is not None
        hooked, asked = Hooked(self._driver, AGENT, state), len(self._requesting.responses)
        self._requesting.registry = None
        try:
            left = None if setup.max_steps is None else setup.max_steps - self._progress.steps
            update = await hooked.run(setup.agent_hooks, partial(self._requesting.ask, left))
        except LimitExceededError:
            self._count(self._requesting.responses[asked:])
            await self._stop_at_limit(state, at.node)
            raise
        self._count(self._requesting.responses[asked:], least=1)  # a hook that answers takes a step, too
        self._keep_ids(state, hooked.state)
        after = self._updated(hooked.state, update, AGENT)
        if setup.agent_hooks or setup.action_hooks:
            after = self._paired(after, len(hooked.state.messages))
        return await self._answered(after)

    def _count(self, answers: Sequence[ChatResponse], *, least: int = 0) -> None:
        """Count what the model was asked for."""
        usage, steps = self._progress.usage, self._progress.steps + max(len(answers), least)
        for response in answers:
            usage += response.usage
        self._progress = changed(self._progress, steps=steps, usage=usage)

    def _keep_ids(self, state: AgentState, then: AgentState) -> None:
        """Keep the ids of calls that hooks have left out of the state: other calls must not take them."""
        if then.messages is not state.messages:
            gone = ids_in(state.messages) - ids_in(then.messages)
            if gone:
                self._progress = changed(self._progress, forgotten=self._progress.forgotten | gone)

    def _paired(self, state: AgentState, begins: int) -> AgentState:
        """The state in which each call of the run can be told by its id, whatever hooks left out or said.

        Raises `ConfigurationError` where the messages from `begins` on leave calls without results.
        """
        if has_open_round(state.messages[begins:]):
            raise ConfigurationError(
                "the update of the node 'agent' has calls without results before its last message: an answer "
                "with calls comes last"
            )
        message = open_calls(state)
        if message is None:
            return state
        unique = with_unique_ids(message, ids_in(state.messages[:-1]) | self._progress.forgotten)
        return changed(state, messages=(*state.messages[:-1], unique))

    async def _answered(self, state: AgentState) -> AiMessage | None:
        """Keep what the agent node came to, and decide what comes next."""
        message = open_calls(state)
        if message is None:
            await self._finish(state, AGENT)
            return None
        if state.stop_reason is not None:  # if the answer was cut off, so may be its last call
            results = results_saying(f"The call did not run: {_why_not(state)}.", message.tool_calls)
            state = changed(state, messages=(*state.messages, *results))
            await self._finish(state, AGENT)
            return None
        self._tools = await self._offered(state)
        guarded = await self._acting.guarded(message, self._tools, state)
        offered = self._requesting.skills
        skills = None if offered == state.active_skills else offered
        self._progress = self._progress.with_round(guarded, skills=skills)
        all_wait = len(guarded) == len(message.tool_calls)
        await self._leave(self._waiting(state, message) if all_wait else state, AGENT, ACTION)
        return None if all_wait else message

    async def _act(self, message: AiMessage) -> bool:
        """The action node; says whether the model is to be asked again."""
        state, hooks = self._saved, self._setup.action_hooks
        hooked = Hooked(self._driver, ACTION, state)
        try:
            counts = self._acting.check(message, self._progress)
            update = await hooked.run(hooks, lambda state: self._run_tools(message))
        except LimitExceededError as error:
            await self._stop_at_limit(self._with_results(state, message, error), ACTION)
            await self._acting.notes.forget(message.tool_calls)
            raise
        except BaseException as error:
            await self._acting.notes.rescue(error)
            raise
        self._keep_ids(state, hooked.state)
        if self._progress.undecided:
            self._progress = changed(self._progress, results=tuple(self._acting.notes.ended.values()))
            await self._leave(self._waiting(hooked.state, message), ACTION, ACTION)
            return False
        if hooks:
            update = completed(update, message)
        results = update["messages"][: len(message.tool_calls)]
        state = self._updated(hooked.state, update, ACTION)
        if opened := activated_in(results):
            skills = tuple(dict.fromkeys((*state.active_skills, *opened)))
            state = changed(state, active_skills=skills)
        rounds = self._progress.rounds + 1
        self._progress = changed(self._progress.with_round(), rounds=rounds, counts=FrozenMapping(counts))
        return await self._acted(state, message, results)

    async def _acted(self, state: AgentState, message: AiMessage, results: Sequence[Any]) -> bool:
        ending: dict[str, Any] = {}
        most = self._setup.max_steps
        if state.stop_reason is not None:  # a hook has ended the run
            ending = {"stop_reason": state.stop_reason, "value": self._setup.answers.known(state)}
        elif is_immediate(results, self._tools):
            text = "\n".join(result.text for result in results)
            ending = {"stop_reason": StopReason.IMMEDIATE, "final_response": text}
        elif most is not None and self._progress.steps >= most:
            ending = {"stop_reason": StopReason.MAX_STEPS}
        if ending or state.pending:
            state = changed(state, pending=(), **ending)
        await self._leave(state, ACTION, END if ending else AGENT, told=message.tool_calls)
        return not ending

    async def _offered(self, state: AgentState) -> ToolRegistry:
        """The tools of the open round; where nothing was asked for it, those that would be offered now."""
        if self._requesting.registry is not None:
            return self._requesting.registry
        if self._progress.skills is not None:
            state = changed(state, active_skills=self._progress.skills)
        return await self._requesting.offer_again(state)

    def _run_tools(self, message: AiMessage) -> Coroutine[Any, Any, Update]:
        return self._acting.act(message, self._tools, self._progress)

    async def _finish(self, state: AgentState, node: str) -> None:
        try:
            check_tokens(self._setup.limits, self._progress.usage)
            remaining(self._latest)
        except LimitExceededError:
            await self._save(changed(state, stop_reason=StopReason.LIMIT), node, END)
            raise
        reason = state.stop_reason or StopReason.FINAL
        value = None
        if reason is StopReason.FINAL and state.final_response is not None:
            value = self._setup.answers.read(state.final_response)
        await self._leave(changed(state, stop_reason=reason, value=value), node, END)

    async def _stop_at_limit(self, state: AgentState, node: str) -> None:
        self._progress = self._progress.with_round()
        await self._save(changed(state, stop_reason=StopReason.LIMIT, pending=()), node, AGENT)

    def _with_results(self, state: AgentState, message: AiMessage, error: LimitExceededError) -> AgentState:
        """The state with a result for each call of a round that a limit has ended."""
        known = {done.call.id: done.result for done in self._acting.ledger.requested}
        known |= self._acting.notes.ended
        missing = [call for call in message.tool_calls if call.id not in known]
        refused = self._acting.refuse(missing, self._tools, error)
        known |= {item.tool_call_id: item for item in refused}
        results = tuple(known[call.id] for call in message.tool_calls)
        return changed(state, messages=(*state.messages, *results))

    def _waiting(self, state: AgentState, message: AiMessage) -> AgentState:
        undecided = self._progress.undecided
        pending = tuple(call for call in message.tool_calls if call.id in undecided)
        return changed(state, pending=pending, stop_reason=StopReason.INTERRUPTED)

    async def read(self, decision: object) -> Mapping[str, Decision]:
        """The decisions by call id. Raises `AgentError` for what decides nothing that waits here."""
        assert self._at is not None
        state = self._at.state
        decisions = read_decisions(decision, state.pending, state.thread_id)
        if any(isinstance(item, Edit) for item in decisions.values()):
            check_edits(decisions, state.pending, await self._offered(state), state.thread_id)
        return decisions

    async def _decide(self, decision: object) -> None:
        assert self._at is not None
        state, decisions = self._at.state, await self.read(decision)
        self._progress = changed(
            self._progress, decisions=FrozenMapping({**self._progress.decisions, **decisions})
        )
        pending = tuple(call for call in state.pending if call.id not in decisions)
        reason = StopReason.INTERRUPTED if pending else None
        state = changed(state, pending=pending, stop_reason=reason)
        await self._save(state, self._at.node, self._at.next)

    def _updated(self, state: AgentState, update: Update, node: str) -> AgentState:
        return self._setup.channels.updated(state, update, UPDATES[node])

    @property
    def _saved(self) -> AgentState:
        assert self._at is not None
        return self._setup.channels.copied(self._at.state)

    async def _save(self, state: AgentState, node: str, then: str) -> None:
        saving = self._setup.threads.save(self._driver, state, (node, then), self._progress, self._at)
        self._at = await saving

    async def _leave(self, state: AgentState, node: str, then: str, told: Sequence[ToolCall] = ()) -> None:
        """Keep what a node came to, with it what was `told` of calls, and let the reader know."""
        await self._save(state, node, then)
        if told:
            await self._acting.notes.forget(told)
        if self._outbox is not None:
            await self._emit(self._outbox, node)

    async def _emit(self, outbox: Outbox, node: str) -> None:
        outbox.append(NodeOutput(node, self.state))
        await Emit(outbox)

    async def _show(self, event: ModelEvent | Restarted) -> None:
        """Within a blocking hook nobody can read along: what comes there is read when the hook is done."""
        assert self._outbox is not None
        self._outbox.append(NodeOutput(AGENT, self.state, event))
        await Emit(self._outbox)


def _why_not(state: AgentState) -> str:
    """Why the calls of the last answer do not run, though no limit forbids it."""
    was_cut_off = state.stop_reason in (StopReason.LENGTH, StopReason.CONTENT_FILTER)
    return "the answer was cut off" if was_cut_off else "a hook ended the run"
