"""`"provider:model"` names, resolved through the entry points of the group `aiservices.models`."""

from __future__ import annotations

from importlib.metadata import entry_points
from inspect import signature
from typing import Any, Final

from ..errors import ConfigurationError
from .chat import ChatModel

GROUP: Final = "aiservices.models"


def resolve_chat_model(model: str | ChatModel) -> ChatModel:
    """Give the model itself, or the one that a name such as `openai:gpt-5-mini` or `local` stands for.

    What follows the first colon is handed to the provider's factory; without a colon the factory chooses.
    Raises `ConfigurationError` for an unknown provider, `ImportError` naming the extra to install.
    """
    if isinstance(model, ChatModel):
        return model
    if not isinstance(model, str):
        raise ConfigurationError(
            f"chat_model is a {type(model).__name__}: give a ChatModel or a name such as 'openai:gpt-5-mini'"
        )
    provider, _, name = model.partition(":")
    factory = _factory(provider)
    if not name and _needs_a_name(factory):
        raise ConfigurationError(
            f"the provider {provider!r} has many models: write '{provider}:' and one's name after it"
        )
    made = factory(name) if name else factory()
    if not isinstance(made, ChatModel):
        raise ConfigurationError(f"the provider {provider!r} made a {type(made).__name__}, not a ChatModel")
    return made


def _factory(provider: str) -> Any:
    known = {point.name: point for point in entry_points(group=GROUP)}
    if provider not in known:
        raise ConfigurationError(
            f"no model provider is called {provider!r}: installed are {', '.join(sorted(known)) or 'none'}; "
            "write 'provider:model', or give a ChatModel"
        )
    return known[provider].load()


def _needs_a_name(factory: Any) -> bool:
    try:
        signature(factory).bind()
    except TypeError:
        return True
    except ValueError:  # written in C, it has no signature to ask
        return False
    return False
