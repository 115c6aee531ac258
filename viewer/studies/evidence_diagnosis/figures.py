"""The paper's figures of a run, as data (Chen 2026, Figures 3 to 6, 9 to 15)."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from viewer.domain.evidence import EvidenceCase, EvidenceType, Language
from viewer.domain.figure import (
    Figure,
    FigureHead,
    PlotFigure,
    PlotPanel,
    PlotSeries,
    RateFigure,
    RatePanel,
    Stack,
    StackFigure,
)
from viewer.domain.report import BarSeries
from viewer.domain.specialties import GROUPS, SPECIALTIES, group_of
from viewer.domain.styles import style_of
from viewer.metrics.sensitivity import TIE
from viewer.studies.evidence_diagnosis.params import Arm, Params, Task
from viewer.studies.evidence_diagnosis.published import CLASSES
from viewer.studies.evidence_diagnosis.rows import Rate, Row, models_of, of_task, rate
from viewer.studies.evidence_diagnosis.sensitivities import CaseSensitivity
from viewer.studies.evidence_diagnosis.tables import Sensitivities

_LANGUAGES: Final = (Language.ENGLISH, Language.CHINESE)
_SCORES: Final = (5, 4, 3, 2, 1, 0)
_ABOVE, _BELOW, _TIED = "image_above", "image_below", "alike"


def case_figures(cases: Sequence[EvidenceCase]) -> Iterator[Figure]:
    """Yield Figures 3 and 9: what the cases are of."""
    types = [of for of in EvidenceType if any(of in case.types for case in cases)]
    yield _counted(
        FigureHead(
            "fig_03a",
            "Figure 3(a)",
            "Types of visual evidence",
            "Cases that have each type of visual evidence.",
        ),
        cases,
        types,
        lambda case: case.types,
    )
    most = max((len(case.types) for case in cases), default=0)
    yield _counted(
        FigureHead(
            "fig_03b",
            "Figure 3(b)",
            "Types of evidence per case",
            "Cases by how many types of visual evidence they have.",
        ),
        cases,
        list(range(1, most + 1)),
        lambda case: (len(case.types),),
    )
    for name, number, strata, of in (
        ("fig_09a", "Figure 9(a)", SPECIALTIES, lambda case: (case.specialty,)),
        ("fig_09b", "Figure 9(b)", tuple(GROUPS), _group),
    ):
        there = [x for x in strata if any(x in of(case) for case in cases)]
        text = "Cases of each specialty or group of specialties."
        head = FigureHead(name, number, "Specialties", text)
        yield _counted(head, cases, there, of)


def class_figure(rows: Sequence[Row], params: Params) -> RateFigure | None:
    """Return Figure 4: mean accuracy of each class of models by group; None without.

    A class's value is the unweighted mean over its models, English cases.
    """
    classes = classes_of(models_of(rows), params)
    english = {row.group for row in rows if row.case.language is Language.ENGLISH}
    groups = [group for group in GROUPS if group in english]
    if not classes or not groups:
        return None
    series = tuple(
        _class_series(name, members, groups, rows) for name, members in classes.items()
    )
    none = tuple((None,) * len(groups) for _ in series)
    head = FigureHead(
        "fig_04",
        "Figure 4",
        "Final diagnosis by class of model",
        "Accuracy on English cases by specialty group, the mean over each class's "
        "models; the cases counted are those of all of them.",
    )
    panel = RatePanel("Final diagnosis", tuple(groups), series, none)
    return RateFigure(head, (panel,), "", "", rate_name="Accuracy")


def classes_of(models: Sequence[str], params: Params) -> dict[str, tuple[str, ...]]:
    """Return the models of each class: as the settings say, else as the paper."""
    said = {
        name.strip(): of.strip()
        for entry in params.model_classes.split(",")
        for name, mark, of in (entry.rpartition("="),)
        if mark
    }
    known = {model: of for of, members in CLASSES.items() for model in members} | said
    found: dict[str, list[str]] = {}
    for model in models:
        if model in known:
            found.setdefault(known[model], []).append(model)
    return {name: tuple(members) for name, members in found.items()}


def score_figures(rows: Sequence[Row]) -> Iterator[Figure]:
    """Yield Figures 10 and 11: how often a judge gave each score."""
    for name, number, task, title in (
        ("fig_10", "Figure 10", Task.DDX, "Scores of differentials"),
        ("fig_11", "Figure 11", Task.OPEN_FDX, "Scores of open final diagnoses"),
    ):
        stacks = tuple(_score_stacks(rows, task))
        if stacks:
            text = "Share of the judged answers with each of the judge's scores."
            head = FigureHead(name, number, title, text)
            names = tuple(f"grade_{score}" for score in _SCORES)
            yield StackFigure(head, names, stacks, "answers", share=True)


def proportion_figures(
    plain: Sensitivities, refined: Sensitivities
) -> Iterator[Figure]:
    """Yield Figures 14 and 15: in how many cases images move a model more than text."""
    if plain:
        types = list(dict.fromkeys(of for _, of in plain))
        by_type = sorted(plain, key=lambda key: types.index(key[1]))
        stacks = [_proportions(str(of), m, plain, of, m) for m, of in by_type]
        yield _proportion_figure("fig_14", "Figure 14", stacks)
    microscopy = EvidenceType.MICROSCOPY
    both = [m for m, of in refined if of is microscopy and (m, of) in plain]
    if both:
        stacks = [
            _proportions(model, name, found, microscopy, model)
            for model in both
            for name, found in (("baseline", plain), ("refined", refined))
        ]
        yield _proportion_figure("fig_15", "Figure 15", stacks)


def scatter_figures(
    sensitivities: Sequence[CaseSensitivity],
) -> Iterator[PlotFigure]:
    """Yield Figures 6 and 13: each case's sensitivity to text and to images."""
    for place, model in enumerate(dict.fromkeys(x.model for x in sensitivities)):
        own = [x for x in sensitivities if x.model == model]
        panels = tuple(
            PlotPanel(str(of), tuple(_points([x for x in own if x.evidence is of])))
            for of in dict.fromkeys(x.evidence for x in own)
        )
        head = FigureHead(
            f"fig_13_{place + 1}",
            "Figure 13",
            f"Sensitivity of {model}",
            "Evidence Sensitivity of each case, as images against as text; on the line "
            "both move the model alike.",
        )
        yield PlotFigure(head, panels, "S, text", "S, image", identity=True)


def attention_figures(rows: Sequence[Row]) -> Iterator[PlotFigure]:
    """Yield Figures 5 and 12: attention per token by layer, with and without text."""
    told = [row for row in rows if row.rapt]
    for place, model in enumerate(models_of(told)):
        own = [row for row in told if row.model == model]
        panels = tuple(
            PlotPanel(name, tuple(_layers([r for r in own if r.showing.name == name])))
            for name in dict.fromkeys(row.showing.name for row in own)
            if name in ("raw", "random_text", "remove_text")
        )
        head = FigureHead(
            f"fig_12_{place + 1}",
            "Figure 12",
            f"Relative attention per token of {model}",
            "Mean over the cases; 1 is what uniform attention gives. Text leaves the "
            "question and its options out.",
        )
        yield PlotFigure(head, panels, "Layer", "RAPT", joined=True)


def _points(of: Sequence[CaseSensitivity]) -> Iterator[PlotSeries]:
    pairs = [
        (x.text.corrected, x.image.corrected)
        for x in of
        if x.text is not None and x.image is not None
    ]
    for code, kept in (
        (_ABOVE, [p for p in pairs if p[1] - p[0] >= TIE]),
        (_BELOW, [p for p in pairs if p[0] - p[1] >= TIE]),
        (_TIED, [p for p in pairs if abs(p[0] - p[1]) < TIE]),
    ):
        if kept:
            xs, ys = zip(*kept, strict=True)
            yield PlotSeries(style_of(code).words, tuple(xs), tuple(ys), code)


def _layers(rows: Sequence[Row]) -> Iterator[PlotSeries]:
    for section in ("image", "text"):
        by_layer: dict[int, list[float]] = {}
        for row in rows:
            for name, layer, value in row.rapt:
                if name == section:
                    by_layer.setdefault(layer, []).append(value)
        layers = sorted(by_layer)
        means = tuple(sum(by_layer[i]) / len(by_layer[i]) for i in layers)
        yield PlotSeries(section, tuple(float(i) for i in layers), means)


def _class_series(
    name: str, members: Sequence[str], groups: Sequence[str], rows: Sequence[Row]
) -> BarSeries:
    keep = of_task(Task.FDX, Arm.RAW, Language.ENGLISH)
    values: list[float | None] = []
    counts: list[int] = []
    for group in groups:
        kept = [row for row in rows if row.group == group]
        rates: list[Rate] = [rate(kept, model, keep) for model in members]
        known = [r.value for r in rates if r.value is not None]
        values.append(sum(known) / len(known) if known else None)
        counts.append(sum(r.n for r in rates))
    return BarSeries(name, tuple(values), (None,) * len(groups), tuple(counts))


def _counted(
    head: FigureHead,
    cases: Sequence[EvidenceCase],
    strata: Sequence[object],
    of: Callable[[EvidenceCase], Sequence[object]],
) -> StackFigure:
    """Return bars of cases by stratum, English below Chinese."""
    counts: Mapping[tuple[object, Language], int] = Counter(
        (stratum, case.language) for case in cases for stratum in of(case)
    )
    stacks = tuple(
        Stack(
            str(stratum),
            "",
            tuple(float(counts[stratum, language]) for language in _LANGUAGES),
        )
        for stratum in strata
    )
    return StackFigure(head, tuple(_LANGUAGES), stacks, "cases", share=False)


def _group(case: EvidenceCase) -> tuple[str, ...]:
    return (group_of(case.specialty),)


def _score_stacks(rows: Sequence[Row], task: Task) -> Iterator[Stack]:
    for language in _LANGUAGES:
        keep = of_task(task, Arm.RAW, language)
        for model in models_of(rows):
            scores = [
                row.judge
                for row in rows
                if row.model == model and keep(row) and row.judge is not None
            ]
            if scores:
                counts = tuple(float(scores.count(score)) for score in _SCORES)
                group = style_of(language).words
                yield Stack(group, model, counts, len(scores))


def _proportions(
    group: str, name: str, found: Sensitivities, of: EvidenceType, model: str
) -> Stack:
    c = found[model, of]
    return Stack(group, name, (float(c.above), float(c.below), float(c.tied)), c.cases)


def _proportion_figure(name: str, number: str, stacks: Sequence[Stack]) -> StackFigure:
    head = FigureHead(
        name,
        number,
        "Images against text",
        "Share of the cases in which an evidence moves the model more as images, less, "
        "or alike.",
    )
    segments = (_ABOVE, _BELOW, _TIED)
    return StackFigure(head, segments, tuple(stacks), "cases", share=True)
