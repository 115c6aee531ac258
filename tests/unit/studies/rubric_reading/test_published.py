import pytest

from viewer.domain.rubric import Dimension
from viewer.domain.task_selection import Category
from viewer.metrics.printed import squares_that_print, sums_that_print
from viewer.studies.consistency import badge_of, flagged
from viewer.studies.published import Badge
from viewer.studies.rubric_reading.consistency import CHECKS
from viewer.studies.rubric_reading.protocol_data import (
    EXAMPLES,
    FIGURE_2,
    FIGURE_4,
    MODELS,
    STUDIES,
    TEMPORAL,
)
from viewer.studies.rubric_reading.published import (
    DEVIATION,
    FIVES,
    MAIN_READER,
    MEAN,
    MEDGEMMA,
    O3,
    REGIONS,
    ROWS,
    SECOND_READER,
    row_of,
)


@pytest.mark.statement("X-05")
def test_that_the_checks_flag_what_is_known_and_nothing_else() -> None:
    found = {check.problem for check in flagged(CHECKS)}
    assert found == {
        "the 8 shares add up to 99 %",
        "5.0 % is not k / 81 for any k (4 / 81 = 4.9 %)",
        "34.5 % is not k / 81 for any k (28 / 81 = 34.6 %)",
        (
            "10.1 % is not k / 62 for any k (6 / 62 = 9.7 %); of sizes below 130, 69 "
            "gives 10.1 and 36.2"
        ),
    }
    wrong = [row for row in ROWS if badge_of(row, CHECKS) is Badge.INCONSISTENT]
    assert [row for row in wrong if row not in REGIONS] == [
        row_of("share below 3", "process", MEDGEMMA),
        row_of("share below 3", "execution", MEDGEMMA),
        row_of(FIVES, "image_content", O3),
    ]
    assert set(REGIONS) <= set(wrong)


@pytest.mark.statement("E001-15")
def test_that_every_deviation_of_table_3_is_one_of_whole_scores_with_n_less_one() -> (
    None
):
    with_n = 0
    for dimension in Dimension:
        n = 15 if dimension.startswith("image") else 51
        for who in (MAIN_READER, SECOND_READER):
            mean, deviation = (row_of(m, dimension, who) for m in (MEAN, DEVIATION))
            (total,) = sums_that_print(mean.value, 3, n)
            assert squares_that_print(total, deviation.value, 3, n)
            with_n += bool(squares_that_print(total, deviation.value, 3, n, ddof=0))
    assert with_n < 12


def test_that_every_row_stands_once_with_its_decimals() -> None:
    keys = [(row.measure, row.subject, row.who) for row in ROWS]
    assert len(set(keys)) == len(keys) == 8 + 25 + 8 + 6 + 36
    assert all(round(row.value, row.decimals) == row.value for row in ROWS)
    assert row_of(MEAN, "execution", O3).printed == "2.90"
    adjusted = [row.value for row in ROWS if row.measure == "adjusted p"]
    assert adjusted == [0.52, 0.66, 0.10, 0.19, 0.10]


@pytest.mark.statement("E001-21", "E001-22", "E001-24")
def test_that_the_papers_own_words_are_quoted() -> None:
    assert set(EXAMPLES) == set(Category)
    assert "Measure the cardiothoracic ratio" in EXAMPLES[Category.MEASUREMENT]
    assert len(FIGURE_4) == 3
    assert "Box and label each feature on the image(s)." in FIGURE_4[0]
    assert set(MODELS.values()) == {"GPT-o4-mini", "ChatGPT-o3", "MedGemma-4b-it"}
    assert (STUDIES, TEMPORAL) == (100, 11)
    assert [card.dimension for card in FIGURE_2] == [
        Dimension.PROCESS,
        Dimension.EXECUTION,
        Dimension.SYNTHESIS,
    ]
    assert "granulomatous lesion" in FIGURE_2[1].example
