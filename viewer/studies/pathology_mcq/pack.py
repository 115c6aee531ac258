"""Everything that Sun 2024 prints, from one run: ``overread pack pathmmu2024``."""

from collections.abc import Iterator, Mapping
from typing import Final

from viewer.domain.figure import Figure
from viewer.domain.pack import PackData
from viewer.domain.report import Section, Table
from viewer.results.evaluate import evaluate
from viewer.results.spec import TRIALS, Key, TableSpec
from viewer.studies.consistency import published_table
from viewer.studies.packs import PackInput
from viewer.studies.pathology_mcq.consistency import checks
from viewer.studies.pathology_mcq.figure_gallery import gallery_figure
from viewer.studies.pathology_mcq.figure_guess import guess_bars, guess_figure
from viewer.studies.pathology_mcq.frames import asked_frame
from viewer.studies.pathology_mcq.layouts import (
    Told,
    printed,
    table_1,
    table_2,
    table_3,
    table_4,
)
from viewer.studies.pathology_mcq.params import Params, Work, read_params
from viewer.studies.pathology_mcq.published import SOURCE, every_row
from viewer.studies.pathology_mcq.questions import Mcq, mcqs_of
from viewer.studies.pathology_mcq.robustness import level_figure
from viewer.studies.pathology_mcq.tables import baselines

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
        told = _told(given, params)
        bars = guess_bars(given, told, params)
        figures = (gallery_figure(given), level_figure(told), guess_figure(bars))
        laid_out = _laid_out(given, told)
        reported = (t for t in given.report.tables if t.name not in _IN_THE_RUN)
        return PackData(
            self.title,
            self.source,
            (
                *laid_out,
                *((bars,) if bars.rows else ()),
                published_table(every_row(), checks()),
                *reported,
            ),
            tuple(_sections({table.name: table for table in laid_out})),
            tuple(figure for figure in figures if figure is not None),
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


def _asked(given: PackInput) -> tuple[Mcq, ...]:
    mcqs = mcqs_of(given.dataset.items)
    return tuple(mcqs[key] for key in dict.fromkeys(one.item for one in given.results))


def _told(given: PackInput, params: Params) -> Told:
    """Return the run's tables, and what chance comes to on the questions asked."""
    mcqs = tuple(mcqs_of(given.dataset.items).values())
    chance = evaluate(
        TableSpec(
            "baselines",
            (Key("part"), Key("subset")),
            baselines(params, mcqs),
        ),
        {TRIALS: asked_frame(_asked(given))},
    )
    return Told.of((*given.report.tables, chance))


def _laid_out(given: PackInput, told: Told) -> tuple[Table, ...]:
    asked = _asked(given)
    made = (table_1(told, asked), table_2(told), table_3(told, asked), table_4())
    return tuple(table for table in made if table.rows)


def _missing(figures: Figures) -> Iterator[str]:
    gallery, levels, guessing = figures
    if gallery is None or levels is None:
        yield "Figure 4 needs corrupted images; no trial of the tiny test has one."
    if guessing is None:
        yield (
            "Figure 5 needs questions that enough models guess without their images, "
            "or questions put over other options; the run has neither."
        )


_TITLES: Final = {
    "table1": "Table 1",
    "table2": "Table 2",
    "table3": "Table 3",
    "table4_published": "Table 4, as published",
}
_TEXTS: Final = {
    "table1": "Accuracy in per cent. All is the tiny test and the rest of the test; "
    "every item counts the same. Chance needs no model.",
    "table2": "Accuracy in per cent on the tiny test with corrupted images, the mean "
    "over the levels, and what changes against the images as they are.",
    "table3": "Accuracy in per cent with Gaussian noise in the place of images, and "
    "what changes against the images.",
    "table4_published": "Models that the authors fine-tuned; reference only, nothing "
    "is trained here.",
}


def _sections(tables: Mapping[str, Table]) -> Iterator[Section]:
    for name, title in _TITLES.items():
        if name in tables:
            yield printed(tables[name], title, _TEXTS[name])


PACK = PathMmu2024()
