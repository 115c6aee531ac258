"""The paper's tables and ours, as specifications, at full precision (Chen 2026).

Trials without an answer count as wrong, and are shown with every rate.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from viewer.domain.choice import LETTERS
from viewer.domain.evidence import OPTIONS, Language
from viewer.domain.specialties import GROUPS, SPECIALTIES
from viewer.results.spec import P_VALUE, Cell, Key, ListSpec, Shown, Spec, TableSpec
from viewer.studies.evidence_diagnosis.cells import (
    BY_PATIENT,
    CHANCE,
    COUNTED,
    COUNTS_AFTER_N,
    IN_BRACKETS,
    LANGUAGES,
    MODEL,
    MODELS,
    interval_names,
    name_in,
    of_task,
    percent,
    rate,
    score,
    score_shown,
    share,
)
from viewer.studies.evidence_diagnosis.estimators import AGREEMENT, FEW
from viewer.studies.evidence_diagnosis.frames import (
    ANSWERS,
    CASES,
    INVENTED_TEXT,
    PREPARATION,
    PUBLISHED,
    TOP,
)
from viewer.studies.evidence_diagnosis.judge_tables import (
    AGREEMENT_OF_JUDGES,
    BY_JUDGE,
    CALIBRATION,
)
from viewer.studies.evidence_diagnosis.params import Arm, Params, Task
from viewer.studies.evidence_diagnosis.preparing import CHUNKS, INVENTED
from viewer.studies.evidence_diagnosis.sensitivity_tables import sensitivity_specs
from viewer.studies.tables import counts

_SUBSETS: Final = {"en": "English", "zh": "Chinese", "all": "All"}
"""The columns of Tables 2 and 8; all cases are pooled, not averaged (E004-11)."""
PREPARING_SPECS: Final = (
    ListSpec(
        "preparation",
        title="Reports",
        text="What was made from each report; it is neither right nor wrong, so no "
        "rate counts it. The texts are in preparation.csv.",
        frame=PREPARATION,
        shown=(
            *("report", "task", "model", "reason"),
            *(Shown(name, name.title(), ".0f") for name in (CHUNKS, INVENTED)),
        ),
    ),
    ListSpec(
        "invented",
        title="Invented",
        text="Pieces that do not appear in their report word for word.",
        frame=INVENTED_TEXT,
        shown=("report", "model", Shown("key", "Piece"), "source", "text"),
    ),
)
"""Tables of reports that are to become cases."""


def specs(params: Params, languages: Sequence[Language]) -> list[Spec]:
    """Return the tables about cases, in the order of the page.

    Those that the paper has of cases in English follow once more for Chinese.
    """
    return [
        _OVERALL,
        _SCORES,
        *(spec for language in languages for spec in _in_language(language, params)),
        *([_POSITIONS] if params.cyclic_orders else []),
        *sensitivity_specs(params, languages),
        ListSpec("published", frame=PUBLISHED),
        _VALIDATION,
        CALIBRATION,
        BY_JUDGE,
        AGREEMENT_OF_JUDGES,
    ]


def _language(subset: str) -> Language | None:
    return None if subset == "all" else Language(subset)


def _overall_cells() -> Iterator[Cell]:
    for subset in _SUBSETS:
        language = _language(subset)
        for task in (Task.DDX, Task.FDX):
            name = f"{task}_{subset}"
            own = of_task(task, language)
            yield from rate(name, f"{name}_", own, chosen=task is Task.FDX)
        yield Cell(
            "rank of share",
            (f"rank_{subset}",),
            ("correct",),
            {**of_task(Task.FDX, language), **COUNTED, **MODELS},
            against={"model": None},
            options={"by": "model"},
        )
        gap = f"gap_pp_{subset}"
        yield Cell(
            "gap of rates",
            (gap, *interval_names(gap)),
            ("ddx", "fdx"),
            {"language": (language,)} if language else {},
            options=BY_PATIENT,
        )


def _gap_shown(subset: str, group: str) -> Shown:
    gap = f"gap_pp_{subset}"
    limits = interval_names(gap)[:2]
    return Shown(gap, "Gap, pp", "+.2f", group=group, limits=limits)


_OVERALL: Final = TableSpec(
    "table_02",
    MODEL,
    tuple(_overall_cells()),
    "Differential and final diagnosis",
    "Share of differentials that include the diagnosis (DDx) and of correct final "
    f"diagnoses (FDx), with the number of cases; people are not ranked. {IN_BRACKETS}",
    frame=ANSWERS,
    shown=(
        "model",
        *(
            one
            for subset, words in _SUBSETS.items()
            for one in (
                percent(f"ddx_{subset}", "DDx %", f"ddx_{subset}_", words),
                percent(f"fdx_{subset}", "FDx %", f"fdx_{subset}_", words),
                Shown(f"rank_{subset}", "Rank", group=words),
                _gap_shown(subset, words),
            )
        ),
        percent("fdx_all_chance", "Chance of FDx %"),
    ),
)
"""Table 2: coverage, accuracy, competition ranks and gap (E004-10, -12)."""


def _score_cells() -> Iterator[Cell]:
    for subset in _SUBSETS:
        own = of_task(Task.DDX, _language(subset))
        yield from score(f"_{subset}", own)
        for k in TOP:
            name = f"top_{k}_{subset}"
            yield from share(name, f"top_{k}", {**own, **COUNTED})


_SCORES: Final = TableSpec(
    "table_08",
    MODEL,
    tuple(_score_cells()),
    "Scores of differentials",
    "The judge's mean score over the differentials it scored; those refused, unparsed "
    "or failed have none. Then the share of all settled differentials that name the "
    f"diagnosis among the first 1, 3, 5 and 10. {IN_BRACKETS}",
    frame=ANSWERS,
    where={**MODELS, "task": (Task.DDX,)},
    shown=(
        "model",
        *(
            score_shown(f"_{subset}", f"{words} score")
            for subset, words in _SUBSETS.items()
        ),
        *(percent(n, f"Top {k} %", ends=n) for k in TOP for n in [f"top_{k}_all"]),
    ),
)
_ARMS: Final = {
    "03": (
        "Final diagnosis from raw images and from expert findings",
        (Arm.RAW, Arm.EXPERT),
    ),
    "04": (
        "Final diagnosis without text, and with random text",
        (Arm.RAW, Arm.REMOVE_TEXT, Arm.RANDOM_TEXT),
    ),
    "06": ("Final diagnosis with the refined prompt", (Arm.RAW, Arm.REFINED)),
}
_STRATA: Final = {
    "10": ("Final diagnosis by specialty", "specialty", SPECIALTIES),
    "11": ("Final diagnosis by specialty group", "group", tuple(GROUPS)),
}
_ALL_STRATA: Final = "All"
"""The column of every case, which chance is of."""


def _in_language(language: Language, params: Params) -> Iterator[Spec]:
    for number, (_, arms) in _ARMS.items():
        if {*arms} <= {*params.arms}:
            yield _interventions(number, language)
    yield TableSpec(
        name_in("09", language),
        MODEL,
        tuple(score()),
        f"Scores of open final diagnoses, {LANGUAGES[language]}",
        "The judge's mean score of free-text diagnoses, over those it scored; those "
        f"refused, unparsed or failed have none; {LANGUAGES[language]} cases. "
        f"{IN_BRACKETS}",
        frame=ANSWERS,
        where={**MODELS, **of_task(Task.OPEN_FDX, language)},
        shown=("model", score_shown()),
    )
    for number in _STRATA:
        yield _stratified(number, language, params.small_cases)


def _interventions(number: str, language: Language) -> Spec:
    """Return Tables 3, 4 and 6: the accuracy under interventions, paired by case."""
    title, arms = _ARMS[number]
    ends = interval_names("delta_pp")
    changes = ("delta_pp", *ends, "gained", "lost", "p_value", "n_pairs")
    own = {"task": (Task.FDX,), "order": (0,), "language": (language,)}
    change = Cell(
        "paired change",
        changes,
        ("correct",),
        {"comparable": (True,)},
        against={"arm": Arm.RAW},
        options={"pair": "pair", **BY_PATIENT},
    )
    return TableSpec(
        name_in(number, language),
        (*MODEL, Key("arm", values=arms)),
        (*rate(), change),
        f"{title}, {LANGUAGES[language]}",
        "Accuracy of the final diagnosis (FDx), and its change case by case; "
        f"{LANGUAGES[language]} cases. {IN_BRACKETS}",
        frame=ANSWERS,
        where={**MODELS, **own},
        shown=(
            *("model", Shown("arm", "Condition")),
            *(percent("fdx", "FDx %", ""), CHANCE),
            Shown("delta_pp", "Change, pp", "+.2f", limits=ends[:2]),
            *("gained", "lost", Shown("n_pairs", "Pairs")),
            Shown("p_value", "p", P_VALUE),
        ),
    )


def _stratified(number: str, language: Language, small: int) -> Spec:
    """Return Tables 10 and 11: the accuracy by specialty, and by group of them."""
    _, column, strata = _STRATA[number]
    few = Cell(FEW, ("warning",), where=COUNTED, options={"fewer_than": small})
    return TableSpec(
        name_in(number, language),
        (*MODEL, Key(column, "stratum", values=strata)),
        (*rate(), few),
        frame=ANSWERS,
        where=of_task(Task.FDX, language),
    )


def strata_pages(language: Language, asked: Collection[str]) -> Iterator[Spec]:
    """Yield Tables 10 and 11 as the paper lays them out: a row for each model.

    ``asked`` are the strata of a run's cases; the paper has every one in English.
    """
    for number, (title, column, strata) in _STRATA.items():
        own = [x for x in strata if x in asked or language is Language.ENGLISH]
        yield TableSpec(
            name_in(number, language),
            MODEL,
            (
                *(cell for name in own for cell in _share(name, {column: (name,)})),
                *_share(_ALL_STRATA, {}),
                Cell("chance level", ("chance",), ("chance",), COUNTED),
            ),
            f"{title}, {LANGUAGES[language]}",
            "Accuracy of the final diagnosis in per cent, with the number of cases; "
            f"{LANGUAGES[language]} cases. Few cases tell little: "
            f"{name_in(number, language)}.csv marks them. {IN_BRACKETS}",
            frame=ANSWERS,
            where=of_task(Task.FDX, language),
            shown=(
                "model",
                *(
                    replace(percent(x, x, f"{x} "), none="")
                    for x in (*own, _ALL_STRATA)
                ),
                CHANCE,
            ),
        )


def _share(name: str, stratum: Mapping[str, tuple[str, ...]]) -> Iterator[Cell]:
    where = {**COUNTED, **stratum}
    yield from share(name, "correct", where, f"{name} ci")
    yield Cell("sum", (f"{name} k",), ("correct",), where)
    yield Cell("size", (f"{name} n",), where=where)


def _position_cells() -> Iterator[Cell]:
    yield from counts(COUNTS_AFTER_N)
    for place in range(OPTIONS):
        own = {"place": (place,), **COUNTED}
        name = f"gold_{LETTERS[place]}"
        yield from share(name, "correct", own)
        yield Cell("sum", (f"{name}_k",), ("correct",), own)
        yield Cell("size", (f"{name}_n",), where=own)
    among = {"by": "place", "among": tuple(range(OPTIONS))}
    yield Cell("size", ("n",), where=COUNTED)
    yield from share("accuracy", "correct", COUNTED)
    yield Cell("chance level", ("chance",), ("chance",), COUNTED)
    yield Cell("spread of shares", ("spread",), ("correct",), COUNTED, options=among)
    yield Cell(
        AGREEMENT,
        ("n_orders_planned", "n_complete", "same", "same_right"),
        ("pair", "order", "chosen", "answer"),
    )


_POSITIONS: Final = TableSpec(
    "positions",
    (*MODEL, Key("language")),
    tuple(_position_cells()),
    frame=ANSWERS,
    where={**MODELS, "task": (Task.FDX,), "arm": (Arm.RAW,)},
)
"""Accuracy by the right option's letter, and agreement over the orders (E004-07).

A trial without an answer is wrong at the letter that the right option stood at.
"""
_VALIDATION: Final = ListSpec(
    "validation",
    title="Validation",
    text="Readers' verdicts on the cases; unfit ones are excluded.",
    frame=CASES,
    shown=("case", "readers", "problems", Shown("once_more", "Drawn again")),
)
