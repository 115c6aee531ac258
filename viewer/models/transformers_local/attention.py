"""Where a model looked while it wrote a token."""

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelRequest
from viewer.domain.geometry import Affine
from viewer.models.transformers_local.adapter import TransformersLocal
from viewer.models.transformers_local.conversation import conversation, sent_sizes
from viewer.models.transformers_local.engine import Engine, Wanted, generate
from viewer.models.transformers_local.failures import named_answer_failures
from viewer.models.transformers_local.foreign import Foreign
from viewer.models.transformers_local.layouts import PatchLayout, layouts

_READER = re.compile(r"(^|\.)(language_model|text_model)\.layers\.\d+\.self_attn$")


@dataclass(frozen=True, eq=False)
class AttentionMap:
    """Attention from one token of an answer to one image.

    ``values`` is (rows, columns), one number a patch, the mean over layers and heads;
    they sum to the share of attention that went to this image, at most 1. ``to_sent``
    maps patch coordinates (x in columns, y in rows) to pixels of the image as sent.
    """

    values: npt.NDArray[np.float64]
    to_sent: Affine
    token: str


def attention_maps(
    adapter: TransformersLocal, request: ModelRequest, token: int
) -> tuple[AttentionMap, ...]:
    """Return where the model looked when it chose a token: one map for each image.

    The question is asked again, up to this token, which is exact at temperature 0 and
    by its seed above.

    Parameters
    ----------
    adapter : TransformersLocal
        A model whose attention setting is eager; loaded if need be.
    request : ModelRequest
        The question.
    token : int
        Which token of the answer, from 0.

    Raises
    ------
    WrongUseError
        Where the model is not eager, the answer has no such token, or the model's
        patches are not known.
    ProviderError
        Where the model cannot be loaded or asked.
    """
    if adapter.options.attention != "eager":
        raise WrongUseError(
            "Where a model looked is told by its eager attention only.",
            'Set attention = "eager" for this model.',
        )
    with adapter.alone() as engine:
        turns = conversation(request)
        wanted = Wanted(turns, adapter.options.seed + request.facts.repeat, _never)
        plans = layouts(engine, sent_sizes(turns))
        with named_answer_failures(engine.files.name), _looking(engine) as looks:
            (answer,) = generate(engine, [wanted], most=token + 1)
        if len(answer.tokens) <= token:
            raise WrongUseError(
                f"The answer ends after {len(answer.tokens)} token(s).",
                "Choose an earlier token.",
            )
        text = engine.encoder.tokenizer.decode(answer.tokens[token])
        places = _image_places(engine, wanted)
    return _maps(looks.mean(), places, answer.tokens_in + token, plans, text)


def attention_map(
    adapter: TransformersLocal, request: ModelRequest, token: int
) -> AttentionMap:
    """Return ``attention_maps`` of a question that shows one image."""
    maps = attention_maps(adapter, request, token)
    if len(maps) != 1:
        raise WrongUseError(
            f"The question shows {len(maps)} images, not one.",
            "Ask for the maps of all of them.",
        )
    return maps[0]


@dataclass
class _Looks:
    """The newest token's attention over all places, by layer."""

    newest: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)

    def mean(self) -> npt.NDArray[np.float64]:
        """Return (places,) the mean over layers and heads.

        A layer with a sliding window tells only of its last places; it did not look
        at any before.
        """
        longest = max(len(row) for row in self.newest.values())
        rows = [np.pad(r, (longest - len(r), 0)) for r in self.newest.values()]
        return np.asarray(np.mean(rows, axis=0))


@contextlib.contextmanager
def _looking(engine: Engine) -> Iterator[_Looks]:
    """Note, layer by layer, what the newest token attends to.

    Only its row is kept: the whole of a long prompt's attention would not fit.
    """
    looks = _Looks()

    def hook_of(name: str) -> Callable[..., None]:
        def hook(_module: object, _inputs: object, outputs: Foreign) -> None:
            weights = outputs[1]  # (batch, heads, queries, places)
            row = weights[0, :, -1].float().mean(dim=0)
            looks.newest[name] = row.double().cpu().numpy()

        return hook

    layers = [(n, m) for n, m in engine.model.named_modules() if _READER.search(n)]
    hooks = [module.register_forward_hook(hook_of(name)) for name, module in layers]
    try:
        yield looks
    finally:
        for hook in hooks:
            hook.remove()


def _image_places(engine: Engine, wanted: Wanted) -> npt.NDArray[np.intp]:
    ids = engine.encoder.encode([wanted.turns])["input_ids"][0].numpy()
    return np.flatnonzero(ids == engine.model.config.image_token_id)


def _maps(
    row: npt.NDArray[np.float64],
    places: npt.NDArray[np.intp],
    length: int,
    plans: list[PatchLayout],
    token: str,
) -> tuple[AttentionMap, ...]:
    """Cut (places,) attention of the newest token into one map for each image."""
    counts = [plan.tokens for plan in plans]
    if sum(counts) != len(places):
        raise WrongUseError(
            f"The model shows its images in {len(places)} tokens where "
            f"{sum(counts)} were expected.",
            "Choose another version of the model.",
        )
    whole = np.pad(row, (max(length - len(row), 0), 0))
    parts = np.split(whole[places], np.cumsum(counts)[:-1])
    return tuple(
        AttentionMap(plan.grid(part), plan.to_sent, token)
        for plan, part in zip(plans, parts, strict=True)
    )


def _never() -> bool:
    return False
