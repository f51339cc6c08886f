"""`super()` in the methods of a Protocol: it reaches what the model answers, too."""

import asyncio
from typing import Protocol, runtime_checkable

import aiservices
from aiservices import user_message
from aiservices.testing import ScriptedChatModel
from tests.declarations import problems_of


@runtime_checkable
class Parent(Protocol):
    def ask(self, t: str) -> str: ...

    def repeat(self, t: str) -> str:
        return self.ask(t)


def test_a_body_reaches_the_stub_that_it_overrides_by_way_of_super() -> None:
    """the proxy is a subclass of the Protocol, so that `super()` works."""

    class Child(Parent, Protocol):
        @user_message("{{ t }}, please")
        def ask(self, t: str) -> str:
            return f"<{super().ask(t)}>"

        def repeat(self, t: str) -> str:
            return super().repeat(t) + super().ask(t)

    class Grandchild(Child, Protocol):
        def ask(self, t: str) -> str:
            return f"[{super().ask(t)}]"

        async def later(self, t: str) -> str: ...

    with ScriptedChatModel("a", "b", "c", "d") as model:
        service = aiservices.create(Grandchild, chat_model=model)
        assert service.ask("x") == "[<a>]"
        assert service.repeat("y") == "[<b>]c"
        assert asyncio.run(service.later("z")) == "d"
    assert [request.messages[-1].text for request in model.requests] == ["x", "y", "y", "z"]
    assert isinstance(service, Parent)


def test_super_reaches_the_stubs_of_several_parents_in_the_order_of_python() -> None:
    class Left(Parent, Protocol):
        @user_message("left {{ t }}")
        def ask(self, t: str) -> str: ...

    class Right(Parent, Protocol):
        @user_message("right {{ t }}")
        def ask(self, t: str) -> str: ...

    class Both(Left, Right, Protocol):
        def ask(self, t: str) -> str:
            return super().ask(t) + super(Left, self).ask(t) + super(Right, self).ask(t)

    with ScriptedChatModel("a", "b", "c") as model:
        assert aiservices.create(Both, chat_model=model).ask("x") == "abc"
    assert [request.messages[-1].text for request in model.requests] == ["left x", "right x", "x"]


def test_what_super_reaches_is_checked_with_the_rest() -> None:
    class Wrong(Protocol):
        @user_message("{{ nope }}")
        def ask(self, t: str) -> str: ...

    class Child(Wrong, Protocol):
        def ask(self, t: str) -> str:
            return super().ask(t)

        def other(self, t: str) -> str: ...

    assert "Child.ask: user message: the template uses 'nope'" in problems_of(Child)[0]
