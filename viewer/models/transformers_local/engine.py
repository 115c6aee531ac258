"""Token generation with a model in memory."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from viewer.domain.exchange import TokenLogprob
from viewer.models.transformers_local.conversation import Turn
from viewer.models.transformers_local.encoders import Encoder, Tensors
from viewer.models.transformers_local.files import ModelFiles
from viewer.models.transformers_local.foreign import Foreign, transformers
from viewer.models.transformers_local.options import LocalOptions

if TYPE_CHECKING:
    from viewer.models.transformers_local.watch import LogprobNotes


@dataclass(frozen=True)
class Engine:
    """A loaded model, its encoder, and its device.

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
    """A question to a loaded model; ``stop`` is checked between two tokens."""

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


def generate(
    engine: Engine,
    wanted: list[Wanted],
    most: int | None = None,
    steering: Sequence[object] = (),
) -> list[Generated]:
    """Answer questions together, with ``most`` tokens or as many as the options allow.

    ``steering`` are logits processors, applied before log-probabilities are noted.
    Above temperature 0 only a single question may be asked, because its seed alone must
    decide, or copies of one, which then draw the same tokens. The random state of torch
    is restored.
    """
    import torch

    from viewer.models.transformers_local.steering import OneDraw
    from viewer.models.transformers_local.watch import LogprobNotes, StopFlags

    inputs = engine.encoder.encode([one.turns for one in wanted])
    inputs = _placed(inputs, engine)
    notes = LogprobNotes(engine.options.top_logprobs)
    flags = StopFlags([one.stop for one in wanted])
    processors = [*steering, *([notes] if engine.options.logprobs else [])]
    if engine.options.samples and len(wanted) > 1:
        # After the notes, to which the drawn token would be the only possible one.
        processors.append(OneDraw(engine.options.temperature))
    with torch.inference_mode(), _seeded(engine.device, wanted[0].seed):
        ids = engine.model.generate(
            **inputs,
            generation_config=_generation(engine.options, most),
            logits_processor=processors,
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


def _generation(options: LocalOptions, most: int | None) -> Foreign:
    drawn: dict[str, object] = {"do_sample": False}
    if options.samples:
        drawn = {
            "do_sample": True,
            "temperature": options.temperature,
            # Off: transformers keeps only the 50 likeliest tokens by default.
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
