"""The result of checking a model, in plain words."""

from typing import Final

from viewer.domain.model_check import ModelCheck
from viewer.domain.probe import Verdict
from viewer.services.configuring.money import dollars

_SEES: Final = {
    Verdict.YES: "Sees the image.",
    Verdict.NO: "Does not see the image.",
    Verdict.UNKNOWN: "Did not find the mark in the image.",
}
_WRONG: Final = {
    Verdict.NO: "The reply is the same whatever the image shows. Choose a model that "
    "takes images; a llama.cpp server needs the model's second file (--mmproj) to see.",
    Verdict.UNKNOWN: "However its replies are read, they do not say where the mark is. "
    "Try Calibrate, which asks in more ways, or choose another model.",
}
_VARIES: Final = "Two different answers to the same question."


def check_in_words(found: ModelCheck) -> str:
    """Return the result of a check in short sentences."""
    cost = found.cost_microusd
    pays = "" if cost is None else f" and {dollars(cost)}"
    return " ".join(
        (
            _SEES[found.sees],
            _answers(found.convention),
            f"{found.seconds:.1f} s{pays} per answer.",
            "Same answer twice." if found.repeats else _VARIES,
        )
    )


def _answers(convention: str) -> str:
    if not convention:
        return "Names no location."
    return f"Answers {places_in_words(convention)}."


def wrong_in_words(found: ModelCheck) -> str:
    """Return what is wrong with a model and how to fix it, "" if nothing is."""
    if found.is_sound:
        return ""
    if found.sees is not Verdict.YES:
        return _WRONG[found.sees]
    return (
        f"Its answers are {places_in_words(found.convention)}, but it is set to "
        f"{places_in_words(found.named)}. Set Coordinates to {found.convention}."
    )


def places_in_words(convention: str) -> str:
    """Return what a convention's answers are, as `likely` has it."""
    # Not with every run, for which no model is listed.
    from viewer.models.coordinates import likely

    return likely.places_in_words(convention)
