"""Mistakes that type checkers find (TYP-08). Each has its ignore: an error that gets lost shows as unused."""

from __future__ import annotations

from typing import Protocol

import aiservices
from aiservices import AiServices, ai_service, system_message, user_message


class Asker(Protocol):
    @user_message("{{ text }}")
    def ask(self, text: str, n: int = 1) -> str: ...

    async def later(self, text: str) -> int: ...


asker = aiservices.create(Asker, chat_model="local")

# Calls
asker.ask(1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
asker.ask()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
asker.ask("x", "y")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
asker.ask("x", m=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
asker.nope  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnusedExpression]  # noqa: B018
number: int = asker.ask("x")  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
text: str = asker.later("x")  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
Asker.ask(asker, 1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# Options
aiservices.create(Asker, chat_model=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
aiservices.create(Asker, nope=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
aiservices.create(Asker, parse_retries="1")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
aiservices.create(Asker, system_message=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
aiservices.create(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
AiServices("local")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
AiServices(nope=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
AiServices().chat_model = "local"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]

# Decorators
user_message(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
system_message(resource=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
user_message("x")(3)  # type: ignore[type-var]  # pyright: ignore[reportArgumentType]
ai_service(3)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
ai_service(nope=1)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
