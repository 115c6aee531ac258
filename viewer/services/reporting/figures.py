"""The figures of a run, for the window and for a pack."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from viewer.domain.case import DatasetImage, View
from viewer.domain.conditions import is_studys_own, window_of
from viewer.domain.errors import ProviderError
from viewer.domain.exchange import ModelReply, TextPart
from viewer.domain.figure import CardFigure, Figure
from viewer.domain.image import Raster
from viewer.domain.interpretability import Measured
from viewer.domain.pack import PackData
from viewer.domain.result import TrialResult
from viewer.domain.run import ANSWER_STEP, Condition, Trial
from viewer.imaging.luts import to_raster
from viewer.imaging.resample import squared
from viewer.models.catalog import reader_for
from viewer.services.readings.reviewing import KINDS, ErrorCounts, error_counts
from viewer.services.readings.verdicts import Scope, verdicts_of
from viewer.services.reporting.grading import readers_stamp, score_changed_grades
from viewer.services.reporting.report_run import (
    RunReport,
    checked_report,
    report_data,
    write_run_report,
)
from viewer.services.trials.run_context import RunContext
from viewer.services.viewing.returned_pictures import returned_rasters
from viewer.store import runs, trials
from viewer.store.database import Store, open_store
from viewer.store.trial_columns import trial_columns
from viewer.studies.control_tables import are_controlled, control_figure
from viewer.studies.controls import Controlled
from viewer.studies.packs import Pack, PackInput, Reviewed

_KEPT = 2
"""Runs whose figures are kept; each has pictures."""


@dataclass(frozen=True)
class RunFigures:
    """A run's figures by the paper's numbers, and why others are missing."""

    figures: tuple[Figure, ...] = ()
    missing: tuple[str, ...] = ()


def run_figures(store: Path, run: int) -> RunFigures:
    """Return every figure that a run can have; reads the run's images.

    An unknown run raises; without an image, figures that show it are missing.
    """
    with open_store(store) as opened:
        runs.run_summary(opened, run)  # an unknown one is refused
        score_changed_grades(opened)
        stamp = (
            trials.verdict_stamp(opened, run),
            _review_key(opened, run),
            readers_stamp(opened, run),
        )
        return _figures_at(store, run, stamp)


@lru_cache(maxsize=_KEPT)
def _figures_at(store: Path, run: int, _stamp: object) -> RunFigures:
    """Return a run's figures, cached until a verdict or a review changes."""
    with open_store(store) as opened:
        report = report_data(opened, run)
        pack = report.context.study.pack
        if pack is None:
            return RunFigures()
        data = pack_data(pack, pack_input(opened, report), report)
        return RunFigures(data.figures, data.missing)


def write_report(store: Store, run: int, out: Path) -> tuple[Path, ...]:
    """Write a run's report with its cards into a folder; return the files written."""
    report = checked_report(store, run)
    return write_run_report(store, report, out, cards_of(store, report))


def cards_of(store: Store, report: RunReport) -> tuple[Figure, ...]:
    """Return the cards of outputs that readers graded; other runs have none."""
    study = report.context.study
    if study.pack is None or not study.words.graded:
        return ()
    drawn = study.pack.data(pack_input(store, report)).figures
    return tuple(one for one in drawn if isinstance(one, CardFigure))


def pack_data(pack: Pack, given: PackInput, report: RunReport) -> PackData:
    """Return a pack's tables and figures, and how much the image matters.

    That is drawn where the run has controls beside the conditions of its study.
    """
    data, study = pack.data(given), report.context.study
    if not isinstance(study, Controlled) or not are_controlled(report.results):
        return data
    figure = control_figure(study, report.results)
    return replace(data, figures=(*data.figures, figure))


def pack_input(
    store: Store,
    report: RunReport,
    order: tuple[str, str] | None = None,
    *,
    reference_cells: bool = False,
) -> PackInput:
    """Return the input of a pack: report, pictures, and readers' verdicts.

    Readers' verdicts are those on frontal views of the run's first condition, as in the
    paper (E000-24). ``order`` and ``reference_cells`` are those of the figures.
    """
    context, run = report.context, report.summary.id
    first = context.study.conditions(context.params)[0].name
    scope = Scope(first, (View.FRONTAL.value,))
    replies = _Replies(store, report)
    return PackInput(
        report.data,
        [one for one in report.results if is_studys_own(one.condition)],
        context.spec,
        context.dataset,
        RunPictures(context),
        {
            stratum: reviewed_of(counts)
            for stratum, counts in error_counts(store, run).items()
            if counts.reviewed
        },
        {
            (one.task.item, one.model): KINDS[one.final]
            for one in verdicts_of(store, run).get(scope, ())
        },
        order,
        reference_cells,
        context.sources(),
        replies.measured,
        replies.returned,
    )


class _Replies:
    """What came with answers, read from their replies when it is wanted."""

    def __init__(self, store: Store, report: RunReport) -> None:
        self._store, self._run = store, report.summary.id
        self._readers = {one.name: one for one in report.context.spec.models}

    def measured(self, one: TrialResult) -> Measured | None:
        """Return the measurements of a trial, None without any."""
        reply = self._reply(one)
        return reply.measured if reply else None

    def returned(self, one: TrialResult) -> tuple[Raster, ...]:
        """Return the pictures that a trial's model returned."""
        reply = self._reply(one)
        return returned_rasters(reply) if reply else ()

    def _reply(self, one: TrialResult) -> ModelReply | None:
        kept = self._kept.get((one.item, one.condition, one.model, one.repeat))
        if kept is None:
            return None
        raw = trials.reply_with_id(self._store, kept).raw
        try:
            return reader_for(self._readers[one.model]).read(raw)
        except ProviderError:
            return None  # nothing can be read from what came

    @cached_property
    def _kept(self) -> Mapping[tuple[object, ...], int]:
        names = ("item", "condition", "model", "repeat", "reply_id")
        columns = trial_columns(self._store, self._run, names)
        rows = zip(*(columns[name] for name in names), strict=True)
        return {tuple(who): reply for *who, reply in rows if reply is not None}


def _review_key(store: Store, run: int) -> tuple[tuple[object, ...], ...]:
    """Return a key that changes with a run's reviews."""
    return tuple(
        (scope, one.task.item, one.model, one.final)
        for scope, verdicts in verdicts_of(store, run).items()
        for one in verdicts
    )


def reviewed_of(counts: ErrorCounts) -> Reviewed:
    """Return the misses of each kind, N·k/n for a reviewed sample (E000-25)."""
    return Reviewed(
        position=counts.estimated("position"),
        anatomy=counts.estimated("anatomy"),
        unsure=counts.estimated("unsure"),
        partial=counts.estimated("partial"),
        reviewed=counts.reviewed,
        position_ends=_ends(counts, "position"),
        anatomy_ends=_ends(counts, "anatomy"),
        finished=counts.finished,
    )


def _ends(counts: ErrorCounts, kind: str) -> tuple[int, int] | None:
    estimate = counts.estimate(kind)
    return (estimate.low, estimate.high) if estimate else None


_Greys = npt.NDArray[np.uint8]


class RunPictures:
    """A run's images as they were sent, read on demand.

    For a study whose answers are not locations this raises WrongUseError.
    """

    def __init__(self, context: RunContext) -> None:
        self._context = context
        conditions = context.study.conditions(context.params)
        self._conditions = {condition.name: condition for condition in conditions}

    def sent(self, image: str, condition: str) -> _Greys:
        """Return an image as sent but without its grid: (side, side) grey."""
        return _grey(self._context.plain(image, self._condition(condition)).pixels)

    def gridded(self, image: str, condition: str) -> _Greys:
        """Return the exact image that was sent, (rows, columns, 3)."""
        asked = self._condition(condition)
        raster, _ = self._context.drawn.raster((image, window_of(asked)))
        pixels = self._context.places.gridded(raster, asked).pixels
        return pixels if pixels.ndim == 3 else np.stack([pixels] * 3, axis=-1)

    def native(self, image: str, most: int) -> _Greys:
        """Return the whole image, greys, its longer side about ``most`` pixels."""
        pixels = _grey(squared(to_raster(self._context.drawn.pixels_of(image))).pixels)
        step = max(1, -(-max(pixels.shape) // most))
        # The rest at the far edges fills no whole block.
        rows, columns = (n // step * step for n in pixels.shape)
        blocks = pixels[:rows, :columns].reshape(
            rows // step, step, columns // step, step
        )
        return np.asarray(np.rint(blocks.mean(axis=(1, 3))), dtype=np.uint8)

    def mask(self, image: str, finding: str) -> npt.NDArray[np.bool_]:
        """Return a reference mask on the square sent, (side, side)."""
        known = self._image(image)
        return self._context.places.shown_mask(known.masks[finding], known.geometry)

    def prompt(self, result: TrialResult) -> str:
        """Return the words that a trial was asked in."""
        context, trial = self._context, self._trial(result)
        sources = context.sources(context.profiles[trial.model])
        question = context.question(trial, ANSWER_STEP, (), sources)
        parts = (p for m in question.messages for p in m.parts)
        return "\n".join(part.text for part in parts if isinstance(part, TextPart))

    def _image(self, name: str) -> DatasetImage:
        return self._context.images[name]

    def _condition(self, name: str) -> Condition:
        return self._conditions.get(name, Condition(name))

    def _trial(self, result: TrialResult) -> Trial:
        return Trial(
            item=result.item,
            patient=result.patient,
            image=result.image,
            view=result.view,
            finding=result.finding,
            condition=self._condition(result.condition),
            repeat=result.repeat,
            model=result.model,
        )


def _grey(pixels: _Greys) -> _Greys:
    """Convert to grey by the mean of the channels."""
    if pixels.ndim == 2:
        return pixels
    return np.asarray(np.rint(pixels.mean(axis=2)), dtype=np.uint8)
