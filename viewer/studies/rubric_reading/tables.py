"""The paper's tables and ours, as specifications, at full precision."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from viewer.domain.rubric import LEVELS, Dimension
from viewer.domain.task_selection import Answerable
from viewer.results.estimators.paired import QUADRATIC_KAPPA
from viewer.results.spec import (
    P_VALUE,
    Cell,
    Key,
    ListSpec,
    Shown,
    Spec,
    TableSpec,
    Where,
)
from viewer.studies.rubric_reading.candidates import Criterion
from viewer.studies.rubric_reading.estimators import (
    ABSOLUTE_DIFFERENCE,
    ADJUSTED_P,
    OF_READERS,
    OF_TWO,
    SIGNED_RANK,
    SPREAD,
)
from viewer.studies.rubric_reading.final import OF_IMAGES, TESTED, Measure
from viewer.studies.rubric_reading.frames import (
    CANDIDATE_COLUMNS,
    CANDIDATES,
    ENDINGS,
    INPUTS,
    PROMPTS,
    REGIONS,
    RUBRIC,
    SELECTION,
    TAGGED,
)
from viewer.studies.rubric_reading.graded import (
    CARDS,
    CODES,
    COMPARED,
    GRADES,
    IMAGES,
    READ_TWICE,
    SCORES,
    TEXTS,
    Graded,
)
from viewer.studies.rubric_reading.params import ContentOrder

_CATEGORY: Final = Key("category", values=tuple(one.words for one in Dimension))
_SPREAD: Final = Cell(SPREAD, ("mean", "sd"), ("value",))
_FIVES: Final = (
    Cell("sum", ("n_5",), ("five",)),
    Cell("share", ("share_5",), ("five",)),
)
_MODELS: Final = ("one", "other")
_ADJUSTED: Final = Shown("p_adjusted", "Adjusted p", P_VALUE)
_READERS: Final = ("main", "second")
_THREE: Final = ".3f"
_BOTH: Final = ("main_score", "second_score")


def _size(name: str, **where: object) -> Cell:
    """Return the number of rows with these values."""
    return Cell("size", (name,), where={key: (value,) for key, value in where.items()})


def _candidates(name: str, **where: object) -> Cell:
    """Return the number of proposed tasks with these values."""
    return replace(_size(name, **where), frame=CANDIDATES)


OUTPUTS: Final = TableSpec(
    "outputs",
    (Key("model"),),
    (
        _size("n_planned"),
        *(_size(f"n_{ending}", ending=ending) for ending in ENDINGS),
        _size("n_with_boxes", with_boxes=True),
        Cell("sum", ("n_annotated_images",), ("n_annotated_images",)),
        Cell("sum", ("n_boxes",), ("n_boxes",)),
    ),
)
"""What was planned of each model, and what came of it (E001-09)."""
RUN: Final[tuple[Spec, ...]] = (
    OUTPUTS,
    ListSpec("prompt_difference", frame=PROMPTS),
    ListSpec("rubric", frame=RUBRIC),
)
ASKED: Final = ListSpec("inputs", frame=INPUTS)
COVERAGE: Final = TableSpec(
    "coverage",
    (Key("region"), Key("paper_percent")),
    (
        Cell(
            "distinct",
            ("tasks", "share"),
            ("task",),
            against={"region": None, "paper_percent": None, "counted": None},
            frame=REGIONS,
        ),
    ),
    frame=REGIONS,
    where={"counted": (True,)},
)
"""How many tasks each region has (E001-05); a task of two counts under both."""
SELECTED: Final[tuple[Spec, ...]] = (
    ListSpec("selection", frame=SELECTION),
    COVERAGE,
    ListSpec("tags", frame=TAGGED),
)
_SUMS: Final = tuple(range(len(Criterion), 5 * len(Criterion) + 1))
PROPOSED: Final[tuple[Spec, ...]] = (
    ListSpec("candidates", CANDIDATE_COLUMNS, frame=CANDIDATES),
    TableSpec(
        "quality_histogram",
        (Key("total", values=_SUMS),),
        (_size("candidates"),),
        frame=CANDIDATES,
        outer=("total",),
        every=True,
    ),
    TableSpec(
        "proposed",
        (Key("model"),),
        (
            *(_size("studies"), _size("without_tasks", proposed=False)),
            _candidates("tasks"),
            _candidates("scored", scored=True),
            _candidates("tagged", tagged=True),
            _candidates("risk_flag", risk=True),
            _candidates("other_sum", other_sum=True),
        ),
        "Proposed tasks",
        "Tasks that models proposed, scored and tagged. Sums are recomputed; the last "
        "column counts tasks whose own Conclusion is a different number or missing.",
        shown=(
            *("model", "studies", "without_tasks", "tasks", "scored", "tagged"),
            *(Shown("risk_flag", "Flagged as a risk"), Shown("other_sum", "Other sum")),
        ),
    ),
)
"""What models proposed (E001-02, -03, -06), the best of a study first."""
CARDED: Final = ListSpec(
    "error_cards",
    title="What readers objected to",
    text="Graded outputs with a concern, a code or a comment.",
    frame=CARDS,
    shown=(
        *("task", "model", "reader", "image", Shown("meanings", "What is wrong")),
        *("concerns", "comments", "excerpt"),
    ),
)


def grade_specs(given: Graded) -> list[Spec]:
    """Return the tables of grades; those of two readers where two have graded."""
    return [
        _means("table_1", "Scores of content and language", TESTED[:2], given),
        _means("table_2", "Scores of the parts of the content", TESTED[2:], given),
        _tests(given),
        *_of_scores(given),
        *(_OF_TWO_READERS if given.second else ()),
        _OF_ALL_READERS,
        *_of_outputs(Key("model", values=given.models)),
    ]


def _means(name: str, title: str, measures: tuple[Measure, ...], given: Graded) -> Spec:
    """Return the means of measures; two models are tested against each other."""
    adjusted = Cell(
        ADJUSTED_P,
        ("p_adjusted",),
        _MODELS,
        {"of_two": (True,)},
        {"metric": None},
        _tested(given),
        COMPARED,
    )
    table = _by_metric(name, measures, given, (_size("n"), _SPREAD, adjusted))
    return replace(
        table,
        title=title,
        text="Mean and SD (n - 1) of final scores, averaged over readers. p: paired "
        "Wilcoxon signed-rank test on common tasks, Benjamini-Hochberg over the "
        "five measures.",
        shown=("metric", "model", "n", "mean", Shown("sd", "SD"), _ADJUSTED),
    )


def _by_metric(
    name: str,
    measures: tuple[Measure, ...],
    given: Graded,
    cells: tuple[Cell, ...],
) -> TableSpec:
    """Return a table of final scores with one row per model and measure."""
    return TableSpec(
        name,
        (_metric(measures), Key("model", values=given.models)),
        cells,
        frame=SCORES,
        where=_chosen(given),
        outer=("model", "metric"),
        every=True,
    )


def _metric(measures: tuple[Measure, ...]) -> Key:
    return Key("metric", values=tuple(measure.words for measure in measures))


def _chosen(given: Graded) -> Where:
    """Return the note that Content uses the chosen order."""
    return {"order": (str(given.params.content_order),)}


def _tests(given: Graded) -> Spec:
    """Return the five tests of each two models that were graded (E001-14).

    Dimensions are never tested against one another (Banerjee 2025, 3.4).
    """
    names = (
        *("n", "n_zero", "rank_sum_plus", "rank_sum_minus", "p", "p_adjusted"),
        *("effect", "mean_difference", "method"),
    )
    whole = {"metric": None}
    test = Cell(SIGNED_RANK, names, _MODELS, against=whole, options=_tested(given))
    return TableSpec(
        "tests",
        (Key("metric"), Key("first"), Key("second")),
        (test,),
        "Tests of the models' scores",
        "Paired Wilcoxon signed-rank tests on common tasks, two-sided; Benjamini-"
        "Hochberg over the five measures of each two models. Effect: matched-pairs "
        "rank-biserial correlation. tests.csv has every method.",
        frame=COMPARED,
        shown=(
            *("first", "second", "metric", "n", Shown("n_zero", "Without difference")),
            *(Shown("mean_difference", "Difference", "+.2f"), "effect"),
            *(Shown("p", "p", P_VALUE), _ADJUSTED),
        ),
    )


def _tested(given: Graded) -> dict[str, Any]:
    return {
        "family": "metric",
        "cluster": "patient",
        "zero_method": given.params.zero_method,
        "p_method": given.params.p_method,
    }


def _of_scores(given: Graded) -> Iterator[Spec]:
    """Yield further tables of final scores (E001-13, E001-15, figure 3)."""
    low = Cell("sum", ("n_below_3",), ("low",))
    share = Cell("share", ("share_below_3",), ("low",))
    cells = (_size("n"), *_FIVES, low, share)
    yield _by_metric("shares", tuple(Measure), given, cells)
    tasks = Cell("distinct", ("tasks",), ("item",))
    cells = (tasks, _size("images"), _SPREAD, *_FIVES)
    yield _by_metric("images", OF_IMAGES, given, cells)
    model = Key("model", values=given.models)
    yield TableSpec(
        "content_orders",
        (model, Key("order", values=tuple(map(str, ContentOrder)))),
        (_size("n"), _SPREAD),
        frame=SCORES,
        where={"metric": (Measure.CONTENT.words,)},
        outer=("order", "model"),
        every=True,
    )
    halves = tuple(half / 2 for half in range(2, 11))
    yield TableSpec(
        "figure_3",
        (model, _metric(tuple(Measure)), Key("half", "score", values=halves)),
        (_size("count"),),
        frame=SCORES,
        where=_chosen(given),
        outer=("model", "metric", "half"),
        every=True,
    )


def _by_category(name: str, *cells: Cell) -> TableSpec:
    """Return a table of what both readers graded with one row per category."""
    return TableSpec(
        name,
        (_CATEGORY,),
        (_size("n"), *cells),
        frame=READ_TWICE,
        outer=("category",),
        every=True,
    )


def _of_patients(estimator: str, *names: str) -> Cell:
    return Cell(estimator, names, _BOTH, options={"cluster": "patient"})


_TABLE_3: Final = replace(
    _by_category(
        "table_3",
        _of_patients(QUADRATIC_KAPPA, "qwk"),
        _of_patients(ABSOLUTE_DIFFERENCE, "mad"),
        *(
            Cell(SPREAD, (f"{who}_mean", f"{who}_sd"), (f"{who}_score",))
            for who in _READERS
        ),
    ),
    title="Agreement of two readers",
    text="Quadratic weighted kappa with fixed labels 1 to 5, mean absolute "
    "difference and each reader's mean and SD, over what both graded.",
    shown=(
        *("category", "n", Shown("qwk", "Weighted kappa", _THREE)),
        Shown("mad", "Mean absolute difference", _THREE),
        *(
            Shown(f"{who}_{name}", header, _THREE, group=f"{who.title()} reader")
            for who in _READERS
            for name, header in (("mean", "Mean"), ("sd", "SD"))
        ),
    ),
)
_COEFFICIENTS: Final = tuple(
    f"{name}{of}"
    for name in ("ac2", "alpha")
    for of in ("", "_low", "_high", "_method")
)
_AGREEMENT: Final = _by_category(
    "agreement",
    _of_patients(QUADRATIC_KAPPA, "qwk", "qwk_low", "qwk_high", "qwk_method"),
    _of_patients(ABSOLUTE_DIFFERENCE, "mad", "mad_low", "mad_high", "mad_method"),
    _of_patients(OF_TWO, *_COEFFICIENTS, *(f"agreement_on_{n}" for n in LEVELS)),
)
_FIGURE_5: Final = TableSpec(
    "figure_5",
    (_CATEGORY, *(Key(f"{who}_score", who, values=LEVELS) for who in _READERS)),
    (_size("count"),),
    frame=READ_TWICE,
    outer=("category", *_BOTH),
    every=True,
)
_OF_TWO_READERS: Final[tuple[Spec, ...]] = (
    _TABLE_3,
    _AGREEMENT,
    _FIGURE_5,
    ListSpec("figure_5_points", ("category", *_READERS), frame=READ_TWICE),
)
"""How far two readers agree on what both graded (E001-16, table 3, figure 5).

Kappa has fixed labels 1 to 5 and quadratic weights. Intervals are by patient.
"""
_OF_ALL_READERS: Final = TableSpec(
    "agreement_of_all",
    (_CATEGORY,),
    (
        Cell(
            OF_READERS,
            ("readers", "n", *_COEFFICIENTS),
            ("reader", "output", "score"),
            options={"cluster": "patient"},
        ),
    ),
    frame=GRADES,
    outer=("category",),
    every=True,
)
"""How far however many readers agree."""


def _of_outputs(model: Key) -> Iterator[Spec]:
    """Yield tables of outputs besides scores (E001-19, E001-23, E001-24)."""
    yield TableSpec(
        "style_by_content",
        (model,),
        (
            _size("images"),
            Cell("sum", ("high_style_low_content",), ("both",)),
            Cell("share", ("share",), ("both",)),
            _size("high_style_other", high_style=True, low_content=False),
            _size("low_content_other", high_style=False, low_content=True),
            _size("neither", high_style=False, low_content=False),
        ),
        frame=IMAGES,
        outer=("model",),
        every=True,
    )
    told: Where = {"told": (True,)}
    yield TableSpec(
        "abstention",
        (model, Key("answerable", values=tuple(map(str, Answerable)))),
        (
            _size("n", told=True),
            Cell("sum", ("abstained",), ("abstained",), told),
            Cell("sum", ("appropriate",), ("appropriate",), told),
            Cell("share", ("share_appropriate",), ("appropriate",), told),
            _size("unsaid", told=False),
        ),
        frame=TEXTS,
        outer=("model", "answerable"),
        every=True,
    )
    yield TableSpec(
        "failure_codes",
        (Key("model"), Key("code"), Key("meaning")),
        (Cell("distinct", ("outputs",), ("output",)),),
        frame=CODES,
    )
