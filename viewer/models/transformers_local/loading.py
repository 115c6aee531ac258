"""Loading of a model's files as an engine."""

import contextlib
import gc
import os
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from viewer.models.loaded import Progress, check_cancelled, loading_alone
from viewer.models.transformers_local.encoders import encoder_for
from viewer.models.transformers_local.engine import Engine
from viewer.models.transformers_local.failures import named_load_failures
from viewer.models.transformers_local.files import ModelFiles
from viewer.models.transformers_local.foreign import Foreign, transformers
from viewer.models.transformers_local.options import LocalOptions


def load_engine(
    files: ModelFiles,
    options: LocalOptions,
    device: str,
    dtype: str,
    progress: Progress,
    cancelled: threading.Event,
) -> Engine:
    """Load a model and its encoder; failures raise OverreadError.

    No code in the model's folder is run, and nothing is downloaded.
    """
    import torch

    with (
        named_load_failures(files),
        loading_alone(cancelled),
        _progress_bars_to(progress, cancelled),
    ):
        encoder = encoder_for(files)
        check_cancelled(cancelled)
        model = transformers().AutoModelForImageTextToText.from_pretrained(
            files.folder,
            dtype=getattr(torch, dtype),
            attn_implementation=options.attention,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            **_quantized(options, device, dtype),
        )
        check_cancelled(cancelled)
        _repeat_exactly(device)
        # Quantized weights were put on the device while loading (device_map).
        placed = model if options.quantization != "none" else model.to(device)
        ends = _ends(model, encoder.tokenizer)
        bare = _without_defaults(placed.eval(), encoder.tokenizer, ends)
        return Engine(bare, encoder, device, ends, files, options)


def release_memory() -> None:
    """Release the memory that torch keeps of deleted models."""
    import torch

    # Modules and hooks refer to one another; counting references frees no cycles.
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    if torch.backends.mps.is_available():
        torch.mps.empty_cache()


def _repeat_exactly(device: str) -> None:
    """Make a GPU use deterministic algorithms, where there are any."""
    import torch

    if device == "cuda":
        # cuBLAS repeats its sums exactly only with a fixed workspace (torch's notes).
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        # Only a warning: some operations have no such algorithm, and must still run.
        torch.use_deterministic_algorithms(mode=True, warn_only=True)
        # No answer reads memory before it is written, and filling it first costs time.
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def _ends(model: Foreign, words: Foreign) -> frozenset[int]:
    """Return the tokens with which a model ends an answer."""
    named = model.generation_config.eos_token_id
    listed = named if isinstance(named, list) else [named]
    return frozenset(t for t in (*listed, words.eos_token_id) if t is not None)


def _without_defaults(model: Foreign, words: Foreign, ends: frozenset[int]) -> Foreign:
    """Return the model without penalties or sampling of its own.

    transformers takes whatever a question leaves open from the model's
    generation_config.json, which may contain a repetition penalty.
    """
    config = model.generation_config
    pads = (config.pad_token_id, words.pad_token_id, *sorted(ends))
    model.generation_config = transformers().GenerationConfig(
        eos_token_id=sorted(ends),
        pad_token_id=next((pad for pad in pads if pad is not None), None),
        bos_token_id=config.bos_token_id,
    )
    return model


def _quantized(options: LocalOptions, device: str, dtype: str) -> dict[str, Any]:
    if options.quantization == "none":
        return {}
    import torch

    bits = {
        "8bit": {"load_in_8bit": True},
        "4bit": {
            "load_in_4bit": True,
            "bnb_4bit_quant_type": "nf4",
            "bnb_4bit_compute_dtype": getattr(torch, dtype),
        },
    }[options.quantization]
    config = transformers().BitsAndBytesConfig(**bits)
    return {"quantization_config": config, "device_map": {"": device}}


@contextlib.contextmanager
def _progress_bars_to(progress: Progress, cancelled: threading.Event) -> Iterator[None]:
    """Redirect transformers' progress bars of this thread to ``progress``."""
    logging = transformers().utils.logging
    mine = threading.get_ident()  # its bars are one hook's for the whole process

    def hook(
        factory: Foreign, args: tuple[Any, ...], settings: dict[str, Any]
    ) -> Foreign:
        if threading.get_ident() != mine or not args:
            return factory(*args, **settings)
        return _Watched(args[0], progress, cancelled)

    before = logging.set_tqdm_hook(hook)
    try:
        yield
    finally:
        logging.set_tqdm_hook(before)


class _Watched:
    """Replaces a progress bar over the parts of a model being loaded."""

    def __init__(
        self, parts: Iterable[object], progress: Progress, cancelled: threading.Event
    ) -> None:
        self._parts = list(parts)
        self._progress, self._cancelled = progress, cancelled

    def __iter__(self) -> Iterator[object]:
        for number, part in enumerate(self._parts):
            check_cancelled(self._cancelled)
            self._progress(number / len(self._parts), "loading weights")
            yield part
        self._progress(1.0, "loading weights")
