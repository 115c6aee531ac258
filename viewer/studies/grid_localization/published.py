"""What Gosai 2025 prints, as reference rows that no run edits (X-05, App. B.1).

Every row is checked against the trials it claims: a percentage that no whole number of
them gives is flagged, whoever printed it.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from viewer.metrics.printed import every_mean_prints
from viewer.studies.grid_localization.findings import NINE
from viewer.studies.published import PublishedValue

SOURCE: Final = "Gosai 2025, arXiv 2509.18015"
GPT_4: Final = "GPT-4 (gpt-4o-2024-05-13)"
GPT_5: Final = "GPT-5"
MEDGEMMA: Final = "MedGemma 27B"
CNN: Final = "CNN, Grad-CAM (Saporta 2022)"
HUMAN: Final = "Radiologists (Saporta 2022)"
RANDOM: Final = "Random cell"
MEAN: Final = "Mean of nine findings"

TEST_PAIRS: Final = dict(
    zip(NINE, (298, 175, 14, 310, 85, 35, 178, 10, 120), strict=True)
)
"""Positive image-finding pairs of the CheXlocalize test set (E000-04)."""
SPLIT_SIZES: Final = {"test": (668, 500), "val": (234, 200)}
"""Images and patients of each split (Gosai 2025, 3.1)."""


class Measure(StrEnum):
    """The denominator of a printed percentage."""

    HIT_RATE = "hit rate"
    ANATOMY_ERROR = "anatomy error"
    SHARE = "share of images"


@dataclass(frozen=True, slots=True)
class Published(PublishedValue):
    """A printed percentage; ``sizes`` are those of the findings that a mean is over."""

    sizes: tuple[int, ...] = ()

    @property
    def finding(self) -> str:
        """What the percentage is about."""
        return self.subject

    @property
    def unchecked(self) -> str:
        """Why a percentage of no number of trials cannot be checked."""
        if self.sizes and every_mean_prints(self.sizes, self.decimals):
            return f"a mean of {len(self.sizes)} findings can round to any value"
        return self.note or "no number of trials is given"


def _rate(
    finding: str, who: str, value: float, n: int | None = None, note: str = ""
) -> Published:
    sizes = tuple(TEST_PAIRS.values()) if finding == MEAN and not note else ()
    where = "section 4.1, Fig. 2"
    hit = Measure.HIT_RATE
    return Published(
        SOURCE, where, hit, finding, who, value, 1, n, note=note, sizes=sizes
    )


def _anatomy(who: str, value: float) -> Published:
    sizes = tuple(TEST_PAIRS.values())
    where = "section 4.2, Fig. 3"
    kind = Measure.ANATOMY_ERROR
    return Published(SOURCE, where, kind, MEAN, who, value, sizes=sizes)


_EC, _CARDIOMEGALY = "Enlarged Cardiomediastinum", "Cardiomegaly"
_BOOTSTRAP = "Saporta 2022 prints means of 1,000 bootstrap replicates"
_EC_N, _CARDIOMEGALY_N = TEST_PAIRS[_EC], TEST_PAIRS[_CARDIOMEGALY]

HIT_RATES: Final = (
    _rate(MEAN, HUMAN, 80.1),
    _rate(MEAN, CNN, 59.9),
    _rate(MEAN, GPT_5, 49.7),
    _rate(MEAN, GPT_4, 39.1),
    _rate(MEAN, MEDGEMMA, 17.7),
    _rate(MEAN, RANDOM, 11.9, note="an expected value, not counted"),
    _rate(_EC, GPT_4, 92.3, _EC_N),
    _rate(_EC, GPT_5, 89.6, _EC_N),
    _rate(_EC, CNN, 49.8, _EC_N, _BOOTSTRAP),
    _rate(_CARDIOMEGALY, GPT_4, 89.1, _CARDIOMEGALY_N),
    _rate(_CARDIOMEGALY, GPT_5, 72.0, _CARDIOMEGALY_N),
    _rate(_CARDIOMEGALY, CNN, 50.7, _CARDIOMEGALY_N, _BOOTSTRAP),
)
"""Hit rates in per cent on the CheXlocalize test set with an 8 x 8 grid."""

ERROR_SHARES: Final = (
    _anatomy(GPT_5, 6.3),
    _anatomy(GPT_4, 18.0),
    _anatomy(MEDGEMMA, 29.9),
)
"""Shares of anatomy errors in per cent, frontal views of the test set."""

WITHOUT_HALF: Final = Published(
    SOURCE,
    "section 3.3",
    Measure.SHARE,
    "Images without a cell that is half covered",
    "reference",
    4.4,
    1,
    668,
    note="54 of the 1,225 pairs would round to it",
)
SHARES: Final = (
    WITHOUT_HALF,
    Published(
        SOURCE,
        "section 4.2",
        Measure.SHARE,
        "Frontal images of the test set",
        "data set",
        87.0,
        0,
        668,
    ),
)
"""Shares of the test set's 668 images in per cent."""

ROWS: Final = (*HIT_RATES, *ERROR_SHARES, *SHARES)
"""Every printed value, in the order of the paper's sections."""
