"""The columns of results.csv under display names."""

from collections.abc import Mapping
from typing import Final

from viewer.domain.grid import grids_in_words
from viewer.domain.study_words import PLACING, StudyWords, capital, spoken
from viewer.metrics.printed import as_percent

HEADERS: Final[Mapping[str, str]] = {
    "condition": "Condition",
    "model": "Model",
    "n_planned": "Planned",
    "n_scored": "Scored",
    "n_failed": "Failed",
    "n_refused": "Refused",
    "n_unparsed": "Unparsed",
    "n_excluded": "Excluded",
    "n_pending": "Pending",
    "run": "Run",
    "patient": "Patient",
    "n": "Of",
    "bootstrap_sd": "Bootstrap SD",
    "ci_low": "95 % from",
    "ci_high": "to",
    "random_baseline": "Random cell",
    "location_prior": "Location prior",
    "gain": "Gain over location prior",
    "gain_low": "Gain 95 % from",
    "gain_high": "to",
    "partial": "Partial",
    "answered_rate": "Of answered",
    "chance": "Chance",
    "plot": "0 to 100 %",
}
"""What stands over a column whatever is studied."""

TIPS: Final[Mapping[str, str]] = {
    "k": "Answers that count as {one}",
    "n": "Trials that are neither excluded nor pending",
    "n_planned": "Each is scored, failed, refused, unparsed, excluded or pending",
    "answered_rate": "{many} of the trials with a readable answer: the secondary rate",
    "chance": "Rate of a random option, over the same trials",
    "plot": "The {rate} with its 95 % interval (Clopper-Pearson by patient)",
    "hit_rate": "{many} of all trials that are neither excluded nor pending",
    "bootstrap_sd": "Standard deviation of the rate over resamples of items",
    "ci_low": "From: 95 % interval of the {rate}, Clopper-Pearson by patient",
    "ci_high": "To: 95 % interval of the {rate}, Clopper-Pearson by patient",
    "ci_method": "How the interval was computed",
    "random_baseline": "Rate of a cell drawn at random",
    "location_prior": "Rate of this model's answers on other patients",
    "gain": "{Rate} minus the location prior",
    "gain_low": "From: 95 % interval of the gain, jackknife over patients",
    "gain_high": "To: 95 % interval of the gain, jackknife over patients",
    "partial": "Answers in a cell that touches the reference too little to count",
}
"""What a column means, where its header leaves it open; a study fills in its words."""

SHOWN_FIRST: Final = (
    "finding",
    "view",
    "condition",
    "model",
    "k",
    "hit_rate",
    "ci_low",
    "ci_high",
    "random_baseline",
    "gain",
    "gain_low",
    "gain_high",
    "partial",
)
"""The columns that stand at the left; the others keep their order after them."""

_RATES: Final = frozenset(
    {"hit_rate", "answered_rate", "random_baseline", "location_prior", "chance"}
)
_BOUNDS: Final = frozenset({"ci_low", "ci_high", "bootstrap_sd"})
_SIGNED: Final = frozenset({"gain", "gain_low", "gain_high"})
_MEAN: Final = "mean_"


def header_of(column: str, words: StudyWords = PLACING) -> str:
    """Return the title of a column, in the words of a study."""
    own = {
        "finding": words.finding,
        "view": words.view,
        "k": words.verdicts.rights,
        "hit_rate": words.rate,
        **words.numbers,
    }
    if column in HEADERS:
        return HEADERS[column]
    if column not in own and column.startswith(_MEAN):
        return capital(f"{spoken(column.removeprefix(_MEAN))}, mean")
    return capital(own.get(column, spoken(column)))


def tip_of(column: str, words: StudyWords = PLACING) -> str | None:
    """Return the meaning of a column, None if its title is enough."""
    tip = TIPS.get(column)
    if tip is None:
        return None
    one, many = words.verdicts.right, words.verdicts.rights
    return tip.format(
        one=f"a {one}" if one != many else one,
        many=capital(many) if one != many else f"Answers that are {one}",
        rate=words.rate,
        Rate=capital(words.rate),
    )


def shown(column: str, value: object, words: StudyWords = PLACING) -> str:
    """Return a value for display; rates in percent, None as "".

    A grid needs no word for it in a column of conditions.
    """
    if value is None:
        return ""
    if isinstance(value, float):
        return _number(column, value)
    if column == "condition" and words.places:
        return grid_words(str(value))
    return words.called(column, str(value))


def _number(column: str, value: float) -> str:
    if column in _RATES | _BOUNDS:
        return f"{as_percent(value)} %"
    if column in _SIGNED:
        return f"{value:+.3f}".replace("-", "−")
    return f"{value:.4g}"


def grid_words(condition: str) -> str:
    """Return ``8 × 8`` for ``grid=8``, ``8 × 10`` for ``grid=8x10``, else its words.

    Whatever of the grid is varied follows.
    """
    return spoken(grids_in_words(condition)).replace(" grid", "", 1)
