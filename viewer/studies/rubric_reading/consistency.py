"""Checks of the numbers in Banerjee 2025 for consistency (M-09)."""

from typing import Final

from viewer.domain.rubric import OF_IMAGE, Dimension
from viewer.studies.consistency import Check, CountCheck, MeanCheck, TotalCheck
from viewer.studies.rubric_reading.published import (
    DEVIATION,
    DOUBLE_READ,
    IMAGE_FIVES,
    MAIN_READER,
    MEAN,
    REGIONS,
    SECOND_READER,
    SHARES,
    STYLE_FIVES,
    row_of,
)


def _of_reader(dimension: Dimension, who: str) -> MeanCheck:
    n = DOUBLE_READ["image" if dimension in OF_IMAGE else "text"]
    mean, deviation = (row_of(m, dimension, who) for m in (MEAN, DEVIATION))
    return MeanCheck(mean, n, deviation)


CHECKS: Final[tuple[Check, ...]] = (
    TotalCheck(REGIONS),
    *(CountCheck(row) for row in SHARES),
    CountCheck(IMAGE_FIVES, told=(STYLE_FIVES,)),
    *(
        _of_reader(dimension, who)
        for dimension in Dimension
        for who in (MAIN_READER, SECOND_READER)
    ),
)
"""Every check; means of Tables 1 and 2 may hold half scores and exclude nothing."""
