"""Everything that Chen 2026 prints, from one run: ``overread pack medsyn2026``."""

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping
from textwrap import fill
from typing import Final

from viewer.domain.choice import letter_of
from viewer.domain.evidence import EvidenceCase, Language
from viewer.domain.figure import Figure, FigureHead, Step, StripFigure
from viewer.domain.interpretability import ATTENTION_NEEDS
from viewer.domain.pack import PackData
from viewer.imaging.resample import squared
from viewer.results.evaluate import evaluate_all
from viewer.studies.evidence_diagnosis.building import HEADINGS
from viewer.studies.evidence_diagnosis.figures import (
    Records,
    attention_figures,
    case_figures,
    class_figure,
    gap_figure,
    proportion_figures,
    scatter_figures,
    score_figures,
)
from viewer.studies.evidence_diagnosis.frames import ANSWERS, frames
from viewer.studies.evidence_diagnosis.judge_tables import SCORES_GIVEN
from viewer.studies.evidence_diagnosis.params import (
    Params,
    Task,
    read_params,
)
from viewer.studies.evidence_diagnosis.preparation import is_report
from viewer.studies.evidence_diagnosis.published import SOURCE
from viewer.studies.evidence_diagnosis.sensitivity_tables import REFINED
from viewer.studies.packs import PackInput


class Medsyn2026:
    """Every task under every intervention, and each evidence left out in turn."""

    name = "medsyn2026"
    title = "Multimodal models integrate the evidence of complex cases"
    source = SOURCE
    study = "evidence_diagnosis"

    def data(self, given: PackInput) -> PackData:
        """Return every table and figure of the paper that the run has answers for."""
        params = read_params(given.spec.preset, given.spec.params)
        in_the_run = {"items", "results"}
        tables = (t for t in given.report.tables if t.name not in in_the_run)
        rows = _rows_of_tables(given, params)
        return PackData(
            self.title,
            self.source,
            tuple(tables),
            given.report.sections,
            tuple(_figures(given, rows, params)),
            given.report.incomplete,
            (*given.report.warnings, *_missing(rows, params)),
        )


_Rows = Mapping[str, Records]
"""The rows of every table, by its name."""


def _rows_of_tables(given: PackInput, params: Params) -> _Rows:
    made = frames(given.results, given.spec, params, given.dataset)
    more = evaluate_all((SCORES_GIVEN, REFINED), made) if ANSWERS in made else ()
    found: dict[str, Records] = defaultdict(list)
    found |= {table.name: table.records() for table in (*given.report.tables, *more)}
    return found


def _figures(given: PackInput, rows: _Rows, params: Params) -> Iterator[Figure]:
    yield from _example(given)
    items = (item for item in given.dataset.items if not is_report(item))
    yield from case_figures([EvidenceCase.of_item(item) for item in items])
    gap = gap_figure(rows["table_02"])
    if gap is not None:
        yield gap
    by_class = class_figure(rows["table_11"], params)
    if by_class is not None:
        yield by_class
    yield from score_figures(rows[SCORES_GIVEN.name])
    yield from scatter_figures(rows["sensitivity"])
    yield from proportion_figures(rows["table_12"], rows[REFINED.name])
    yield from attention_figures(rows["rapt"])


def _example(given: PackInput) -> Iterator[StripFigure]:
    """Yield Figure 2: an English case, the first image and text of each evidence."""
    cases = (EvidenceCase.of_item(i) for i in given.dataset.items if not is_report(i))
    usable = {image.key for image in given.dataset.images if not image.defects}
    case = next((c for c in cases if _shown(c, usable)), None)
    sources = given.sources
    if case is None or sources is None:
        return
    evidence = tuple(
        Step(
            one.title,
            squared(sources.raster(one.images[0])).pixels,
            fill(one.finding, 30),
            str(one.type),
        )
        for one in case.evidence[:_SHOWN]
    )
    asked = "\n".join(f"{letter_of(i)}. {o}" for i, o in enumerate(case.options))
    words = f"{case.history} {case.examination} {HEADINGS[case.language].stem}\n{asked}"
    head = FigureHead(
        "fig_02",
        "Figure 2",
        "Question and evidence of a case",
        "The question with its text, and each piece of visual evidence with an "
        "expert's reading of it; a model is shown one of the two. The answer is "
        f"{case.diagnosis}.",
    )
    yield StripFigure(head, (Step("Question", None, words, "text"), *evidence))


_SHOWN: Final = 4
"""Pieces of evidence that are shown with the question."""


def _shown(case: EvidenceCase, usable: Container[str]) -> bool:
    english = case.language is Language.ENGLISH
    return english and all(one.images[0] in usable for one in case.evidence)


def _missing(rows: _Rows, params: Params) -> Iterator[str]:
    """Yield the reasons why figures are missing."""
    judged = {Task.DDX, Task.OPEN_FDX} & {Task(task) for task in params.tasks}
    if judged and not params.judge:
        yield "Figures 10 and 11 need a judge; name one with --judge."
    if class_figure(rows["table_11"], params) is None:
        yield (
            "Figure 4 needs English cases and models of known classes; name those as "
            "model_classes."
        )
    if rows["table_12_zh"] and not rows["table_12"]:
        yield "Figures 14 and 15 need English cases."
    if params.rapt and not rows["rapt"]:
        yield ATTENTION_NEEDS


PACK = Medsyn2026()
"""The paper."""
