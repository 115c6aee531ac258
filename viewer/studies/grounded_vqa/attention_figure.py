"""Where a local model looked as it answered, plainly and highlighted (Fig. 1, 11)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from viewer.domain.figure import Figure, FigureHead, GalleryFigure, Tile
from viewer.domain.geometry import Affine
from viewer.domain.image import Raster
from viewer.domain.interpretability import Relevance
from viewer.domain.item import Item
from viewer.domain.result import TrialResult
from viewer.imaging.heat_overlay import patch_overlay
from viewer.imaging.region_prompt import draw_contour
from viewer.imaging.resample import shrunk, shrunk_mask, shrunk_size
from viewer.studies.grounded_vqa.attending import ON_IMAGE
from viewer.studies.grounded_vqa.frames import is_answer
from viewer.studies.grounded_vqa.items import area_of, question_of
from viewer.studies.grounded_vqa.params import Params
from viewer.studies.grounded_vqa.questions import Question
from viewer.studies.grounded_vqa.words import condition_words
from viewer.studies.packs import PackInput
from viewer.studies.steps import Sources

_SHOWN: Final = 4
"""Questions that are shown."""
_SIDE: Final = 480
_OUTLINE: Final = (255, 0, 160)
"""A colour that the map does not have."""
_OUTLINE_PX: Final = 3
_HEAD: Final = FigureHead(
    "attention",
    "Figures 1 and 11",
    "Where the model looked",
    "Attention from the last token of the prompt to the image's patches, mean over "
    "layers and heads: clear at the least patch of a question's answers, then dark to "
    "yellow at the greatest. The anatomy asked about is outlined. Above each: the "
    "answer, the share of attention on the image, and the word that got most.",
)


def attention(given: PackInput, sources: Sources, params: Params) -> Iterator[Figure]:
    """Yield the maps of the first questions, answers of one side by side."""
    items = {item.key: item for item in given.dataset.items}
    tiles = [
        tile
        for own in _by_question(given.results).values()
        for tile in _tiles(own, items[own[0].item], given, sources, params)
    ]
    if tiles:
        yield GalleryFigure(_HEAD, tuple(tiles))


def _by_question(
    results: Sequence[TrialResult],
) -> Mapping[tuple[str, str], list[TrialResult]]:
    """Return the answers with a map, by question and model, of the first questions."""
    found: dict[tuple[str, str], list[TrialResult]] = {}
    for one in results:
        told = one.score.number(ON_IMAGE) is not None and not one.repeat
        if told and is_answer(one.condition):
            found.setdefault((one.item, one.model), []).append(one)
    chosen = list(dict.fromkeys(item for item, _ in found))[:_SHOWN]
    return {key: own for key, own in found.items() if key[0] in chosen}


def _tiles(
    results: Sequence[TrialResult],
    item: Item,
    given: PackInput,
    sources: Sources,
    params: Params,
) -> Iterator[Tile]:
    asked = question_of(item, params.findings)
    told = [(one, given.measured(one)) for one in results]
    maps = [(one, m.relevance) for one, m in told if m and m.relevance]
    if not isinstance(asked, Question) or not maps:
        return
    patches = [float(v) for _, of in maps for row in of.images[0].values for v in row]
    ends = min(patches), max(patches)
    raster = shrunk(sources.raster(asked.image), _SIDE)
    sent = shrunk_size(sources.image(asked.image).geometry, params.longest_side)
    scale = raster.size.columns / sent.columns, raster.size.rows / sent.rows
    for one, relevance in maps:
        picture = _picture(raster, relevance, scale, ends)
        area = area_of(item)
        if area is not None:
            mask = shrunk_mask(area.array(), raster.size)
            picture = draw_contour(picture, mask, _OUTLINE, _OUTLINE_PX)
        about = ", ".join(filter(None, (asked.finding, asked.anatomy)))
        yield Tile(
            picture.pixels,
            condition_words(one.condition),
            one.item,
            about,
            one.model,
            _words(one, relevance),
            "",
        )


def _picture(
    raster: Raster,
    relevance: Relevance,
    scale: tuple[float, float],
    ends: tuple[float, float],
) -> Raster:
    least, greatest = ends
    pixels = raster.pixels if raster.pixels.ndim == 2 else raster.pixels.mean(axis=2)
    shown, (x, y) = relevance.images[0], scale
    to = shown.to_sent
    placed = Affine(to.a * x, 0.0, to.c * x, 0.0, to.e * y, to.f * y)
    values = np.asarray(shown.values, dtype=np.float64) - least
    return Raster(patch_overlay(pixels / 255, values, placed, greatest - least))


def _words(one: TrialResult, relevance: Relevance) -> str:
    """Return the answer, and what got how much of the attention."""
    on_image = float(np.sum(relevance.images[0].values))
    word, most = max(relevance.tokens, key=lambda token: token[1], default=("", 0.0))
    answer = one.score.answer or one.score.status
    return f"{answer}; image {on_image:.0%}, “{word.strip()}” {most:.0%}"
