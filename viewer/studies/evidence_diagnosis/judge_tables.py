"""Tables of the judge's scores, and of its agreement with people, as specifications."""

from collections.abc import Iterator
from typing import Final

from viewer.domain.evidence import Language
from viewer.domain.exchange import ModelProfile
from viewer.results.spec import Cell, Key, Shown, Spec, TableSpec
from viewer.studies.evidence_diagnosis.cells import (
    IN_BRACKETS,
    JUDGED,
    MODEL,
    MODELS,
    PLAIN,
    of_task,
    score,
    score_shown,
)
from viewer.studies.evidence_diagnosis.frames import ANSWERS
from viewer.studies.evidence_diagnosis.makers import identity_of, maker_of
from viewer.studies.evidence_diagnosis.params import Task
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


def judge_spec(judge: ModelProfile) -> Spec:
    """Return whether models have the judge's own maker, for the page (E004-21)."""
    maker, shared = maker_of(judge), "of_the_judges_maker"
    favours = (
        f" Its name suggests that it is made by {maker}, like the models marked; a "
        "judge may favour models of its own maker. Compare its scores with people's."
    )
    return TableSpec(
        "judge",
        (*MODEL, *([Key(shared)] if maker else [])),
        tuple(score("_all")),
        "Mean scores by the judge",
        f"The judge is {identity_of(judge)}.{favours if maker else ''} {IN_BRACKETS}",
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
