"""Everything that Chen 2026 prints, from one run: ``overread pack medsyn2026``."""

from collections.abc import Container, Iterator, Sequence
from textwrap import fill
from typing import Final

from viewer.domain.choice import letter_of
from viewer.domain.evidence import EvidenceCase, Language
from viewer.domain.figure import Figure, FigureHead, Step, StripFigure
from viewer.domain.pack import PackData
from viewer.studies.evidence_diagnosis.building import HEADINGS
from viewer.studies.evidence_diagnosis.figures import (
    attention_figures,
    case_figures,
    class_figure,
    proportion_figures,
    scatter_figures,
    score_figures,
)
from viewer.studies.evidence_diagnosis.params import (
    Params,
    Task,
    read_params,
)
from viewer.studies.evidence_diagnosis.preparation import is_report
from viewer.studies.evidence_diagnosis.published import SOURCE
from viewer.studies.evidence_diagnosis.report import rows_of
from viewer.studies.evidence_diagnosis.rows import Row
from viewer.studies.evidence_diagnosis.sensitivities import (
    case_sensitivities,
    compared,
    posteriors_are_there,
)
from viewer.studies.packs import PackInput


class Medsyn2026:
    """Every task under every intervention, and each evidence left out in turn."""

    name = "medsyn2026"
    title = "Multimodal models put the evidence of complex cases together"
    source = SOURCE
    study = "evidence_diagnosis"

    def data(self, given: PackInput) -> PackData:
        """Return every table and figure of the paper that the run has answers for."""
        params = read_params(given.spec.preset, given.spec.params)
        rows = rows_of(given.results, given.dataset, params)
        in_the_run = {"items", "results"}
        tables = (t for t in given.report.tables if t.name not in in_the_run)
        return PackData(
            self.title,
            self.source,
            tuple(tables),
            given.report.sections,
            tuple(_figures(given, rows, params)),
            given.report.incomplete,
            tuple(_missing(rows, params)),
        )


def _figures(given: PackInput, rows: Sequence[Row], params: Params) -> Iterator[Figure]:
    yield from _example(given)
    items = (item for item in given.dataset.items if not is_report(item))
    yield from case_figures([EvidenceCase.of_item(item) for item in items])
    by_class = class_figure(rows, params)
    if by_class is not None:
        yield by_class
    yield from score_figures(rows)
    if params.sensitivity:
        found = [
            case_sensitivities(rows, params, refined=refined, seed=given.spec.seed)
            for refined in (False, True)
        ]
        yield from scatter_figures(found[0])
        yield from proportion_figures(*map(compared, found))
    yield from attention_figures(rows)


def _example(given: PackInput) -> Iterator[StripFigure]:
    """Yield Figure 2: an English case, the first image and text of each evidence."""
    cases = (EvidenceCase.of_item(i) for i in given.dataset.items if not is_report(i))
    usable = {image.key for image in given.dataset.images if not image.defects}
    case = next((c for c in cases if _shown(c, usable)), None)
    sources = given.sources
    if case is None or sources is None:
        return
    evidence = tuple(
        Step(one.title, sources.raster(one.images[0]).pixels, fill(one.finding, 30))
        for one in case.evidence[:_SHOWN]
    )
    asked = "\n".join(f"{letter_of(i)}. {o}" for i, o in enumerate(case.options))
    words = f"{case.history} {case.examination} {HEADINGS[case.language].stem}\n{asked}"
    head = FigureHead(
        "fig_02",
        "Figure 2",
        "A case",
        "The question with its text, and each visual evidence with what an expert read "
        f"off it; a model is shown one of the two. The answer is {case.diagnosis}.",
    )
    yield StripFigure(head, (Step("Question", None, words), *evidence))


_SHOWN: Final = 4
"""Pieces of evidence that stand beside the question."""


def _shown(case: EvidenceCase, usable: Container[str]) -> bool:
    english = case.language is Language.ENGLISH
    return english and all(one.images[0] in usable for one in case.evidence)


def _missing(rows: Sequence[Row], params: Params) -> Iterator[str]:
    """Yield why figures are not there."""
    judged = {Task.DDX, Task.OPEN_FDX} & {Task(task) for task in params.tasks}
    if judged and not params.judge:
        yield "Figures 10 and 11 need a judge; name one with --judge."
    if params.sensitivity and (silent := posteriors_are_there(rows)):
        yield (
            f"The options' probabilities are not known of {', '.join(silent)}; choose "
            "an estimator that its endpoint can answer, such as monte_carlo."
        )
    if class_figure(rows, params) is None:
        yield (
            "Figure 4 needs English cases and models of known classes; name those as "
            "model_classes."
        )
    if params.rapt and not any(row.rapt for row in rows):
        yield "Attention per token is told only by models on this machine."


PACK = Medsyn2026()
"""The paper."""
