"""Everything that Sun 2024 prints, from one run: ``overread pack pathmmu2024``."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from viewer.domain.figure import Figure, FigureHead, GalleryFigure, Picture, Tile
from viewer.domain.image import Raster
from viewer.domain.pack import PackData
from viewer.domain.report import Table
from viewer.domain.result import TrialResult
from viewer.imaging.corruptions import gallery, pixels_sha256
from viewer.imaging.resample import squared
from viewer.results.evaluate import evaluate_all
from viewer.results.page import sections
from viewer.results.records import records
from viewer.results.spec import TRIALS
from viewer.studies.consistency import published_table
from viewer.studies.image_dependence import card_figure
from viewer.studies.packs import PackInput
from viewer.studies.pathology_mcq.arms import CONTROLS, PLAIN, arm_of
from viewer.studies.pathology_mcq.consistency import checks
from viewer.studies.pathology_mcq.figure_guess import guess_bars, guess_figure
from viewer.studies.pathology_mcq.frames import asked_frame, counted_of, expert_frames
from viewer.studies.pathology_mcq.layouts import (
    layout_frames,
    layouts,
    printed_tables,
)
from viewer.studies.pathology_mcq.params import Arm, Params, Work, read_params
from viewer.studies.pathology_mcq.published import SOURCE, every_row
from viewer.studies.pathology_mcq.questions import Mcq, mcqs_of
from viewer.studies.pathology_mcq.robustness import level_figure
from viewer.studies.pathology_mcq.tables import baselines, experts_whole
from viewer.studies.pathology_mcq.words import condition_words
from viewer.studies.steps import Sources

_IN_THE_RUN: Final = frozenset({"items", "results"})
"""Tables of trials, which lie in the run's own folder."""
_NO_ANSWERS: Final = (
    "The run made questions and answered none; the paper's tables and figures need "
    "answers."
)
Figures = tuple[Figure | None, Figure | None, Figure | None]
"""The gallery and the levels of Figure 4, and Figure 5."""


class PathMmu2024:
    """Every arm on every split, corruptions on the tiny test."""

    name = "pathmmu2024"
    title = "Multimodal models answer multiple-choice questions about pathology images"
    source = SOURCE
    study = "pathology_mcq"

    def data(self, given: PackInput) -> PackData:
        """Return every table and figure of the paper.

        A run that made questions has answered none: of it only its own tables.
        """
        params = read_params(given.spec.preset, given.spec.params)
        if params.work is Work.BUILDING:
            return self._of_building(given)
        rows = {table.name: table.records() for table in given.report.tables}
        bars = guess_bars(given, params)
        figures = (gallery_figure(given), level_figure(rows), guess_figure(bars))
        trials, conditions = records(given.results), (PLAIN, *CONTROLS)
        card = card_figure(trials, conditions, "", condition_words)
        published = published_table(every_row(), checks())
        long = (*given.report.tables, published, *_beside(given, params))
        frames = layout_frames(long)
        specs = [one for one in layouts(_counted(given)) if one.frame in frames]
        wide = evaluate_all(specs, frames)
        paper = {} if given.report.incomplete else printed_tables()
        reported = (t for t in given.report.tables if t.name not in _IN_THE_RUN)
        return PackData(
            self.title,
            self.source,
            (
                *(table for table in (*wide, bars) if table.rows),
                *(published, *reported),
            ),
            tuple(sections(specs, wide, paper)),
            tuple(figure for figure in (*figures, card) if figure is not None),
            given.report.incomplete,
            tuple(_missing(figures)),
        )

    def _of_building(self, given: PackInput) -> PackData:
        report = given.report
        return PackData(
            self.title,
            self.source,
            tuple(t for t in report.tables if t.name not in _IN_THE_RUN),
            report.sections,
            (),
            report.incomplete,
            (_NO_ANSWERS,),
        )


def _counted(given: PackInput) -> tuple[Mcq, ...]:
    return counted_of(given.results, mcqs_of(given.dataset.items))


def _beside(given: PackInput, params: Params) -> tuple[Table, ...]:
    """Return the chance level on the questions that count, and experts' scores."""
    mcqs = tuple(mcqs_of(given.dataset.items).values())
    counted = _counted(given)
    return evaluate_all(
        (baselines(params, mcqs), experts_whole(params.expert_pooling)),
        {TRIALS: asked_frame(counted), **expert_frames(given.dataset.items, counted)},
    )


def _missing(figures: Figures) -> Iterator[str]:
    gallery, levels, guessing = figures
    if gallery is None or levels is None:
        yield "Figure 4 needs corrupted images; no trial of the tiny test has one."
    if guessing is None:
        yield (
            "Figure 5 needs questions that enough models guess without their images, "
            "or questions combined with other options; the run has neither."
        )


PACK = PathMmu2024()


_MOST: Final = 192
"""Pixels of the middle of the image that are shown, across and down."""


def gallery_figure(given: PackInput) -> GalleryFigure | None:
    """Return one image of the run under every kind and level, None if none was.

    Over each picture stands the beginning of the hash of the whole image's pixels.
    """
    shown = next((r for r in given.results if _is_shown(r)), None)
    if shown is None or given.sources is None:
        return None
    params = read_params(given.spec.preset, given.spec.params)
    head = FigureHead(
        "corruptions",
        "Figure 4",
        "Corrupted images",
        f"The middle of {shown.image} as it was sent; level 0 is the image itself.",
    )
    tiles = tuple(_tiles(shown, given.sources, params))
    return GalleryFigure(head, tiles)


def _is_shown(result: TrialResult) -> bool:
    corrupted = arm_of(result.condition) is Arm.CORRUPTION
    return corrupted and bool(result.image and result.request_sha256)


def _tiles(shown: TrialResult, sources: Sources, params: Params) -> Iterator[Tile]:
    raster, side = squared(sources.raster(shown.image)), int(params.blur_table)
    for kind, levels in gallery(raster, sources.seed, side).items():
        for level, made in enumerate(levels) if kind in params.corruptions else ():
            yield Tile(
                picture=_middle(made),
                kind=kind.value,
                item=shown.item,
                finding=f"level {level}",
                model="SHA-256",
                cell=pixels_sha256(made)[:8],
                outcome="",
            )


def _middle(raster: Raster) -> Picture:
    rows, columns = raster.size.rows, raster.size.columns
    top, left = max(0, (rows - _MOST) // 2), max(0, (columns - _MOST) // 2)
    part = raster.pixels[top : top + _MOST, left : left + _MOST]
    return np.ascontiguousarray(part if part.ndim == 3 else np.stack([part] * 3, 2))
