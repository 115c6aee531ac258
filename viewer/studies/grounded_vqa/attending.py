"""Where a local model looked while its region was highlighted (E002-17)."""

from typing import Final

import numpy as np

from viewer.domain.geometry import Affine, SizePx
from viewer.domain.interpretability import Measures, QueryPosition
from viewer.imaging.patch_cover import share_inside
from viewer.imaging.resample import shrunk_size
from viewer.studies.grounded_vqa.items import area_of
from viewer.studies.grounded_vqa.params import Params
from viewer.studies.steps import Sources, Turn

ON_IMAGE: Final = "attention_on_image"
INSIDE: Final = "attention_inside"
IN_TOWER: Final = "tower_attention_inside"
Numbers = tuple[tuple[str, float], ...]


def wishes(sources: Sources) -> Measures | None:
    """Return the measures requested with a highlighted answer, None without any."""
    if sources.why_no_attention:
        return None
    return Measures(attention=QueryPosition.LAST_PROMPT, relevance=True)


def attention_numbers(turn: Turn, params: Params) -> Numbers:
    """Return the attention to the image, and the anatomy's share of it.

    The first is the attention of the prompt's last token, mean over layers and heads;
    the second that of the image's patches in the vision tower to the highlighted ones,
    mean over layers.
    """
    last = turn.replies()[-1:]
    measured = last[0].measured if last else None
    if measured is None:
        return ()
    tower = np.mean(measured.region) if measured.region else None
    numbers = () if tower is None else ((IN_TOWER, float(tower)),)
    area = area_of(turn.item)
    if measured.relevance is None or area is None:
        return numbers
    shown = measured.relevance.images[0]
    mask, image = area.array(), turn.images[turn.item.images[0]]
    sent = shrunk_size(image.geometry, params.longest_side)
    inside = share_inside(
        shown.values, _to_native(shown.to_sent, sent, area.size), mask
    )
    on_image = float(np.sum(shown.values))
    return (*numbers, (ON_IMAGE, on_image), *(((INSIDE, inside),) if on_image else ()))


def _to_native(to_sent: Affine, sent: SizePx, native: SizePx) -> Affine:
    x, y = native.columns / sent.columns, native.rows / sent.rows
    return Affine(to_sent.a * x, 0.0, to_sent.c * x, 0.0, to_sent.e * y, to_sent.f * y)
