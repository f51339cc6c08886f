"""`"provider:model"` names are looked up among the installed entry points."""

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from aiservices.errors import ConfigurationError, MissingExtraError
from aiservices.messages import AiMessage, ChatRequest, ChatResponse
from aiservices.models import ChatModel, naming, resolve_chat_model


class Named(ChatModel):
    def __init__(self, name: str) -> None:
        self.name = name

    def chat(self, request: ChatRequest) -> ChatResponse:
        return ChatResponse(AiMessage(self.name))


class Choosing(Named):
    def __init__(self, name: str = "the usual") -> None:
        super().__init__(name)


def missing(name: str) -> ChatModel:
    raise MissingExtraError("this provider", extra="some")


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def point(name: str, function: str) -> EntryPoint:
        return EntryPoint(name, f"{__name__}:{function}", naming.GROUP)

    points = [point("named", "Named"), point("choosing", "Choosing"), point("str", "str")]
    points += [point("missing", "missing"), EntryPoint("gone", "no_such_module:Model", naming.GROUP)]
    points[2] = EntryPoint("str", "builtins:str", naming.GROUP)
    monkeypatch.setattr(EntryPoint, "load", _load(EntryPoint.load))
    monkeypatch.setattr(naming, "entry_points", lambda group: points)


def _load(load: Any) -> Any:
    def loading(point: EntryPoint) -> Any:
        here = point.value.startswith(__name__)
        return globals()[point.attr] if here else load(point)

    return loading


@pytest.mark.parametrize(
    ("name", "model_name"),
    [
        ("named:small", "small"),
        ("named:vendor/llama3:8b", "vendor/llama3:8b"),
        ("choosing:small", "small"),
        ("choosing", "the usual"),
        ("choosing:", "the usual"),
    ],
)
def test_what_follows_the_first_colon_is_the_models_name(name: str, model_name: str) -> None:
    model = resolve_chat_model(name)
    assert isinstance(model, Named)
    assert model.name == model_name


def test_a_model_stands_for_itself() -> None:
    model = Named("mine")
    assert resolve_chat_model(model) is model


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        (
            "nobody:small",
            "no model provider is called 'nobody': installed are choosing, gone, missing, named",
        ),
        ("", "no model provider is called ''"),
        ("named", "the provider 'named' has many models: write 'named:' and one's name after it"),
        ("named:", "has many models"),
        ("str:x", "the provider 'str' made a str, not a ChatModel"),
        (None, "chat_model is None: give a ChatModel or a name"),
        (Named, "chat_model is the class Named: give a ChatModel"),
    ],
)
def test_a_wrong_name_is_a_configuration_error_that_says_what_to_write(name: Any, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        resolve_chat_model(name)


def test_an_extra_that_is_not_installed_is_named() -> None:
    with pytest.raises(ImportError, match=r"pip install 'aiservices\[some\]'"):
        resolve_chat_model("missing:x")


def test_a_provider_whose_module_is_gone_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="no_such_module"):
        resolve_chat_model("gone:x")
