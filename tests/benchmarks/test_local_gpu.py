"""Models of seven families at real size on a GPU; printed, never asserted."""

import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from tests.helpers import tiny_vlm
from tests.helpers.requests import facts, png_of, request
from tests.helpers.tiny_vlm import local_model
from viewer.domain.exchange import ModelReply, ModelRequest
from viewer.domain.interpretability import Measures, QueryPosition
from viewer.models.catalog import ADAPTERS, missing_dependency
from viewer.models.loaded import silent
from viewer.models.transformers_local.adapter import TransformersLocal
from viewer.models.transformers_local.files import model_files
from viewer.models.transformers_local.loading import release_memory
from viewer.models.transformers_local.memory import attended_bytes, needed_bytes

ONE_BY_ONE, TOGETHER, BATCH, TOKENS, SIDE = 3, 40, 10, 32, 896
GIB: Final = float(1 << 30)

_SIGLIP: Final = {
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "num_hidden_layers": 27,
    "num_attention_heads": 16,
    "patch_size": 14,
}
_LLAMA: Final = {
    "hidden_size": 3072,
    "intermediate_size": 8192,
    "num_hidden_layers": 32,
    "num_attention_heads": 24,
    "num_key_value_heads": 8,
    "vocab_size": 128_256,
    "max_position_embeddings": 8192,
}
FOUR_BILLION: Final[Mapping[str, Mapping[str, Any]]] = {
    "llava": {
        "text": _LLAMA,
        "vision": {
            "hidden_size": 1024,
            "intermediate_size": 4096,
            "num_hidden_layers": 24,
            "num_attention_heads": 16,
            "image_size": 336,
        },
    },
    "gemma3": {
        "text": {
            "hidden_size": 2560,
            "intermediate_size": 10_240,
            "num_hidden_layers": 34,
            "num_attention_heads": 8,
            "num_key_value_heads": 4,
            "head_dim": 256,
            "sliding_window": 1024,
            "vocab_size": 262_208,
        },
        "vision": {**_SIGLIP, "image_size": 896},
        "pooled": 4,
    },
    "idefics3": {"text": _LLAMA, "vision": {**_SIGLIP, "image_size": 364}},
    "smolvlm": {"text": _LLAMA, "vision": {**_SIGLIP, "image_size": 378}, "scale": 3},
    "paligemma": {
        "text": {
            "hidden_size": 2048,
            "intermediate_size": 16_384,
            "num_hidden_layers": 26,
            "num_attention_heads": 8,
            "num_key_value_heads": 1,
            "head_dim": 256,
            "vocab_size": 257_216,
        },
        "vision": {**_SIGLIP, "image_size": 448},
    },
    "qwen2_5_vl": {
        "text": {
            "hidden_size": 2560,
            "intermediate_size": 9728,
            "num_hidden_layers": 36,
            "num_attention_heads": 20,
            "num_key_value_heads": 4,
            "vocab_size": 151_936,
            "max_position_embeddings": 32_768,
            "rope_parameters": tiny_vlm.rope(16, 24, 24),
        },
        "vision": {
            "depth": 32,
            "hidden_size": 1280,
            "intermediate_size": 3420,
            "num_heads": 16,
            "out_hidden_size": 2560,
            "fullatt_block_indexes": [7, 15, 23, 31],
            "window_size": 112,
        },
        "pixels": 1280 * 28 * 28,
    },
    "qwen3_vl": {
        "text": {
            "hidden_size": 2560,
            "intermediate_size": 9728,
            "num_hidden_layers": 36,
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "head_dim": 128,
            "vocab_size": 151_936,
            "max_position_embeddings": 32_768,
            "rope_parameters": {
                **tiny_vlm.rope(24, 20, 20),
                "mrope_interleaved": True,
            },
        },
        "vision": {
            "depth": 24,
            "hidden_size": 1024,
            "intermediate_size": 4096,
            "num_heads": 16,
            "out_hidden_size": 2560,
            "num_position_embeddings": 2304,
            "deepstack_visual_indexes": [5, 11, 17],
        },
        "pixels": 1280 * 32 * 32,
    },
}
"""Sizes of each family's builder with about four thousand million parameters.

Gemma 3 has those of MedGemma 4B, Qwen3-VL those of its 4B; the others take the
published vision part of their family and a text part that brings them near it.
"""


def skip_without_gpu() -> None:
    missing = missing_dependency(ADAPTERS["transformers_local"])
    if missing is not None:
        pytest.skip(missing)
    import torch

    if not torch.cuda.is_available():
        pytest.skip("this machine has no GPU: throughput on one is not measured")


@contextmanager
def full_size(family: str, folder: Path) -> Iterator[Path]:
    """Save a model of about four thousand million random weights, in bfloat16.

    Its eight GiB are removed again.
    """
    import torch

    torch.manual_seed(0)
    with torch.device("cuda"):
        torch.set_default_dtype(torch.bfloat16)
        try:
            model, pieces = tiny_vlm.FAMILIES[family](**FOUR_BILLION[family])
        finally:
            torch.set_default_dtype(torch.float32)
    tiny_vlm.save(folder, model, pieces)
    del model
    release_memory()
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("family", sorted(FOUR_BILLION))
def test_how_fast_a_model_of_four_billion_answers(family: str, tmp_path: Path) -> None:
    skip_without_gpu()
    with full_size(family, tmp_path / family) as folder:
        assert measure(family, folder) == ONE_BY_ONE + TOGETHER
        assert measure_attention(folder) == ONE_BY_ONE


@pytest.mark.parametrize("bits", ["8bit", "4bit"])
def test_how_fast_quantized_weights_answer(bits: str, tmp_path: Path) -> None:
    skip_without_gpu()
    pytest.importorskip("bitsandbytes")
    with full_size("gemma3", tmp_path / "gemma3") as folder:
        answered = measure(f"gemma3 in {bits}", folder, quantization=bits)
    assert answered == ONE_BY_ONE + TOGETHER


def measure(name: str, folder: Path, **settings: object) -> int:
    """Print time and memory of answers one by one and together.

    Returns how many had at least one token.
    """
    model = local_model(
        folder,
        device="cuda",
        batch_size=BATCH,
        max_new_tokens=TOKENS,
        **settings,
    )
    estimated = model.memory_bytes()
    attended = attended_bytes(model_files(name, folder))
    start = time.perf_counter()
    model.load(silent, threading.Event())
    seconds, weights = time.perf_counter() - start, model.memory_bytes()
    needs = {
        "weights": estimated,
        "to answer": needed_bytes(estimated),
        "in batches": needed_bytes(estimated, BATCH),
        "with attention": needed_bytes(estimated, 1, attended),
    }
    told = ", ".join(f"{what} {size / GIB:.1f}" for what, size in needs.items())
    print(f"\n{name}: {weights / GIB:.1f} GiB of weights loaded in {seconds:.1f} s")
    print(f"  estimated: {told} GiB")
    asked = questions(TOGETHER)
    single = ask("first, then one by one", model, asked[:ONE_BY_ONE], 1)
    again = [model.read(model.generate(one)).text for one in asked[:ONE_BY_ONE]]
    same = sum(a.text == b for a, b in zip(single, again, strict=True))
    with used_percent() as used:
        batched = ask(f"in batches of {BATCH}", model, asked, 2 * BATCH)
    agree = sum(a.text == b.text for a, b in zip(single, batched, strict=False))
    print(
        f"  asked again: {same} of {ONE_BY_ONE} the same; in a batch {agree}; "
        f"GPU used {np.mean(used or [0]):.0f} %"
    )
    model.unload()
    return sum((reply.usage.tokens_out or 0) > 0 for reply in (*single, *batched))


def measure_attention(folder: Path) -> int:
    """Print what attention to each part of the image costs; return the answers."""
    model = local_model(folder, device="cuda", attention="eager", max_new_tokens=TOKENS)
    wishes = Measures((), (), QueryPosition.GENERATED, relevance=True)
    asked = [replace(one, measures=wishes) for one in questions(ONE_BY_ONE)]
    replies = ask("with attention of each token", model, asked, 1)
    model.unload()
    return sum(reply.measured is not None for reply in replies)


def questions(n: int) -> list[ModelRequest]:
    rng = np.random.default_rng(0)
    noise = (rng.integers(0, 256, (SIDE, SIDE), dtype=np.uint8) for _ in range(n))
    return [request(facts(), png=png_of(pixels)) for pixels in noise]


def ask(
    how: str, model: TransformersLocal, asked: list[ModelRequest], at_once: int
) -> list[ModelReply]:
    """Ask, and print seconds for each answer, tokens a second and the peak memory."""
    start = time.perf_counter()
    replies = [model.read(model.generate(asked[0]))] if at_once == 1 else []
    first = time.perf_counter() - start
    start = time.perf_counter()
    rest = asked[len(replies) :]
    with ThreadPoolExecutor(at_once) as pool:
        replies += [model.read(raw) for raw in pool.map(model.generate, rest)]
    seconds = time.perf_counter() - start
    tokens = sum(reply.usage.tokens_out or 0 for reply in replies[-len(rest) :])
    peak = max(reply.peak_memory_bytes or 0 for reply in replies)
    print(
        f"  {how}: "
        + (f"first {first:.2f} s, " if at_once == 1 else "")
        + f"{seconds / len(rest):.3f} s an answer, {tokens / seconds:.0f} tokens a "
        f"second, {replies[-1].usage.tokens_in} tokens asked, peak {peak / GIB:.1f} GiB"
    )
    return replies


@contextmanager
def used_percent() -> Iterator[list[int]]:
    """Yield a list that grows by the GPU's use in percent, once a second."""
    used: list[int] = []
    done = threading.Event()

    def look() -> None:
        query = "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"
        while not done.wait(1):
            seen = subprocess.run(
                ["nvidia-smi", *query], capture_output=True, text=True, check=True
            )
            used.append(int(seen.stdout.splitlines()[0]))

    watching = threading.Thread(target=look)
    watching.start()
    try:
        yield used
    finally:
        done.set()
        watching.join()
