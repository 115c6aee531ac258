import gc
import json
import struct
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.requests import request
from tests.helpers.tiny_vlm import local_model
from viewer.domain.errors import MissingDependencyError, ProviderError, WrongUseError
from viewer.models.loaded import LoadCancelledError, LoadState, loading_alone, silent
from viewer.models.transformers_local import failures, memory
from viewer.models.transformers_local.files import ModelFiles, model_files

MIB, GIB = 1 << 20, 1 << 30


def test_that_the_estimate_is_what_the_weights_are(
    folder_of: Callable[[str], Path],
) -> None:
    model = local_model(folder_of("qwen2_5_vl"))
    estimate = model.memory_bytes()
    model.load(silent, threading.Event())
    assert model.memory_bytes() == pytest.approx(estimate, rel=0.01)


def weights(folder: Path, *tensors: tuple[str, list[int]]) -> ModelFiles:
    """Return files whose weights have a header alone."""
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "llava"}')
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    for i, (dtype, shape) in enumerate(tensors):
        header[f"t{i}"] = {"dtype": dtype, "shape": shape, "data_offsets": [0, 0]}
    text = json.dumps(header).encode()
    data = struct.pack("<Q", len(text)) + text
    (folder / "model.safetensors").write_bytes(data)
    return model_files(folder.name, folder)


def test_that_every_tensor_counts_as_it_is_loaded(tmp_path: Path) -> None:
    files = weights(
        tmp_path / "m", ("BF16", [100, 200]), ("BF16", [50]), ("I64", [8]), ("ODD", [9])
    )
    matrix, vector, whole = 20_000, 50, 64
    assert memory.weight_bytes(files, "bfloat16") == 2 * (matrix + vector) + whole
    assert memory.weight_bytes(files, "float32") == 4 * (matrix + vector) + whole
    eight = memory.weight_bytes(files, "bfloat16", "8bit")
    assert eight == matrix + 2 * vector + whole
    assert memory.weight_bytes(files, "bfloat16", "4bit") < 0.6 * eight
    auto = local_model(tmp_path / "m").options
    assert memory.dtype_of(files, auto) == "bfloat16"
    files.config["text_config"] = {"torch_dtype": "float16"}
    assert memory.dtype_of(files, auto) == "float16"
    files.config["dtype"] = "float32"
    assert memory.dtype_of(files, auto) == "float32"


def test_that_damaged_weights_are_told(tmp_path: Path) -> None:
    files = weights(tmp_path / "m", ("F32", [1]))
    whole = files.weights[0].read_bytes()
    for damaged in (b"", whole[:5], whole[:20], struct.pack("<Q", 1 << 62), b"x" * 99):
        files.weights[0].write_bytes(damaged)
        with pytest.raises(WrongUseError, match=r"model.safetensors cannot be read"):
            memory.weight_bytes(files, "float32")


def test_that_a_model_that_cannot_fit_is_refused_before_it_is_loaded(
    folder_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda _device: 100 * MIB)
    model = local_model(folder_of("llava"))
    with pytest.raises(
        WrongUseError, match=r"needs about 0.3 GiB, but only 0.1 GiB of (main|the GPU)"
    ):
        model.load(silent, threading.Event())
    assert model.state is LoadState.UNLOADED
    forced = local_model(folder_of("llava"), force=True)
    forced.load(silent, threading.Event())
    assert forced.state is LoadState.LOADED
    monkeypatch.setattr(memory, "free_bytes", lambda _device: None)
    memory.check_fits("m", 1 << 50, "cpu")
    monkeypatch.setattr(memory, "free_bytes", lambda _device: 0)
    with pytest.raises(WrongUseError, match="of the GPU's memory"):
        memory.check_fits("m", 1, "cuda")


@pytest.mark.parametrize(
    ("weights", "questions", "attended", "peak"),
    [
        (8.1, 1, 0.0, 8.3),  # llava
        (8.1, 10, 0.0, 9.5),
        (8.0, 1, 0.0, 8.2),  # gemma3
        (8.0, 10, 0.0, 9.2),
        (8.0, 1, 3.0, 10.7),
        (8.3, 1, 0.0, 8.6),  # idefics3
        (8.3, 10, 0.0, 10.4),
        (7.1, 1, 0.0, 7.4),  # paligemma
        (7.1, 10, 0.0, 8.8),
        (8.8, 1, 0.0, 9.2),  # qwen2_5_vl
        (8.8, 10, 0.0, 10.8),
        (8.8, 1, 4.8, 11.5),
        (9.0, 1, 0.0, 9.4),  # qwen3_vl
        (9.0, 10, 0.0, 11.4),
        (9.0, 1, 3.0, 10.7),
        (8.3, 1, 0.0, 8.5),  # smolvlm
        (8.3, 10, 0.0, 8.8),
        (4.6, 1, 0.0, 5.0),  # gemma3 in 8 bit
        (4.6, 10, 0.0, 6.6),
        (3.2, 1, 0.0, 3.4),  # gemma3 in 4 bit
        (3.2, 10, 0.0, 4.4),
    ],
)
def test_that_the_estimate_covers_what_was_measured_on_a_gpu(
    weights: float, questions: int, attended: float, peak: float
) -> None:
    """GiB of weights, of attention to one image, and of the peak on an H200."""
    needed = memory.needed_bytes(round(weights * GIB), questions, round(attended * GIB))
    assert peak * GIB <= needed <= 1.4 * peak * GIB


def test_that_eager_attention_to_an_image_is_estimated_from_the_vision_tower(
    folder_of: Callable[[str], Path],
) -> None:
    def attended(**vision: object) -> int:
        found = model_files("m", folder_of("gemma3"))
        config = {**found.config, "vision_config": vision}
        return memory.attended_bytes(replace(found, config=config))

    gemma = {"num_attention_heads": 16, "image_size": 896, "patch_size": 14}
    assert attended(**gemma) == 16 * 4096**2 * 12  # 4,096 patches
    assert attended(num_heads=16, patch_size=16) == 16 * 4096**2 * 12
    assert attended(num_heads=16) == attended() == attended(patch_size=0) == 0


def test_that_the_free_memory_is_what_the_kernel_says(tmp_path: Path) -> None:
    told = tmp_path / "meminfo"
    told.write_text("MemTotal: 9 kB\nMemAvailable:    2048 kB\n")
    assert memory.free_main_memory(told) == 2 * MIB
    free = memory.free_main_memory(tmp_path / "absent")
    assert free is None or free > 0
    now = memory.free_bytes("cpu")
    assert now is None or now > 0


def test_that_loading_is_cancelled_and_leaves_nothing(
    folder_of: Callable[[str], Path],
) -> None:
    model, cancelled = local_model(folder_of("llava")), threading.Event()
    told: list[float] = []

    def progress(part: float, _what: str) -> None:
        told.append(part)
        if part > 0.3:
            cancelled.set()

    with pytest.raises(LoadCancelledError):
        model.load(progress, cancelled)
    assert max(told) < 0.5
    assert model.state is LoadState.UNLOADED
    model.load(silent, threading.Event())


def test_that_waiting_to_be_loaded_can_be_cancelled(
    folder_of: Callable[[str], Path],
) -> None:
    cancelled = threading.Event()
    cancelled.set()
    never = threading.Event()
    with loading_alone(never), pytest.raises(LoadCancelledError):
        local_model(folder_of("llava")).load(silent, cancelled)


def resident() -> int:
    """Return the bytes of this process that are in main memory."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * 4096


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_that_unloading_gives_the_memory_back(
    folder_of: Callable[[str], Path], tmp_path: Path
) -> None:
    import torch

    from viewer.models.transformers_local.foreign import transformers

    folder = folder_of("llava")
    config = transformers().AutoConfig.from_pretrained(folder)
    config.text_config.intermediate_size = 200_000  # 2 layers of 3 × 64 × this
    with torch.random.fork_rng(devices=[]):
        big = transformers().LlavaForConditionalGeneration(config)
    wide = tmp_path / "wide"
    wide.mkdir()
    for path in folder.iterdir():
        (wide / path.name).write_bytes(path.read_bytes())
    big.save_pretrained(wide)
    del big
    gc.collect()
    local_model(folder, max_new_tokens=2).generate(request())  # libraries too
    model = local_model(wide, max_new_tokens=2)
    size = model.memory_bytes()
    assert size > 290 * MIB
    before = resident()
    model.generate(request())
    loaded = resident() - before
    model.unload()
    after = resident() - before
    told = (
        f"{size / MIB:.0f} MiB: +{loaded / MIB:.0f} asked, +{after / MIB:.0f} unloaded"
    )
    print(told)  # noqa: T201 - a figure to read
    assert loaded > 0.8 * size
    assert after < 0.1 * size


@pytest.mark.parametrize(
    ("setting", "message"),
    [({"device": "cuda"}, "does not find"), ({"device": "mps"}, "does not find")],
)
def test_that_a_device_that_is_not_there_is_told(
    setting: dict[str, object], message: str, folder_of: Callable[[str], Path]
) -> None:
    import torch

    if torch.cuda.is_available() or torch.backends.mps.is_available():
        pytest.skip("needs a machine without a GPU")
    with pytest.raises(WrongUseError, match=message):
        local_model(folder_of("llava"), **setting).identity(0)


def test_that_quantization_without_its_library_is_told(
    folder_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(MissingDependencyError, match="4bit need bitsandbytes"):
        local_model(folder_of("llava"), quantization="4bit").load(
            silent, threading.Event()
        )


def test_that_what_cannot_be_loaded_says_why(
    folder_of: Callable[[str], Path],
) -> None:
    import torch

    files = model_files("m", folder_of("llava"))
    strange = model_files("m", folder_of("llava"))
    strange.config["model_type"] = "bert"
    cases: list[tuple[Exception, ModelFiles, str]] = [
        (torch.OutOfMemoryError("x"), files, "Memory ran out"),
        (RuntimeError("[enforce fail] can't allocate memory"), files, "Memory ran out"),
        (MemoryError(), files, "Memory ran out"),
        (ValueError("x"), strange, "'bert', which the installed"),
        (ValueError("x"), files, r"cannot be loaded \(ValueError\)"),
        (ImportError("x", name="num2words"), files, r"not installed \(num2words\)"),
    ]
    for error, of, message in cases:
        with (
            pytest.raises((WrongUseError, MissingDependencyError), match=message),
            failures.named_load_failures(of),
        ):
            raise error
    with (
        pytest.raises(ProviderError, match="Memory ran out") as caught,
        failures.named_answer_failures("m"),
    ):
        raise MemoryError
    assert caught.value.reason == "out_of_memory"


@pytest.mark.parametrize("kept", [20, 20_000])
def test_that_weights_cut_short_are_told(
    kept: int, folder_of: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = tmp_path / "cut"
    folder.mkdir()
    for path in folder_of("llava").iterdir():
        data = path.read_bytes()
        cut = path.suffix == ".safetensors"
        (folder / path.name).write_bytes(data[:kept] if cut else data)
    with pytest.raises(WrongUseError, match=r"cannot be (read|loaded)"):
        local_model(folder).load(silent, threading.Event())


@pytest.mark.parametrize("quantization", ["8bit", "4bit"])
@pytest.mark.filterwarnings("ignore")
def test_that_quantized_weights_answer_from_less_memory(
    quantization: str, folder_of: Callable[[str], Path]
) -> None:
    pytest.importorskip("bitsandbytes")
    pytest.importorskip("accelerate")
    whole = local_model(folder_of("llava"), max_new_tokens=3)
    small = local_model(folder_of("llava"), max_new_tokens=3, quantization=quantization)
    whole.generate(request())
    estimate = small.memory_bytes()
    assert small.read(small.generate(request())).usage.tokens_out == 3
    assert small.memory_bytes() == pytest.approx(estimate, rel=0.05)
    assert small.memory_bytes() < 0.6 * whole.memory_bytes()
    assert small.identity(0).local["bitsandbytes"]
