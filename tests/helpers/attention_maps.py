"""Where a local model looked while it wrote a token, off the program's own hooks."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viewer.domain.exchange import ModelRequest
from viewer.domain.geometry import Affine
from viewer.models.transformers_local.adapter import TransformersLocal
from viewer.models.transformers_local.answering import asking
from viewer.models.transformers_local.conversation import conversation, sent_sizes
from viewer.models.transformers_local.failures import named_answer_failures
from viewer.models.transformers_local.layouts import layouts
from viewer.models.transformers_local.looking import check_eager, looking
from viewer.models.transformers_local.relevance import maps_of


@dataclass(frozen=True, eq=False)
class AttentionMap:
    """Attention from one token of an answer to one image.

    ``values`` is (rows, columns), one number a patch, the mean over layers and heads;
    they sum to the share of attention that went to this image, at most 1. ``to_sent``
    maps patch coordinates (x in columns, y in rows) to pixels of the image as sent.
    """

    values: npt.NDArray[np.float64]
    to_sent: Affine


def attention_maps(
    adapter: TransformersLocal, request: ModelRequest, token: int
) -> tuple[AttentionMap, ...]:
    """Return where the model looked when it chose a token: one map for each image.

    The question is asked again, up to this token, and what the program's own hooks
    note is cut into the images' patches by the program's own layouts.
    """
    check_eager(adapter.options.attention)
    seed = adapter.options.seed + request.facts.repeat
    with adapter.alone() as engine, named_answer_failures(engine.files.name):
        plans = layouts(engine, sent_sizes(conversation(request)))
        with asking(engine, request, seed, _never) as asked, looking(engine) as looks:
            asked.answer(token + 1)
        ids = np.asarray(asked.prompt)
    row = looks.layers(token, len(ids)).mean(axis=0)
    places = np.flatnonzero(ids == engine.model.config.image_token_id)
    return tuple(
        AttentionMap(values, plan.to_sent)
        for values, plan in zip(maps_of(row[places], plans), plans, strict=True)
    )


def attention_map(
    adapter: TransformersLocal, request: ModelRequest, token: int
) -> AttentionMap:
    """Return the map of a question that shows one image."""
    (found,) = attention_maps(adapter, request, token)
    return found


def _never() -> bool:
    return False
