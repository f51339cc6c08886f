"""`"provider:model"` names, resolved through entry points: one group for chat, one for embedding models."""

from __future__ import annotations

from importlib.metadata import entry_points
from inspect import signature
from typing import Any, Final, TypeAlias, TypeVar

from ..errors import ConfigurationError
from ..guessing import kind_of
from .chat import ChatModel
from .embedding import EmbeddingFunction, EmbeddingModel, FunctionEmbeddingModel

Model = TypeVar("Model")

GROUP: Final = "aiservices.models"
EMBEDDING_GROUP: Final = "aiservices.embedding_models"

AnyEmbeddingModel: TypeAlias = str | EmbeddingModel | EmbeddingFunction


def resolve_chat_model(model: str | ChatModel) -> ChatModel:
    """Give the model itself, or the one that a name such as `openai:gpt-5-mini` or `local` stands for.

    What follows the first colon is handed to the provider's factory; without a colon the factory chooses.
    Raises `ConfigurationError` for an unknown provider, `ImportError` naming the extra to install.
    """
    if isinstance(model, ChatModel):
        return model
    if not isinstance(model, str):
        raise ConfigurationError(
            f"chat_model is {kind_of(model)}: give a ChatModel or a name such as 'openai:gpt-5-mini'"
        )
    return _made(model, GROUP, ChatModel)


def embedding_model_of(model: AnyEmbeddingModel) -> EmbeddingModel:
    """Give the model itself, or the one that a name or a function stands for.

    Names are such as `openai:text-embedding-3-small` or `local`. A function, synchronous or asynchronous,
    gets a list of texts and gives their vectors. Raises `ConfigurationError` for an unknown provider and
    for anything else, `ImportError` naming the extra to install.
    """
    if isinstance(model, EmbeddingModel):
        return model
    if isinstance(model, str):
        return _made(model, EMBEDDING_GROUP, EmbeddingModel)
    if isinstance(model, type) or not callable(model):
        raise ConfigurationError(
            f"the embedding model is {kind_of(model)}: give an EmbeddingModel, a name such as "
            "'local', or a function that makes vectors of texts"
        )
    return FunctionEmbeddingModel(model)


def _made(model: str, group: str, kind: type[Model]) -> Model:
    provider, _, name = model.partition(":")
    factory = _factory(provider, group, kind)
    if not name and _needs_a_name(factory):
        raise ConfigurationError(
            f"the provider {provider!r} has many models: write '{provider}:' and one's name after it"
        )
    made = factory(name) if name else factory()
    if not isinstance(made, kind):
        raise ConfigurationError(f"the provider {provider!r} made a {type(made).__name__}, not {_a(kind)}")
    return made


def _factory(provider: str, group: str, kind: type) -> Any:
    known = {point.name: point for point in entry_points(group=group)}
    if provider not in known:
        raise ConfigurationError(
            f"no model provider is called {provider!r}: installed are {', '.join(sorted(known)) or 'none'}; "
            f"write 'provider:model', or give {_a(kind)}"
        )
    return known[provider].load()


def _a(kind: type) -> str:
    return f"{'an' if kind.__name__[0] in 'AEIO' else 'a'} {kind.__name__}"


def _needs_a_name(factory: Any) -> bool:
    try:
        signature(factory).bind()
    except TypeError:
        return True
    except ValueError:  # written in C, it has no signature to ask
        return False
    return False
