"""A model in memory: loaded, and asked for the tokens of answers."""

import contextlib
import gc
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from viewer.domain.exchange import TokenLogprob
from viewer.models.loaded import Progress, check_cancelled
from viewer.models.transformers_local.conversation import Turn
from viewer.models.transformers_local.encoders import Encoder, Tensors, encoder_for
from viewer.models.transformers_local.failures import named_load_failures
from viewer.models.transformers_local.files import ModelFiles
from viewer.models.transformers_local.foreign import Foreign, transformers
from viewer.models.transformers_local.options import LocalOptions

if TYPE_CHECKING:
    from viewer.models.transformers_local.watch import LogprobNotes


_loading = threading.Lock()


@dataclass(frozen=True)
class Engine:
    """A loaded model, how questions are encoded for it, and where it runs.

    ``ends`` are the tokens with which it ends an answer.
    """

    model: Foreign
    encoder: Encoder
    device: str
    ends: frozenset[int]
    files: ModelFiles
    options: LocalOptions


@dataclass(frozen=True)
class Wanted:
    """A question to a loaded model; ``stop`` is looked at between two tokens."""

    turns: list[Turn]
    seed: int
    stop: Callable[[], bool]


@dataclass(frozen=True)
class Generated:
    """An answer; ``finish`` is stop, length or cancelled."""

    text: str
    finish: str
    tokens_in: int
    tokens: tuple[int, ...]
    logprobs: tuple[TokenLogprob, ...]


def load_engine(
    files: ModelFiles,
    options: LocalOptions,
    device: str,
    dtype: str,
    progress: Progress,
    cancelled: threading.Event,
) -> Engine:
    """Load a model and its encoder; failures raise their two sentences.

    No code out of the model's folder is run, and nothing is fetched.
    """
    import torch

    with (
        named_load_failures(files),
        _one_at_a_time(cancelled),
        _told_progress(progress, cancelled),
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
        placed = model if options.quantization != "none" else model.to(device)
        ends = _ends(model, encoder.tokenizer)
        bare = _without_defaults(placed.eval(), encoder.tokenizer, ends)
        return Engine(bare, encoder, device, ends, files, options)


def release_memory() -> None:
    """Give back what torch keeps of models that are gone."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    if torch.backends.mps.is_available():
        torch.mps.empty_cache()


def generate(
    engine: Engine, wanted: list[Wanted], most: int | None = None
) -> list[Generated]:
    """Answer questions together; ``most`` tokens, else as many as the options say.

    Above temperature 0 a single question may be asked, for its seed alone must
    decide. The random state of torch is left as it was.
    """
    import torch

    from viewer.models.transformers_local.watch import LogprobNotes, StopFlags

    inputs = engine.encoder.encode([one.turns for one in wanted])
    inputs = _placed(inputs, engine)
    notes = LogprobNotes(engine.options.top_logprobs)
    flags = StopFlags([one.stop for one in wanted])
    with torch.inference_mode(), _seeded(engine.device, wanted[0].seed):
        ids = engine.model.generate(
            **inputs,
            generation_config=_generation(engine.options, most),
            logits_processor=[notes] if engine.options.logprobs else [],
            stopping_criteria=[flags],
        )
    notes.finish(ids)
    length = int(inputs["input_ids"].shape[1])
    asked = inputs["attention_mask"].sum(dim=1).tolist()
    return [
        _answer(engine, notes, row, new.tolist(), int(asked[row]), flags.stopped[row])
        for row, new in enumerate(ids[:, length:])
    ]


def _answer(
    engine: Engine,
    notes: "LogprobNotes",
    row: int,
    new: list[int],
    tokens_in: int,
    stopped: bool,
) -> Generated:
    words = engine.encoder.tokenizer
    end = next((i for i, token in enumerate(new) if token in engine.ends), None)
    tokens = new[:end]
    finish = "stop" if end is not None else "cancelled" if stopped else "length"
    logprobs = notes.of(row, tokens, words.decode) if engine.options.logprobs else ()
    # special tokens are kept: some models write boxes with them
    text = words.decode(
        tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False
    )
    return Generated(text, finish, tokens_in, tuple(tokens), logprobs)


def _ends(model: Foreign, words: Foreign) -> frozenset[int]:
    """Return the tokens with which a model ends an answer."""
    named = model.generation_config.eos_token_id
    listed = named if isinstance(named, list) else [named]
    return frozenset(t for t in (*listed, words.eos_token_id) if t is not None)


def _without_defaults(model: Foreign, words: Foreign, ends: frozenset[int]) -> Foreign:
    """Return the model, which then adds no penalty or sampling of its own.

    transformers fills whatever a question leaves open from the model's
    generation_config.json, which may hold a repetition penalty.
    """
    own = model.generation_config
    pads = (own.pad_token_id, words.pad_token_id, *sorted(ends))
    model.generation_config = transformers().GenerationConfig(
        eos_token_id=sorted(ends),
        pad_token_id=next((pad for pad in pads if pad is not None), None),
        bos_token_id=own.bos_token_id,
    )
    return model


def _generation(options: LocalOptions, most: int | None) -> Foreign:
    drawn: dict[str, object] = {"do_sample": False}
    if options.samples:
        drawn = {
            "do_sample": True,
            "temperature": options.temperature,
            "top_k": 0,
            "top_p": 1.0,
        }
    return transformers().GenerationConfig(
        max_new_tokens=most or options.max_new_tokens, **drawn
    )


def _placed(inputs: Tensors, engine: Engine) -> dict[str, Any]:
    """Return the inputs on the model's device, pixels in the model's dtype."""
    dtype = engine.model.dtype
    return {
        name: value.to(engine.device, dtype=dtype)
        if value.is_floating_point()
        else value.to(engine.device)
        for name, value in inputs.items()
    }


@contextlib.contextmanager
def _seeded(device: str, seed: int) -> Iterator[None]:
    import torch

    devices = [torch.cuda.current_device()] if device == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


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
def _one_at_a_time(cancelled: threading.Event) -> Iterator[None]:
    """Wait until no other model is being loaded; heed the flag meanwhile."""
    while not _loading.acquire(timeout=0.1):
        check_cancelled(cancelled)
    try:
        yield
    finally:
        _loading.release()


@contextlib.contextmanager
def _told_progress(progress: Progress, cancelled: threading.Event) -> Iterator[None]:
    """Lead transformers' progress bars of this thread to ``progress``."""
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
    """Stands for a progress bar over the parts of a model being loaded."""

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
