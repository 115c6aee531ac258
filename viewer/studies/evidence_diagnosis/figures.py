"""The paper's figures of a run, as data (Chen 2026, Figures 3 to 6, 9 to 15)."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

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
from viewer.studies.evidence_diagnosis.judge_tables import LEVELS
from viewer.studies.evidence_diagnosis.params import Params, Task
from viewer.studies.evidence_diagnosis.published import CLASSES
from viewer.studies.evidence_diagnosis.words import condition_words
from viewer.studies.tables import CI_CAPTION

_LANGUAGES: Final = (Language.ENGLISH, Language.CHINESE)
_GRADES: Final = tuple(f"grade_{score}" for score in LEVELS)
_ABOVE, _BELOW, _TIED = "image_above", "image_below", "alike"
Records = Sequence[Mapping[str, Any]]
"""A table's rows, each by column."""


def case_figures(cases: Sequence[EvidenceCase]) -> Iterator[Figure]:
    """Yield Figures 3 and 9: the composition of the cases."""
    types = [of for of in EvidenceType if any(of in case.types for case in cases)]
    yield _counted(
        FigureHead(
            "fig_03a",
            "Figure 3(a)",
            "Cases by type of visual evidence",
            "Cases with each type of visual evidence.",
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
            "Cases by number of types of evidence",
            "Cases by number of types of visual evidence.",
        ),
        cases,
        list(range(1, most + 1)),
        lambda case: (len(case.types),),
    )
    for name, number, kind, strata, of in (
        ("fig_09a", "Figure 9(a)", "specialty", SPECIALTIES, _specialty),
        ("fig_09b", "Figure 9(b)", "specialty group", tuple(GROUPS), _group),
    ):
        there = [x for x in strata if any(x in of(case) for case in cases)]
        words = f"Number of cases of each {kind}."
        head = FigureHead(name, number, f"Cases by {kind}", words)
        yield _counted(head, cases, there, of)


def _specialty(case: EvidenceCase) -> tuple[str, ...]:
    return (case.specialty,)


def gap_figure(overall: Records) -> RateFigure | None:
    """Return Figure 1(b), coverage of lists and of final diagnoses, or None.

    It uses the English cases of Table 2; physicians come first if both of their rates
    are known. Below each name stands how many points the differential is ahead.
    """
    rows = [row for row in overall if None not in (row["ddx_en"], row["fdx_en"])]
    if not rows:
        return None
    names = tuple(row["model"] for row in rows)
    series = tuple(
        BarSeries(
            name,
            tuple(row[f"{task}_en"] for row in rows),
            (None,) * len(rows),
            tuple(row[f"{task}_en_n"] for row in rows),
            tuple(_ends(row, f"{task}_en_ci") for row in rows),
        )
        for task, name in (("ddx", "Differential"), ("fdx", "Final diagnosis"))
    )
    head = FigureHead(
        "fig_01b",
        "Figure 1(b)",
        "Differential and final diagnosis",
        "Share of English cases whose differential includes the diagnosis, according "
        "to the judge, and share with the correct final diagnosis. Below each name: "
        "the gap between the two in percentage points.",
    )
    none = tuple((None,) * len(rows) for _ in series)
    gaps = (f"{row['gap_pp_en']:+.1f} pp".replace("-", "−") for row in rows)
    panel = RatePanel("English cases", names, series, none, notes=tuple(gaps))
    return RateFigure(head, (panel,), CI_CAPTION, "", rate_name="Share", in_order=True)


def _ends(row: Mapping[str, Any], of: str) -> tuple[float, float] | None:
    """Return an interval's ends, None if it is not estimable."""
    low, high = row[f"{of}_low"], row[f"{of}_high"]
    return None if None in (low, high) else (low, high)


def class_figure(by_group: Records, params: Params) -> RateFigure | None:
    """Return Figure 4: mean accuracy of each class of models by group; None without.

    It is made of Table 11, English cases. A class's value is the unweighted mean over
    its models.
    """
    classes = classes_of([row["model"] for row in by_group], params)
    there = {row["stratum"] for row in by_group}
    groups = tuple(group for group in GROUPS if group in there)
    if not classes:
        return None
    series = tuple(
        _class_series(name, members, groups, by_group)
        for name, members in classes.items()
    )
    none = tuple((None,) * len(groups) for _ in series)
    head = FigureHead(
        "fig_04",
        "Figure 4",
        "Final diagnosis by class of model",
        "Accuracy on English cases by specialty group, averaged over each class's "
        "models; n counts the cases of all of them.",
    )
    panel = RatePanel("Final diagnosis", groups, series, none)
    return RateFigure(head, (panel,), "", "", rate_name="Accuracy")


def classes_of(models: Sequence[str], params: Params) -> dict[str, tuple[str, ...]]:
    """Return the models of each class: as the settings say, else as the paper."""
    given = {
        name.strip(): of.strip()
        for entry in params.model_classes.split(",")
        for name, mark, of in (entry.rpartition("="),)
        if mark
    }
    known = {model: of for of, members in CLASSES.items() for model in members} | given
    found: dict[str, list[str]] = {}
    for model in dict.fromkeys(models):
        if model in known:
            found.setdefault(known[model], []).append(model)
    return {name: tuple(members) for name, members in found.items()}


def score_figures(given: Records) -> Iterator[Figure]:
    """Yield Figures 10 and 11: how often a judge gave each score."""
    for name, number, task, title in (
        ("fig_10", "Figure 10", Task.DDX, "Scores of differentials"),
        ("fig_11", "Figure 11", Task.OPEN_FDX, "Scores of open final diagnoses"),
    ):
        stacks = tuple(_score_stack(row) for row in given if row["task"] == task)
        if stacks:
            text = "Share of the judged answers with each judge score."
            head = FigureHead(name, number, title, text)
            yield StackFigure(head, _GRADES, stacks, "answers", share=True)


def proportion_figures(plain: Records, refined: Records) -> Iterator[Figure]:
    """Yield Figures 14 and 15: in how many cases images move a model more than text.

    They are made of Table 12, and of the same under the refined prompt.
    """
    found = [row for row in plain if row["cases"] is not None]
    if found:
        types = list(dict.fromkeys(row["evidence"] for row in found))
        by_type = sorted(found, key=lambda row: types.index(row["evidence"]))
        stacks = [
            _proportions(row["evidence"], row["model"], row, row["evidence"])
            for row in by_type
        ]
        title = "Images versus text, by type of evidence"
        yield _proportion_figure("fig_14", "Figure 14", title, stacks)
    before, after = (
        {
            row["model"]: row
            for row in rows
            if row["evidence"] == EvidenceType.MICROSCOPY
        }
        for rows in (found, refined)
    )
    stacks = [
        _proportions(model, name, of[model])
        for model in after
        if model in before
        for name, of in (("baseline", before), ("refined", after))
    ]
    if stacks:
        title = "Images versus text, microscopy under both prompts"
        yield _proportion_figure("fig_15", "Figure 15", title, stacks)


def scatter_figures(sensitivities: Records) -> Iterator[PlotFigure]:
    """Yield Figures 6 and 13: each case's sensitivity to text and to images."""
    for place, (model, own) in enumerate(_by("model", sensitivities)):
        panels = tuple(
            PlotPanel(str(of), tuple(_points(rows)), str(of))
            for of, rows in _by("evidence", own)
        )
        head = FigureHead(
            f"fig_13_{place + 1}",
            "Figure 13",
            f"Evidence Sensitivity of {model}",
            "Evidence Sensitivity of each case, with images versus with text; on the "
            "line, both move the model equally.",
        )
        yield PlotFigure(head, panels, "S, text", "S, image", identity=True)


def attention_figures(attention: Records) -> Iterator[PlotFigure]:
    """Yield Figures 5 and 12: attention per token by layer, with and without text."""
    for place, (model, own) in enumerate(_by("model", attention)):
        panels = tuple(
            PlotPanel(condition_words(str(arm)), tuple(_layers(rows)))
            for arm, rows in _by("arm", own)
            if arm in ("raw", "random_text", "remove_text")
        )
        head = FigureHead(
            f"fig_12_{place + 1}",
            "Figure 12",
            f"Relative attention per token of {model}",
            "Mean over the cases; uniform attention gives 1. Text excludes the "
            "question and its options.",
        )
        yield PlotFigure(head, panels, "Layer", "RAPT", joined=True)


def _by(column: str, rows: Records) -> Iterator[tuple[object, Records]]:
    for value in dict.fromkeys(row[column] for row in rows):
        yield value, [row for row in rows if row[column] == value]


def _points(of: Records) -> Iterator[PlotSeries]:
    both = [(row["text_corrected"], row["image_corrected"]) for row in of]
    pairs = [pair for pair in both if None not in pair]
    for code, points in (
        (_ABOVE, [p for p in pairs if p[1] - p[0] >= TIE]),
        (_BELOW, [p for p in pairs if p[0] - p[1] >= TIE]),
        (_TIED, [p for p in pairs if abs(p[0] - p[1]) < TIE]),
    ):
        if points:
            xs, ys = zip(*points, strict=True)
            yield PlotSeries(style_of(code).words, tuple(xs), tuple(ys), code)


def _layers(rows: Records) -> Iterator[PlotSeries]:
    for section in ("image", "text"):
        means = {row["layer"]: row["rapt"] for row in rows if row["section"] == section}
        layers = sorted(means)
        values = tuple(means[layer] for layer in layers)
        code = section if section == "text" else ""  # grey, as in the question
        yield PlotSeries(section, tuple(map(float, layers)), values, code)


def _class_series(
    name: str, members: Sequence[str], groups: Sequence[str], rows: Records
) -> BarSeries:
    own = [[row for row in rows if row["stratum"] == group] for group in groups]
    of_class = [[row for row in of if row["model"] in members] for of in own]
    known = [[x["fdx"] for x in of if x["fdx"] is not None] for of in of_class]
    values = tuple(sum(of) / len(of) if of else None for of in known)
    counts = tuple(sum(row["n"] for row in of) for of in of_class)
    return BarSeries(name, values, (None,) * len(groups), counts)


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
            code=str(stratum) if isinstance(stratum, EvidenceType) else "",
        )
        for stratum in strata
    )
    return StackFigure(head, tuple(_LANGUAGES), stacks, "cases", share=False)


def _group(case: EvidenceCase) -> tuple[str, ...]:
    return (group_of(case.specialty),)


def _score_stack(row: Mapping[str, Any]) -> Stack:
    counts = tuple(float(row[grade]) for grade in _GRADES)
    group = style_of(row["language"]).words
    return Stack(group, row["model"], counts, int(sum(counts)))


def _proportions(
    group: str, name: str, row: Mapping[str, Any], code: str = ""
) -> Stack:
    counts = tuple(float(row[of]) for of in ("image_above", "image_below", "tied"))
    return Stack(group, name, counts, row["cases"], code=code)


def _proportion_figure(
    name: str, number: str, title: str, stacks: Sequence[Stack]
) -> StackFigure:
    head = FigureHead(
        name,
        number,
        title,
        "Share of English cases in which a piece of evidence moves the model more, "
        "less or equally as images than as text.",
    )
    segments = (_ABOVE, _BELOW, _TIED)
    return StackFigure(head, segments, tuple(stacks), "cases", share=True)
