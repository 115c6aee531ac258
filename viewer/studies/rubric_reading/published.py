"""What Banerjee 2025 prints, as reference rows that no run edits (X-05, App. B.2)."""

from collections.abc import Iterator
from typing import Final

from viewer.domain.rubric import Dimension
from viewer.studies.published import PublishedValue, Unit
from viewer.studies.rubric_reading.final import Measure
from viewer.studies.rubric_reading.protocol_data import SOURCE, TARGETS

O3: Final = "ChatGPT-o3"
MEDGEMMA: Final = "MedGemma"
BOTH: Final = "ChatGPT-o3 against MedGemma"
MAIN_READER: Final = "main reader"
SECOND_READER: Final = "reader 2"
READERS: Final = "main reader and reader 2"
SIZES: Final = {O3: 100, MEDGEMMA: 81}
"""Outputs of each model (Table 1)."""
DOUBLE_READ: Final = {"text": 51, "image": 15}
"""Outputs that both readers graded (section 3.5)."""
ANNOTATED_TASKS: Final = 62

MEAN, DEVIATION, P_ADJUSTED = "mean", "standard deviation", "adjusted p"
FIVES, BELOW_THREE = "share of 5", "share below 3"
KAPPA, DIFFERENCE = "QWK", "MAD"
REGION: Final = "share of tasks by region"

_MEANS: Final = (
    ("Table 1", Measure.CONTENT, 2.71, 1.31, 2.84, 1.14, 0.52),
    ("Table 1", Measure.LANGUAGE, 4.15, 0.73, 4.33, 0.96, 0.66),
    ("Table 2", Measure.PROCESS, 4.17, 0.95, 3.91, 0.94, 0.10),
    ("Table 2", Measure.EXECUTION, 2.90, 1.44, 3.26, 1.27, 0.19),
    ("Table 2", Measure.SYNTHESIS, 3.85, 1.06, 3.49, 1.21, 0.10),
)
_AGREEMENT: Final = (
    (Dimension.PROCESS, 0.215, 0.667, 4.118, 0.840, 4.510, 0.784),
    (Dimension.EXECUTION, 0.573, 0.882, 2.961, 1.399, 3.176, 1.337),
    (Dimension.SYNTHESIS, 0.291, 0.706, 3.824, 1.014, 3.902, 0.878),
    (Dimension.LANGUAGE, 0.560, 0.510, 4.235, 0.862, 4.078, 0.771),
    (Dimension.IMAGE_CONTENT, 0.327, 1.200, 2.733, 1.438, 1.933, 1.223),
    (Dimension.IMAGE_STYLE, 0.484, 1.000, 3.667, 1.047, 2.933, 1.438),
)


_COLUMNS: Final = (
    (KAPPA, READERS),
    (DIFFERENCE, READERS),
    (MEAN, MAIN_READER),
    (DEVIATION, MAIN_READER),
    (MEAN, SECOND_READER),
    (DEVIATION, SECOND_READER),
)


def _score(
    table: str, measure: str, subject: str, who: str, value: float, decimals: int = 2
) -> PublishedValue:
    unit = Unit.SCORE
    return PublishedValue(
        SOURCE, table, measure, subject, who, value, decimals, unit=unit
    )


def _means() -> Iterator[PublishedValue]:
    for table, measure, mean, deviation, second, its_deviation, p in _MEANS:
        yield _score(table, MEAN, measure, O3, mean)
        yield _score(table, DEVIATION, measure, O3, deviation)
        yield _score(table, MEAN, measure, MEDGEMMA, second)
        yield _score(table, DEVIATION, measure, MEDGEMMA, its_deviation)
        yield _score(table, P_ADJUSTED, measure, BOTH, p)


def _share(
    where: str, measure: str, subject: str, who: str, value: float, decimals: int = 1
) -> PublishedValue:
    n = SIZES[who]
    return PublishedValue(SOURCE, where, measure, subject, who, value, decimals, n)


SHARES: Final = (
    _share("section 4.1", FIVES, Measure.CONTENT, O3, 10.0),
    _share("section 4.1", FIVES, Measure.CONTENT, MEDGEMMA, 4.9),
    _share("section 4.1", FIVES, Measure.LANGUAGE, O3, 31.0),
    _share("section 4.1", FIVES, Measure.LANGUAGE, MEDGEMMA, 56.8),
    _share("section 4.2", BELOW_THREE, Measure.PROCESS, O3, 8.0),
    _share("section 4.2", BELOW_THREE, Measure.PROCESS, MEDGEMMA, 5.0),
    _share("section 4.2", BELOW_THREE, Measure.EXECUTION, O3, 42, 0),
    _share("section 4.2", BELOW_THREE, Measure.EXECUTION, MEDGEMMA, 34.5),
)
"""Shares of a model's outputs in per cent."""

IMAGE_FIVES: Final = PublishedValue(
    SOURCE,
    "section 5",
    FIVES,
    Measure.IMAGE_CONTENT,
    O3,
    10.1,
    n_claimed=ANNOTATED_TASKS,
)
STYLE_FIVES: Final = PublishedValue(
    SOURCE,
    "section 4.3",
    FIVES,
    Measure.IMAGE_STYLE,
    O3,
    36.2,
    note="the sentence names no number of images",
)
IMAGES: Final = (
    _score("section 4.3", MEAN, Measure.IMAGE_CONTENT, O3, 3.06),
    _score("section 4.3", DEVIATION, Measure.IMAGE_CONTENT, O3, 1.22),
    _score("section 4.3", MEAN, Measure.IMAGE_STYLE, O3, 3.63),
    _score("section 4.3", DEVIATION, Measure.IMAGE_STYLE, O3, 1.33),
    IMAGE_FIVES,
    STYLE_FIVES,
)
"""The note on annotated images."""


def _agreement() -> Iterator[PublishedValue]:
    for dimension, *values in _AGREEMENT:
        for (measure, who), value in zip(_COLUMNS, values, strict=True):
            yield _score("Table 3", measure, dimension, who, float(value), 3)


REGIONS: Final = tuple(
    PublishedValue(SOURCE, "section 3.1", REGION, region, "tasks", share, 0, 100)
    for region, share in TARGETS.items()
)
"""Shares of regions among the tasks in per cent."""
TABLES_1_2: Final = tuple(_means())
TABLE_3: Final = tuple(_agreement())

ROWS: Final = (*REGIONS, *TABLES_1_2, *SHARES, *IMAGES, *TABLE_3)
"""Every printed value, in the order of the paper's sections."""


def row_of(measure: str, subject: str, who: str) -> PublishedValue:
    """Return the row of a measure, a subject and who; KeyError if there is none."""
    return _BY_NAME[measure, subject, who]


_BY_NAME: Final = {(row.measure, row.subject, row.who): row for row in ROWS}
