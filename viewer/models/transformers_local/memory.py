"""How much memory a model will need, estimated from its files, and how much is free."""

import json
import os
import re
import struct
import sys
from math import prod
from pathlib import Path
from typing import Any, Final

from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import PEAK_MEMORY
from viewer.models.transformers_local.files import ModelFiles
from viewer.models.transformers_local.options import LocalOptions

_BYTES: Final = {
    "F64": 8, "F32": 4, "F16": 2, "BF16": 2, "F8_E4M3": 1, "F8_E5M2": 1,
    "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U64": 8, "U32": 4, "U16": 2, "U8": 1,
    "BOOL": 1,
}  # fmt: skip
_TORCH_NAMES: Final = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}
_DTYPE_BYTES: Final = {"float32": 4, "float16": 2, "bfloat16": 2}
QUANTIZED_BYTES: Final = {"8bit": 1.0, "4bit": 0.5625}
"""Bytes of a weight; in 4 bit with a scale for each 64 of them."""
_KEPT_WHOLE: Final = re.compile("embed|lm_head")  # bitsandbytes leaves these alone
_LONGEST_HEADER: Final = 100 << 20
_WORKING_BYTES: Final = 256 << 20
_WORKING_SHARE: Final = 0.04
"""Of the weights, for activations and kept keys: once, and for each question.

On a GPU, seven families of four thousand million weights (7.1-9.0 GiB in bfloat16) took
0.2-0.4 GiB to answer one question of 896 × 896 pixels and 0.5-2.4 GiB for ten together.
"""
_ATTENDED_BYTES: Final = 12
"""For each head and pair of patches: the logits and their softmax, some of it twice."""
_SENT_SIDE: Final = 1024  # of images for a vision tower that takes any size
_GIB: Final = float(1 << 30)


def dtype_of(files: ModelFiles, options: LocalOptions) -> str:
    """Return float32, bfloat16 or float16: the one named, else the model's."""
    if options.dtype != "auto":
        return options.dtype
    parts = (files.config, files.config.get("text_config"))
    for part in (part for part in parts if isinstance(part, dict)):
        named = str(part.get("dtype") or part.get("torch_dtype") or "")
        if named in _DTYPE_BYTES:
            return named
    stored = {str(t["dtype"]): t for path in files.weights for t in _tensors(path)}
    return next((_TORCH_NAMES[d] for d in _TORCH_NAMES if d in stored), "float32")


def weight_bytes(files: ModelFiles, dtype: str, quantization: str = "none") -> int:
    """Return the size of the weights in memory, in bytes."""
    tensors = (t for path in files.weights for t in _tensors(path))
    return round(sum(_size(tensor, dtype, quantization) for tensor in tensors))


def attended_bytes(files: ModelFiles) -> int:
    """Return the approximate bytes of one layer's eager attention to an image."""
    vision = files.config.get("vision_config") or {}
    heads = vision.get("num_attention_heads") or vision.get("num_heads")
    patch = vision.get("patch_size")
    if not isinstance(heads, int) or not isinstance(patch, int) or patch < 1:
        return 0
    side = vision.get("image_size")
    patches = ((side if isinstance(side, int) else _SENT_SIDE) // patch) ** 2
    return heads * patches**2 * _ATTENDED_BYTES


def needed_bytes(weights: int, questions: int = 1, attended: int = 0) -> int:
    """Return the approximate bytes to answer so many questions together.

    ``attended`` are the bytes of attention that is not computed in pieces.
    """
    working = weights * _WORKING_SHARE * (1 + questions)
    return round(weights + working) + _WORKING_BYTES + attended


def check_fits(
    name: str, weights: int, device: str, questions: int = 1, attended: int = 0
) -> None:
    """Raise if a model does not fit into memory, as far as is known."""
    needed, free = needed_bytes(weights, questions, attended), free_bytes(device)
    if free is None or needed <= free:
        return
    where = "main memory" if device == "cpu" else "the GPU's memory"
    raise WrongUseError(
        f"The model {name} needs about {needed / _GIB:.1f} GiB, but only "
        f"{free / _GIB:.1f} GiB of {where} are free.",
        "Unload another model, choose a smaller dtype or model or a quantization, or "
        "set force = true.",
    )


def free_bytes(device: str) -> int | None:
    """Return the free bytes of a device's memory, None if unknown."""
    if device == "cpu":
        return free_main_memory()
    import torch

    if device == "cuda":
        return int(torch.cuda.mem_get_info()[0])
    most = torch.mps.recommended_max_memory()
    return int(most - torch.mps.driver_allocated_memory())


def forget_peak(device: str) -> None:
    """Restart the measurement of a GPU's peak memory."""
    if device == "cuda":
        import torch

        torch.cuda.reset_peak_memory_stats()


def peak_bytes(device: str) -> int | None:
    """Return the peak bytes since ``forget_peak``, None if unknown.

    On a GPU that of torch; elsewhere that of the whole process since its start.
    """
    if device == "cuda":
        import torch

        return int(torch.cuda.max_memory_allocated())
    if sys.platform == "win32":
        return None
    import resource

    # getrusage(2): bytes on macOS, KiB on Linux.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def peak_header(peak: int | None) -> dict[str, str]:
    """Return the header that records the peak memory of a reply."""
    return {} if peak is None else {PEAK_MEMORY: str(peak)}


def free_main_memory(meminfo: Path = Path("/proc/meminfo")) -> int | None:
    """Return the bytes of main memory that are available without swapping."""
    if sys.platform == "win32":
        return _free_on_windows()
    try:
        lines = meminfo.read_text(encoding="ascii").splitlines()
        (line,) = (li for li in lines if li.startswith("MemAvailable:"))
        return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        return _free_pages()


def _free_pages() -> int | None:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None


def _free_on_windows() -> int | None:
    """Return MEMORYSTATUSEX.ullAvailPhys, 16 bytes after its start."""
    import ctypes

    status = ctypes.create_string_buffer(64)
    struct.pack_into("<L", status, 0, 64)
    kernel: Any = vars(ctypes)["windll"].kernel32
    if not kernel.GlobalMemoryStatusEx(status):
        return None
    return int(struct.unpack_from("<Q", status, 16)[0])


def _size(tensor: dict[str, Any], dtype: str, quantization: str) -> float:
    stored, shape = str(tensor["dtype"]), tensor["shape"]
    if stored not in _BYTES:
        return 0.0
    each: float = _BYTES[stored]
    if stored in {"F64", *_TORCH_NAMES}:
        each = _DTYPE_BYTES[dtype]
        if len(shape) == 2 and not _KEPT_WHOLE.search(str(tensor["name"])):
            each = QUANTIZED_BYTES.get(quantization, each)
    return each * int(prod(shape))


def _tensors(path: Path) -> list[dict[str, Any]]:
    """Return name, dtype and shape of every tensor from a file's header."""
    try:
        with path.open("rb") as stream:
            (length,) = struct.unpack("<Q", stream.read(8))
            header = json.loads(stream.read(min(length, _LONGEST_HEADER)))
        header.pop("__metadata__", None)
        return [{**entry, "name": name} for name, entry in header.items()]
    except (OSError, ValueError, struct.error, AttributeError, TypeError) as error:
        raise WrongUseError(
            f"The weights {path.name} cannot be read: the file is damaged or cut "
            "short.",
            "Download the model again.",
        ) from error
