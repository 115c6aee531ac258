"""Tables 5, 12 and 13, and attention, as specifications."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from viewer.domain.evidence import EvidenceType, Language
from viewer.domain.study_words import spoken
from viewer.results.spec import Cell, Key, ListSpec, Shown, Spec, TableSpec, Where
from viewer.studies.evidence_diagnosis.cells import (
    CHANCE,
    IN_BRACKETS,
    LANGUAGES,
    MODEL,
    OF_CASES,
    interval_names,
    name_in,
    of_task,
    percent,
    rate,
)
from viewer.studies.evidence_diagnosis.estimators import (
    CHANGE_IN_NMSE,
    CROSS_MODAL,
    MEAN_CROSS_MODAL,
)
from viewer.studies.evidence_diagnosis.frames import ANSWERS, ATTENTION, SENSITIVITIES
from viewer.studies.evidence_diagnosis.params import Params, Task
from viewer.studies.evidence_diagnosis.sensitivities import CORRECTED, HEADER

SIX_TYPES: Final = (
    EvidenceType.LABORATORY,
    EvidenceType.CT,
    EvidenceType.MICROSCOPY,
    EvidenceType.MRI,
    EvidenceType.PHOTOGRAPHY,
    EvidenceType.X_RAY,
)
"""The types of Table 12, whose mean is unweighted."""
_TYPES: Final = (*SIX_TYPES, *(one for one in EvidenceType if one not in SIX_TYPES))
_BASELINE: Final[Where] = {"refined": (False,)}
_OF_TYPES: Final = {"by": "evidence", "among": SIX_TYPES}
_COMPARED: Final = Cell(
    CROSS_MODAL,
    (
        *("nmse", "nmse_swapped", "concordance", "cases"),
        *("image_above", "image_below", "tied", "missing"),
    ),
    CORRECTED,
    options=_OF_TYPES,
    total=MEAN_CROSS_MODAL,
)

_BELOW: Final = Cell(
    "rate",
    ("below_k", "below_n", "below", *interval_names("ci")),
    ("below", *OF_CASES),
    {"compared": (True,)},
    blank="evidence",
)
"""The share of cases in which images move a model less than text (E004-25)."""
_NMSE: Final = (Shown("nmse", "NMSE"), Shown("nmse_swapped", "NMSE, swapped"))
_MEAN: Final = Shown("nmse_mean", "Mean NMSE")
_NO_INTERVAL: Final = (
    "NMSE and concordance have no interval: a few cases decide them, and neither "
    "jackknife nor bootstrap by patient covered the truth in 93 % of simulated studies."
)


def sensitivity_specs(params: Params, languages: Sequence[Language]) -> Iterator[Spec]:
    """Yield the tables of what moves a model, and of what it attends to."""
    yield ListSpec("sensitivity", HEADER, frame=SENSITIVITIES, where=_BASELINE)
    for language in languages:
        yield _against_text(language, params)
        yield _beside_accuracy(language)
        yield _microscopy(language)
    yield _ATTENTION


def _baseline(language: Language) -> Where:
    return {**_BASELINE, "language": (language,)}


def _against_text(language: Language, params: Params) -> Spec:
    return TableSpec(
        name_in("12", language),
        (Key("evidence", total="Average", values=_TYPES), *MODEL),
        (_COMPARED, _BELOW),
        f"Evidence Sensitivity, images against text, {LANGUAGES[language]}",
        f"Estimator: {spoken(params.estimator)}; other evidence: "
        f"{spoken(params.context)}. NMSE is "
        "near 1 wherever images have no effect, and it is not symmetric; "
        f"{LANGUAGES[language]} cases. {IN_BRACKETS} {_NO_INTERVAL}",
        frame=SENSITIVITIES,
        where=_baseline(language),
        sets=(("evidence", "model"), ("model",)),
        shown=(
            *("model", "evidence", *_NMSE, "concordance", "cases"),
            Shown("image_above", "Images above text"),
            Shown("image_below", "Images below text"),
            replace(percent("below", "Below %", ends="ci"), none=""),
            *("tied", "missing"),
        ),
    )


def _beside_accuracy(language: Language) -> Spec:
    own = of_task(Task.FDX, language)
    return TableSpec(
        name_in("05", language),
        MODEL,
        (
            Cell(MEAN_CROSS_MODAL, ("nmse_mean",), CORRECTED, options=_OF_TYPES),
            *rate(where=own, frame=ANSWERS),
        ),
        f"Evidence Sensitivity and accuracy, {LANGUAGES[language]}",
        "Mean NMSE over the types of evidence, next to the accuracy; "
        f"{LANGUAGES[language]} cases. {IN_BRACKETS} {_NO_INTERVAL}",
        frame=SENSITIVITIES,
        where=_baseline(language),
        shown=(
            *("model", _MEAN, percent("fdx", "FDx %", ""), CHANCE),
            Shown("n_planned", "Planned"),
        ),
    )


def _microscopy(language: Language) -> Spec:
    return TableSpec(
        name_in("13", language),
        MODEL,
        (
            Cell(
                CHANGE_IN_NMSE,
                ("baseline", "refined", "delta"),
                CORRECTED,
                {"evidence": (EvidenceType.MICROSCOPY,)},
                options={"by": "refined"},
            ),
        ),
        f"Sensitivity to microscopy under the refined prompt, {LANGUAGES[language]}",
        f"NMSE of microscopy before and after; {LANGUAGES[language]} cases. "
        f"{_NO_INTERVAL}",
        frame=SENSITIVITIES,
        where={"language": (language,)},
        needs_several="refined",
        shown=(
            *("model", Shown("baseline", "NMSE")),
            *(Shown("refined", "NMSE, refined prompt"), Shown("delta", "Change")),
        ),
    )


_ATTENTION: Final = TableSpec(
    "rapt",
    (*MODEL, Key("arm"), Key("section"), Key("layer")),
    (Cell("mean", ("rapt",), ("rapt",)), Cell("size", ("cases",))),
    frame=ATTENTION,
)
"""Relative attention per token, the mean over cases (E004-16)."""
REFINED: Final = TableSpec(
    "table_12_refined",
    (Key("evidence"), *MODEL),
    (_COMPARED,),
    frame=SENSITIVITIES,
    where={"refined": (True,), "language": (Language.ENGLISH,)},
)
"""Table 12 under the refined prompt (Figure 15)."""
