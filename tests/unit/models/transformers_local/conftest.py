"""Tiny models of every family, each saved and loaded once for all tests."""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.helpers import tiny_vlm
from tests.helpers.tiny_vlm import local_model
from viewer.models.catalog import ADAPTERS, missing_dependency
from viewer.models.transformers_local.adapter import TransformersLocal

MISSING = missing_dependency(ADAPTERS["transformers_local"])


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function from a family to its tiny model's folder."""
    if MISSING is not None:
        pytest.skip(MISSING)
    home = tmp_path_factory.mktemp("tiny-models")
    return functools.cache(lambda family: tiny_vlm.build(family, home / family))


@pytest.fixture(scope="session")
def model_of(
    folder_of: Callable[[str], Path],
) -> Iterator[Callable[[str], TransformersLocal]]:
    """Return a function from a family to its tiny model, eager and on the CPU."""

    @functools.cache
    def made(family: str) -> TransformersLocal:
        return local_model(folder_of(family), attention="eager", max_new_tokens=6)

    yield made
    made.cache_clear()
