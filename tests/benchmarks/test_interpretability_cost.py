"""What highlights and measures cost per 100 items; printed, never asserted."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from statistics import mean

import numpy as np
import pytest

from tests.benchmarks.test_local_gpu import full_size, skip_without_gpu
from tests.helpers import tiny_vlm
from tests.helpers.requests import facts, png_of, request
from tests.helpers.tiny_vlm import local_model
from viewer.domain.exchange import ModelRequest
from viewer.domain.interpretability import (
    Highlight,
    Measures,
    QueryPosition,
    letter_spellings,
)
from viewer.domain.reference import Mask
from viewer.models.catalog import ADAPTERS, missing_dependency
from viewer.models.transformers_local.adapter import TransformersLocal

TOKENS = 32
FAMILIES = ("llava", "gemma3", "idefics3", "qwen2_5_vl")


def ways(side: int) -> Mapping[str, ModelRequest]:
    """Return a question asked plainly with a highlight and with every measure."""
    pixels = np.random.default_rng(0).integers(0, 256, (side, side), dtype=np.uint8)
    mask = np.zeros((side, side), dtype=np.bool_)
    mask[side // 4 : side // 2, side // 4 : side // 2] = True
    plain = request(facts(), png=png_of(pixels))
    light = Highlight(Mask.of_array(mask))
    letters = Measures(letter_spellings("ABCD"), answer=False)
    attention = Measures((), (), QueryPosition.LAST_PROMPT, answer=False)
    return {
        "plain": plain,
        "highlighted": replace(plain, highlight=replace(light, contrast=1.0)),
        "highlighted and contrasted": replace(plain, highlight=light),
        "letters": replace(plain, measures=letters),
        "attention by section": replace(plain, measures=attention),
    }


def measure(model: TransformersLocal, side: int, items: int) -> int:
    """Print the cost of each way per 100 items; return how many were answered."""
    answered = 0
    for way, asked in ways(side).items():
        model.generate(asked)  # what is compiled once is none of the cost
        replies = [model.read(model.generate(asked)) for _ in range(items)]
        seconds = mean(reply.latency_ms for reply in replies) / 1000 * 100
        peak = max(reply.peak_memory_bytes or 0 for reply in replies) / 2**20
        print(f"{way}: {seconds:.2f} s per 100 items, peak {peak:.0f} MiB")
        answered += len(replies)
    model.unload()
    return answered


@pytest.mark.parametrize("family", FAMILIES)
def test_what_it_costs_in_a_tiny_model(family: str, tmp_path: Path) -> None:
    missing = missing_dependency(ADAPTERS["transformers_local"])
    if missing is not None:
        pytest.skip(missing)
    print(f"\n{family}")
    folder = tiny_vlm.build(family, tmp_path / family)
    model = local_model(folder, attention="eager", max_new_tokens=TOKENS)
    assert measure(model, 160, 20) == 100


def test_what_it_costs_in_a_model_shaped_as_gemma_3_4b(tmp_path: Path) -> None:
    skip_without_gpu()
    with full_size("gemma3", tmp_path / "gemma") as folder:
        model = local_model(
            folder, device="cuda", attention="eager", max_new_tokens=TOKENS
        )
        assert measure(model, 896, 10) == 50
