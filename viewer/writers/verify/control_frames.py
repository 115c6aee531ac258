"""The frames of controls: each question with its image, and without."""

from viewer.writers.verify.estimators import Rows
from viewer.writers.verify.frames import Source, trial_rows, variant_of
from viewer.writers.verify.question_frames import dependence_frames, scored_frame
from viewer.writers.verify.verdicts import Verdict

_UNDER = " control="
_AS_IT_IS = "image"
_HIDING = ("no_image", "guess", "options_only")
_EVERY_CONTROL = (*_HIDING, "noise", "other_image", "shuffled_options")
_BY = ("task", "asked")
_SCORES = {"evidence_diagnosis": "judge"}
"""The number of a verdict that is compared besides, by study."""
_GRADED = "rubric_reading"
"""The study in which no program grades answers: right are all that answer."""


def control_of(condition: str) -> str:
    """Return the control in a condition's name, "" for none."""
    return condition.partition(_UNDER)[2]


def has_controls(source: Source) -> bool:
    """Tell whether any trial was asked under a control beside its study's own."""
    return any(control_of(one.condition) for one in source.every)


def control_frames(source: Source) -> dict[str, Rows]:
    """Return trials under controls with the same with the image, and items."""
    study = source.plan["study"]
    unvaried = [one for one in source.every if not variant_of(one.condition)]
    trials = trial_rows(unvaried)
    for one, row in zip(unvaried, trials, strict=True):
        row["asked"] = one.condition.partition(_UNDER)[0]
        row["condition"] = control_of(one.condition) or _AS_IT_IS
        row["task"] = _task_of(study, one)
        row["score"] = one.numbers.get(_SCORES.get(study, ""))
        if "cells" in one.gold:
            rows, columns = one.gold["grid"]
            row["chance"] = len(one.gold["cells"]) / (rows * columns)
        if study == _GRADED:
            row["correct"] = one.parsed.get("words") == "report"
            row["counted"] = one.counted or row["correct"]
    found = dependence_frames(trials, _AS_IT_IS, _EVERY_CONTROL, _HIDING, _BY)
    scored = scored_frame(trials, _AS_IT_IS, _EVERY_CONTROL, _BY)
    return {**found, "scored_dependence": scored}


def _task_of(study: str, one: Verdict) -> str:
    """Return the kind of question: only those of one kind are pooled."""
    if study == "evidence_diagnosis":
        return one.finding
    if study == "grounded_vqa":
        return "any finding" if one.finding == "any finding" else "closed"
    return "(micro)"
