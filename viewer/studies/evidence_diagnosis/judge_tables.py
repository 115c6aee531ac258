"""Tables of the judge's scores, and of its agreement with people, as specifications."""

from collections.abc import Iterator, Mapping
from typing import Final

from viewer.domain.evidence import Language
from viewer.domain.exchange import ModelProfile
from viewer.results.estimators.paired import QUADRATIC_KAPPA
from viewer.results.spec import Cell, Key, Shown, Spec, TableSpec
from viewer.studies.evidence_diagnosis.cells import (
    BY_PATIENT,
    IN_BRACKETS,
    JUDGED,
    MODEL,
    MODELS,
    PLAIN,
    interval_names,
    of_task,
    score,
    score_shown,
    share,
)
from viewer.studies.evidence_diagnosis.frames import (
    ANSWERS,
    JUDGE_PAIRS,
    JUDGEMENTS,
)
from viewer.studies.evidence_diagnosis.makers import identity_of, maker_of
from viewer.studies.evidence_diagnosis.params import Decision, Task
from viewer.studies.evidence_diagnosis.parse import HIGHEST

LEVELS: Final = tuple(range(HIGHEST, -1, -1))
"""Every score that a judge or people may give, off the rubric or not."""
_TASKS: Final[dict[object, str]] = {
    Task.DDX.value: "Differential",
    Task.OPEN_FDX.value: "Open diagnosis",
}
_TASK: Final = Key("task", values=(Task.DDX.value, Task.OPEN_FDX.value))
_ENDS: Final = ("", "_corrected", "_low", "_high", "_method")
_SCORE: Final = tuple(f"first_score{end}" for end in _ENDS)
_COVERAGE: Final = tuple(f"first_coverage{end}" for end in _ENDS)
_AGREED: Final = ("same", "kappa", "kappa_quadratic")


def _corrected(names: tuple[str, ...], of: tuple[str, str], most: int) -> Cell:
    options = {"ends": (0, most), "cluster": "case"}
    return Cell("prediction-powered mean", names, of, options=options)


def _corrected_shown(name: str, group: str) -> Iterator[Shown]:
    yield Shown(name, "As judged", group=group)
    yield Shown(f"{name}_corrected", "Corrected", group=group)
    yield Shown(f"{name}_low", "95 % interval", also=f"{name}_high", group=group)


CALIBRATION: Final = TableSpec(
    "judge_calibration",
    (*MODEL, _TASK),
    (
        Cell("size", ("n_first_judged",)),
        Cell("size", ("n_labelled",), where={"labelled": (True,)}),
        _corrected(_SCORE, ("judge", "human"), HIGHEST),
        _corrected(_COVERAGE, ("covered", "human_covered"), 1),
        Cell(
            "judge agreement",
            (*_AGREED, *(f"kappa_of_{level}" for level in LEVELS)),
            ("judge", "human"),
            options={"levels": LEVELS},
        ),
    ),
    "Judge and people",
    "The judge compared with people who scored some of the same answers (first "
    "repeats on raw images only, whatever other tables count): means as judged and as "
    "corrected, with prediction-powered 95 % intervals, and their agreement.",
    frame=ANSWERS,
    where={"calibrated": (True,)},
    outer=("task",),
    shown=(
        "model",
        Shown("task", "Task", words=_TASKS),
        *(Shown("n_first_judged", "Judged"), Shown("n_labelled", "Scored by people")),
        *_corrected_shown("first_score", "Score"),
        *_corrected_shown("first_coverage", "Coverage"),
        Shown("same", "Same score", group="Agreement"),
        Shown("kappa", "Kappa", group="Agreement"),
        Shown("kappa_quadratic", "Quadratic kappa", group="Agreement"),
    ),
)
"""Mean score and coverage as judged, and as corrected by people's scores (E004-09).

They are ``first`` repeats' alone, so that no answer counts more than people's.
"""


_COUNTING: Final[Mapping[Decision, str]] = {
    Decision.FIRST: "the first one's score counts",
    Decision.MAJORITY: "the lower median of their scores counts",
}
BY_JUDGE: Final = TableSpec(
    "by_judge",
    (_TASK, Key("judge"), *MODEL),
    (
        Cell("mean", ("score",), ("score",)),
        Cell(
            "interval of scores",
            interval_names("score"),
            ("score",),
            options={**BY_PATIENT, "ends": (0, HIGHEST)},
        ),
        Cell("size", ("n_judged",), where={"judged": (True,)}),
        *share("coverage", "covered", {}),
        Cell("sum", ("k",), ("covered",)),
        Cell("size", ("n",)),
    ),
    "Judge by judge",
    f"Mean score and coverage of the same answers, as each judge has them. "
    f"{IN_BRACKETS}",
    frame=JUDGEMENTS,
    outer=("task", "judge"),
    shown=(
        Shown("task", "Task", words=_TASKS),
        *("judge", "model"),
        Shown(
            "score",
            "Score (judged / settled)",
            counts=("n_judged", "n"),
            limits=("score_low", "score_high"),
        ),
        Shown(
            "coverage",
            "Coverage %",
            scale=100,
            counts=("k", "n"),
            limits=("coverage_low", "coverage_high"),
        ),
    ),
)
"""What the tables would say with each judge as the only one."""
_LABELS: Final = (False, True)


def _kappa(name: str, of: str, levels: tuple[object, ...]) -> Cell:
    columns = (f"first_{of}", f"second_{of}")
    options = {**BY_PATIENT, "levels": levels}
    return Cell(
        QUADRATIC_KAPPA, (name, *interval_names(name)), columns, options=options
    )


def _agreed(column: str, header: str, group: str, scale: int = 1) -> Shown:
    limits = interval_names(column)[:2]
    return Shown(column, header, scale=scale, limits=limits, group=group)


AGREEMENT_OF_JUDGES: Final = TableSpec(
    "judge_agreement",
    (_TASK, Key("first"), Key("second"), Key("model", total="All answers")),
    (
        Cell("size", ("n",)),
        Cell("mean", ("first_mean", "second_mean"), ("first_score", "second_score")),
        *share("same_score", "same_score", {}),
        _kappa("kappa_quadratic", "score", LEVELS),
        *share("same_verdict", "same_verdict", {}),
        _kappa("kappa", "covers", _LABELS),
    ),
    "Agreement of judges",
    "How often two judges give an answer the same score, and the same verdict, covered "
    f"or not; kappa is the agreement beyond chance. {IN_BRACKETS}",
    frame=JUDGE_PAIRS,
    outer=("task",),
    sets=(("first", "second"), ("first", "second", "model")),
    shown=(
        Shown("task", "Task", words=_TASKS),
        *("first", "second", "model", Shown("n", "Both judged")),
        _agreed("same_score", "Same %", "Score", 100),
        _agreed("kappa_quadratic", "Quadratic kappa", "Score"),
        _agreed("same_verdict", "Same %", "Covered or not", 100),
        _agreed("kappa", "Kappa", "Covered or not"),
    ),
)
"""Agreement of every two judges, over all answers and model by model."""


def judge_spec(
    judge: ModelProfile, *more: ModelProfile, decided_by: Decision = Decision.FIRST
) -> Spec:
    """Return whether models have a judge's own maker, for the page (E004-21)."""
    shared, makers = "of_the_judges_maker", map(maker_of, (judge, *more))
    maker = " and ".join(dict.fromkeys(filter(None, makers)))
    favours = (
        f" Its name suggests that it is made by {maker}, like the models marked; a "
        "judge may favour models of its own maker. Compare its scores with people's."
    )
    who = f"The judge is {identity_of(judge)}."
    if more:
        every = ", ".join(map(identity_of, (judge, *more)))
        who = f"The judges are {every}; {_COUNTING[decided_by]}."
        favours = (
            f" Names suggest that one is made by {maker}, like the models marked; a "
            "judge may favour models of its own maker. Compare scores with people's."
        )
    return TableSpec(
        "judge",
        (*MODEL, *([Key(shared)] if maker else [])),
        tuple(score("_all")),
        "Mean scores by the judge",
        f"{who}{favours if maker else ''} {IN_BRACKETS}",
        frame=ANSWERS,
        where={**MODELS, **of_task(Task.DDX)},
        shown=(
            *("model", score_shown("_all")),
            *([Shown(shared, "Of the judge's maker")] if maker else []),
        ),
    )


SCORES_GIVEN: Final = TableSpec(
    "judge_scores",
    (_TASK, Key("language", values=tuple(one.value for one in Language)), *MODEL),
    tuple(
        Cell("size", (f"grade_{level}",), where={"judge": (level,)}) for level in LEVELS
    ),
    frame=ANSWERS,
    where={**MODELS, **PLAIN, **JUDGED},
    outer=("task", "language"),
)
"""How often the judge gave each score (Figures 10 and 11)."""
