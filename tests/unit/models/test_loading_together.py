"""Models of several kinds, each loaded by a thread of its own at the same time."""

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.helpers import tiny_vlm
from tests.helpers.tiny_transformers import write_tiny_bert, write_tiny_sam
from viewer.domain.exchange import ModelProfile
from viewer.models.catalog import ADAPTERS, missing_dependency
from viewer.models.loaded import LoadState, silent
from viewer.models.next_sentence import NextSentence
from viewer.models.prompted import PromptedSegmenter
from viewer.models.transformers_local.adapter import TransformersLocal

MISSING = missing_dependency(ADAPTERS["transformers_local"])
pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
ROUNDS = 5
Held = TransformersLocal | PromptedSegmenter | NextSentence


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Mapping[type[Held], Path]:
    home = tmp_path_factory.mktemp("models")
    return {
        TransformersLocal: tiny_vlm.build("llava", home / "llava"),
        PromptedSegmenter: write_tiny_sam(home / "sam"),
        NextSentence: write_tiny_bert(home / "bert"),
    }


def test_that_models_loaded_at_the_same_time_do_not_disturb_one_another(
    folders: Mapping[type[Held], Path],
) -> None:
    for _ in range(ROUNDS):
        models = [
            kind(ModelProfile("m", "", {"model": str(folder), "device": "cpu"}))
            for kind, folder in folders.items()
        ]
        with ThreadPoolExecutor(len(models)) as pool:
            loadings = [pool.submit(m.load, silent, threading.Event()) for m in models]
            for loading in loadings:
                loading.result(60)
        assert [model.state for model in models] == [LoadState.LOADED] * len(models)
