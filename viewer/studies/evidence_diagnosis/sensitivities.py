"""Evidence Sensitivity of every case and type of evidence (E004-17 to -19)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from viewer.metrics.divergence import Divergence, divergence
from viewer.metrics.posterior import Estimator, Posterior
from viewer.metrics.sensitivity import TIE
from viewer.results.frame import Frame, frame_of_rows
from viewer.studies.evidence_diagnosis.params import Params, Task
from viewer.studies.evidence_diagnosis.rows import Row
from viewer.studies.evidence_diagnosis.showing import (
    SensitivityPair,
    SensitivityShowings,
    Showing,
    sensitivity_showings,
)

HEADER: Final = (
    *("case", "model", "evidence", "context", "estimator"),
    *(f"{m}_{x}" for m in ("image", "text") for x in ("s", "corrected", "se")),
    *(f"{m}_{x}" for m in ("image", "text") for x in ("low", "high", "interval_by")),
)
CORRECTED: Final = ("image_corrected", "text_corrected")
_BEFORE: Final = HEADER.index("estimator")
"""Columns before those of a line."""
_Posteriors = Mapping[Showing, Posterior]


def sensitivity_frame(rows: Sequence[Row], params: Params, seed: int = 0) -> Frame:
    """Return how far each type of evidence moves a model in a case, image and text.

    Those under the ``refined`` prompt follow the others. Only first repeats count.
    There is no number if one of two answers has no posterior; sampled ones are
    ``corrected`` for bias. ``estimator`` names the posteriors' estimator. Cases with
    both numbers are ``compared``; images are ``below`` text if they move less.
    """
    found: dict[tuple[str, str], dict[Showing, Posterior]] = {}
    cases = {row.case.key: row.case for row in rows}
    patients = {row.case.key: row.patient or row.case.key for row in rows}
    for row in rows:
        if row.task is Task.FDX and row.repeat == 0 and row.posterior is not None:
            of_case = found.setdefault((row.model, row.case.key), {})
            of_case[row.showing] = row.posterior
    lines = (
        (
            *(key, model, str(evidence), str(params.context), *line, refined, language),
            *(patients[key], *_compared(line)),
        )
        for refined in (False, True)
        for (model, key), posteriors in found.items()
        for language in (str(cases[key].language),)
        for evidence in cases[key].types
        for line in _lines(
            posteriors,
            sensitivity_showings(evidence, params.context, refined),
            params,
            seed,
        )
    )
    more = ("refined", "language", "patient", "compared", "below")
    return frame_of_rows((*HEADER, *more), lines)


def untold_models(answers: Frame, params: Params) -> tuple[str, ...]:
    """Return a sentence for each model that chose options but gave no probabilities.

    ``answers`` is the frame of all answers; there is none without Evidence Sensitivity.
    """
    if not params.sensitivity:
        return ()
    told: dict[str, bool] = {}
    for model, chosen, tells in answers.each("model", "chosen", "told"):
        if chosen is not None or tells:
            told[model] = told.get(model, False) or tells
    logs = "log-" if params.estimator is Estimator.TOP_LOGPROBS else ""
    return tuple(
        f"{model} gave no {logs}probabilities of the options, so Evidence Sensitivity "
        "is not computed for it; its answers count everywhere else. To estimate it "
        "from repeated answers, set draw_where_untold (Sample if no probabilities)."
        for model, tells in told.items()
        if not tells
    )


def _compared(line: Sequence[object]) -> tuple[bool, bool]:
    """Tell whether a line has both sensitivities, and images move the model less."""
    image, text = (line[HEADER.index(name) - _BEFORE] for name in CORRECTED)
    if not isinstance(image, float) or not isinstance(text, float):
        return False, False
    return True, text - image >= TIE


def _lines(
    posteriors: _Posteriors, showings: SensitivityShowings, params: Params, seed: int
) -> Iterator[tuple[object, ...]]:
    """Yield estimators and both sensitivities; nothing without any posterior."""
    pairs = (showings.image, showings.text)
    four = (showing for pair in pairs for showing in (pair.full, pair.without))
    had = dict.fromkeys(posteriors[x].estimator for x in four if x in posteriors)
    if had:
        both = [_moved(posteriors, pair, params, seed) for pair in pairs]
        points = [x for d in both for x in _point(d)]
        yield " ".join(had), *points, *(x for d in both for x in _interval(d))


def _moved(
    posteriors: _Posteriors, pair: SensitivityPair, params: Params, seed: int
) -> Divergence | None:
    full, without = posteriors.get(pair.full), posteriors.get(pair.without)
    if full is None or without is None or full.estimator != without.estimator:
        return None
    return divergence(full, without, params.log_base, seed)


def _point(d: Divergence | None) -> tuple[float | None, ...]:
    return (d.value, d.corrected, d.se) if d else (None,) * 3


def _interval(d: Divergence | None) -> tuple[float | str | None, ...]:
    return (d.interval.low, d.interval.high, d.method) if d else (None,) * 3
