"""The embedded model with its real weights; one engine for the whole session, as loading takes a second."""

from collections.abc import Iterator

import pytest

from aiservices.errors import ModelNotFoundError
from aiservices.models.local import LocalChatModel
from aiservices.models.local.weights import Weights, find_weights


@pytest.fixture(scope="session")
def weights() -> Weights:
    try:
        return find_weights("smollm2-135m")
    except ModelNotFoundError as error:
        pytest.fail(f"{error}\nThese tests run the real model: `make model`, or the command above.")


@pytest.fixture(scope="session")
def model(weights: Weights) -> Iterator[LocalChatModel]:
    model = LocalChatModel(weights.name, context=2048, slots=2)
    yield model
    model.close()
