"""A bank whose supervisor gives work to two tellers, who really move money in a ledger.

The model plans: it asks an exchange office, then lets one teller withdraw and the other deposit. The tools of
the tellers have compensations, and the supervisor is made with `compensate=True`: when it fails half-way,
what was moved is moved back. Offline the models are scripted; another is named on the command line:

    python examples/bank_supervisor.py
    python examples/bank_supervisor.py --model openai:gpt-5-mini
"""

import argparse
import json
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Protocol

import aiservices
from aiservices import ChatModel, ToolCall, ToolError, system_message, tool, user_message
from aiservices.agentic import (
    AgentCompleted,
    AgentEvent,
    AgentStarted,
    Completed,
    Failed,
    agent,
    supervisor,
)
from aiservices.testing import ScriptedChatModel

RATES = {("USD", "EUR"): Decimal("0.8"), ("EUR", "USD"): Decimal("1.25")}


@dataclass
class Ledger:
    """The world: accounts in euros, and what was written into them."""

    accounts: dict[str, Decimal] = field(
        default_factory=lambda: {"Mario": Decimal(1000), "Georgios": Decimal(50)}
    )

    def _move(self, user: str, amount: Decimal) -> str:
        if user not in self.accounts:
            raise ToolError(f"There is no account of {user}; there are {', '.join(self.accounts)}.")
        if self.accounts[user] + amount < 0:
            raise ToolError(f"{user} has only {self.accounts[user]} EUR.")
        self.accounts[user] += amount
        print(f"  ledger: {user} {amount:+} EUR, now {self.accounts[user]} EUR")
        return f"{user} has {self.accounts[user]} EUR now"

    @tool
    def withdraw(self, user: str, amount: Decimal) -> str:
        """Take euros from an account."""
        return self._move(user, -amount)

    @withdraw.compensation
    def put_back(self, user: str, amount: Decimal) -> None:
        self._move(user, amount)

    @tool
    def deposit(self, user: str, amount: Decimal) -> str:
        """Put euros on an account."""
        return self._move(user, amount)

    @deposit.compensation
    def take_back(self, user: str, amount: Decimal) -> None:
        self._move(user, -amount)


class WithdrawTeller(Protocol):
    @agent(name="withdraw_teller", description="Withdraws euros from the account of a user.")
    @system_message("You are a teller. Do what is asked with your tools, and say what you did.")
    @user_message("Withdraw {{ amount }} EUR from the account of {{ user }}.")
    def withdraw(self, user: str, amount: Decimal) -> str: ...


class DepositTeller(Protocol):
    @agent(name="deposit_teller", description="Deposits euros on the account of a user.")
    @system_message("You are a teller. Do what is asked with your tools, and say what you did.")
    @user_message("Deposit {{ amount }} EUR on the account of {{ user }}.")
    def deposit(self, user: str, amount: Decimal) -> str: ...


@agent(name="exchange_office")
def exchange(amount: Decimal, source: str, target: str) -> Decimal:
    """Converts an amount between USD and EUR."""
    return amount * RATES[source, target]


def plan(name: str, **arguments: Any) -> str:
    return json.dumps({"agent_name": name, "arguments": arguments})


def tellers() -> ScriptedChatModel:
    """What the tellers' model does: it uses the tool it was asked to use, and reports."""
    return ScriptedChatModel(
        ToolCall("c1", "withdraw", '{"user": "Mario", "amount": 80}'),
        "I withdrew 80 EUR from Mario's account.",
        ToolCall("c2", "deposit", '{"user": "Georgios", "amount": 80}'),
        "I deposited 80 EUR on Georgios' account.",
    )


def planner() -> ScriptedChatModel:
    """What the supervisor's model does; at first it gets a name wrong and is corrected."""
    return ScriptedChatModel(
        plan("exchange", amount=100, source="USD", target="EUR"),
        plan("exchange_office", amount=100, source="USD", target="EUR"),
        plan("withdraw_teller", user="Mario", amount=80),
        plan("deposit_teller", user="Georgios", amount=80),
        plan("done", response="100 USD, which are 80 EUR, went from Mario to Georgios."),
    )


def heard(event: AgentEvent) -> None:
    if isinstance(event, AgentStarted) and event.where.call:
        print(f"{event.agent}({', '.join(f'{key}={value}' for key, value in event.inputs.items())})")
    elif isinstance(event, AgentCompleted) and event.where.call:
        print(f"  gave: {event.output}")


def main(
    chat_model: str | ChatModel | None = None,
    *,
    planning: ChatModel | None = None,
    telling: ChatModel | None = None,
) -> Ledger:
    ledger = Ledger()
    told = chat_model or telling or tellers()
    withdrawing = aiservices.create(WithdrawTeller, chat_model=told, tools=[ledger.withdraw])
    depositing = aiservices.create(DepositTeller, chat_model=told, tools=[ledger.deposit])
    bank = supervisor(
        withdrawing,
        depositing,
        exchange,
        chat_model=chat_model or planning or planner(),
        supervisor_context="Accounts are in EUR. Withdraw before you deposit.",
        compensate=True,
        listeners=[heard],
    )
    outcome = bank.run(request="Transfer 100 USD from Mario's account to Georgios' account.")
    match outcome:
        case Completed(value):
            print(value)
        case Failed(error):
            print(f"failed: {error}")
    return ledger


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--model")
    main(parser.parse_args().model)
