"""A model of real size on a GPU, where there is one; printed, never asserted."""

import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers import tiny_vlm
from tests.helpers.requests import facts, png_of, request
from tests.helpers.tiny_vlm import local_model
from viewer.models.catalog import ADAPTERS, missing_dependency
from viewer.models.loaded import silent

QUESTIONS, BATCH, TOKENS = 100, 10, 32
GIB = float(1 << 30)


def skip_without_gpu() -> None:
    missing = missing_dependency(ADAPTERS["transformers_local"])
    if missing is not None:
        pytest.skip(missing)
    import torch

    if not torch.cuda.is_available():
        pytest.skip("this machine has no GPU: throughput on one is not measured")


def test_how_fast_a_model_shaped_as_gemma_3_4b_answers(tmp_path: Path) -> None:
    skip_without_gpu()
    import torch

    with torch.device("cuda"):
        torch.set_default_dtype(torch.bfloat16)
        model, pieces = tiny_vlm.gemma3(tiny_vlm.GEMMA_4B)
        torch.set_default_dtype(torch.float32)
    tiny_vlm.save(tmp_path / "gemma", model, pieces)
    del model
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    assert measure(tmp_path / "gemma", "cuda", QUESTIONS) == QUESTIONS
    print(f"peak {torch.cuda.max_memory_allocated() / GIB:.1f} GiB of GPU memory")


def measure(folder: Path, device: str, n: int) -> int:
    """Print how long a model takes to load and to answer ``n`` questions.

    Returns how many of them it answered with at least one token.
    """
    settings: dict[str, Any] = {"batch_size": BATCH, "max_new_tokens": TOKENS}
    model = local_model(folder, device=device, **settings)
    start = time.perf_counter()
    model.load(silent, threading.Event())
    print(f"loaded in {time.perf_counter() - start:.1f} s", end=", ")
    print(f"{model.memory_bytes() / GIB:.1f} GiB of weights")
    rng = np.random.default_rng(0)
    sent = [png_of(rng.integers(0, 256, (896, 896), dtype=np.uint8)) for _ in range(n)]
    start = time.perf_counter()
    with used_percent(device) as used, ThreadPoolExecutor(2 * BATCH) as pool:
        raw = list(
            pool.map(lambda png: model.generate(request(facts(), png=png)), sent)
        )
    seconds = time.perf_counter() - start
    lengths = [model.read(one).usage.tokens_out or 0 for one in raw]
    tokens = sum(lengths)
    print(
        f"{n} questions in {seconds:.1f} s: {n / seconds:.2f} a second, "
        f"{tokens / seconds:.0f} tokens a second; GPU used {np.mean(used or [0]):.0f} %"
    )
    model.unload()
    return sum(length > 0 for length in lengths)


@contextmanager
def used_percent(device: str) -> Iterator[list[int]]:
    """Yield a list that grows by the GPU's use in percent, once a second."""
    used: list[int] = []
    done = threading.Event()

    def look() -> None:
        query = "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"
        while device == "cuda" and not done.wait(1):
            told = subprocess.run(
                ["nvidia-smi", *query], capture_output=True, text=True, check=True
            )
            used.append(int(told.stdout.splitlines()[0]))

    watching = threading.Thread(target=look)
    watching.start()
    try:
        yield used
    finally:
        done.set()
        watching.join()
