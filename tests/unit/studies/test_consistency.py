import pytest

from viewer.studies.consistency import (
    Check,
    CountCheck,
    HarmonicCheck,
    MeanCheck,
    MostBelowCheck,
    PooledCheck,
    SignCheck,
    TotalCheck,
    badge_of,
    flagged,
    published_table,
)
from viewer.studies.published import Badge, PublishedValue, Unit


def row(
    value: float, decimals: int = 1, n: int | None = None, unit: Unit = Unit.PERCENT
) -> PublishedValue:
    return PublishedValue(
        "Somebody 2025", "Table 1", "accuracy", "all", "A", value, decimals, n, unit
    )


def score(value: float, decimals: int = 3) -> PublishedValue:
    return row(value, decimals, None, Unit.SCORE)


@pytest.mark.statement("X-05")
@pytest.mark.parametrize(
    ("check", "words"),
    [
        (
            CountCheck(row(5.0, n=81)),
            "5.0 % is not k / 81 for any k (4 / 81 = 4.9 %)",
        ),
        (
            CountCheck(row(10.1, n=62), told=(row(36.2),)),
            (
                "10.1 % is not k / 62 for any k (6 / 62 = 9.7 %); of sizes below "
                "130, 69 gives 10.1 and 36.2"
            ),
        ),
        (CountCheck(row(0.341, 3, 9, Unit.FRACTION)), "34.1 % is not k / 9"),
        (MeanCheck(score(4.12, 2), 7), "no whole sum of 7 scores has the mean 4.12"),
        (
            MeanCheck(score(4.118), 51, score(0.9)),
            "no 51 whole scores have the deviation 0.900",
        ),
        (
            HarmonicCheck(score(0.722), score(0.712), score(0.709)),
            "2PR / (P + R) is 0.710, not 0.722; beyond P and R",
        ),
        (
            HarmonicCheck(score(0.737), score(0.754), score(0.724)),
            "2PR / (P + R) is 0.739, not 0.737",
        ),
        (
            PooledCheck(row(20.0), (row(10.0), row(20.0)), (1, 1), "0.1"),
            "its parts pool to 15.00, not 20.0",
        ),
        (TotalCheck((row(50, 0), row(49, 0))), "the 2 shares add up to 99 %"),
        (
            SignCheck(row(-0.1), row(32.7), row(32.6)),
            "32.7 - 32.6 is +0.1, not -0.1",
        ),
        (
            MostBelowCheck(row(50, 0), (row(52.1), row(49.0))),
            "1 of 2 are below 50, the least is 49.0 %",
        ),
    ],
)
def test_that_each_check_says_what_is_wrong(check: Check, words: str) -> None:
    assert check.problem.startswith(words)
    assert check.tolerance
    assert list(flagged([check])) == [check]
    assert badge_of(check.about[0], [check]) is Badge.INCONSISTENT


@pytest.mark.parametrize(
    "check",
    [
        CountCheck(row(4.9, n=81)),
        MeanCheck(score(4.118), 51, score(0.84)),
        MeanCheck(score(4.118), 51),
        HarmonicCheck(score(0.739), score(0.754), score(0.724)),
        PooledCheck(row(15.1), (row(10.0), row(20.0)), (1, 1), "0.1"),
        TotalCheck((row(50, 0), row(50, 0))),
        SignCheck(row(-0.1), row(32.7), row(32.8)),
        SignCheck(row(0.0), row(33.3), row(33.3)),
        MostBelowCheck(row(50, 0), (row(52.1), row(49.0), row(49.9))),
    ],
)
def test_that_what_can_be_is_not_flagged(check: Check) -> None:
    assert (check.problem, check.instead) == ("", "")
    assert badge_of(check.about[0], [check]) is Badge.CONSISTENT


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (
            CountCheck(row(86.15, 2, 398), at_least=397),
            "no k / 398 rounds to it; a k / 397 does",
        ),
        (
            CountCheck(row(50.0, 1, 7), at_least=3),
            "no k / 7 rounds to it; a k / 4 or 6 does",
        ),
        (
            PooledCheck(row(14.9, 1, 3), (row(10.0), row(20.0)), (1, 1), "0.1"),
            "no k / 3 rounds to it; its parts pool to 15.00",
        ),
    ],
)
def test_that_what_is_not_of_its_n_says_what_it_can_be(
    check: Check, words: str
) -> None:
    assert (check.problem, check.instead) == ("", words)
    assert list(flagged([check])) == []
    assert badge_of(check.about[0], [check]) is Badge.NOT_OF_N


@pytest.mark.statement("X-05")
def test_that_the_table_has_every_row_with_badge_reason_and_tolerance() -> None:
    wrong, right, alone = row(5.0, n=81), row(4.9, n=81), row(7.0)
    lonely = CountCheck(row(1.2, n=2), told=(row(3.4),))
    assert "no size gives 1.2 and 3.4" in lonely.problem
    table = published_table((wrong, right, alone), [CountCheck(wrong)])
    lines = [dict(zip(table.header, line, strict=True)) for line in table.rows]
    assert [line["badge"] for line in lines] == [
        "inconsistent",
        "consistent",
        "not checkable",
    ]
    assert str(lines[0]["reason"]).startswith("5.0 % is not k / 81")
    assert lines[0]["tolerance"] == "half of the last printed decimal"
    assert lines[1]["reason"] == lines[2]["tolerance"] == ""


def test_that_a_score_claims_no_count() -> None:
    one = PublishedValue("S", "T", "mean", "", "A", 2.71, 2, 100, Unit.SCORE)
    assert (one.counts, one.badge) == ((), Badge.UNCHECKED)
    assert one.check == "no number of trials is given"
    fraction = row(0.341, 3, 41, Unit.FRACTION)
    assert (fraction.counts, fraction.badge) == ((14,), Badge.CONSISTENT)
    assert fraction.check == "14 / 41"
