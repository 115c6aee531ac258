"""Tables 1 to 3 as the paper prints them, the tests in full, and cards of errors."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import Final

from viewer.domain.report import Section, Table
from viewer.metrics.rubric import Spread
from viewer.studies.rubric_reading.agreeing import agreements
from viewer.studies.rubric_reading.comparing import MeasureTest
from viewer.studies.rubric_reading.final import Measure
from viewer.studies.rubric_reading.tables import (
    TABLE_1,
    TABLE_2,
    Graded,
    rows_of,
    tests_of,
)

_MOST_CARDS: Final = 12


def grade_sections(given: Graded) -> Iterator[Section]:
    """Yield tables 1, 2, their tests and, where two readers graded, table 3."""
    yield _means("table_1", "Table 1: Content and language", TABLE_1, given)
    yield _means("table_2", "Table 2: Parts of the content", TABLE_2, given)
    tested = tests_of(given)
    if tested:
        yield _tests(tested)
    if given.second is not None:
        yield _table_3(given)


def card_sections(cards: Table) -> Iterator[Section]:
    """Yield the first cards of errors with all their words (figure 4)."""
    found = [dict(zip(cards.header, row, strict=True)) for row in cards.rows]
    if found:
        names = ("task", "model", "reader", "image", "concerns", "comments", "excerpt")
        lines = tuple(
            tuple(_told(card, name) for name in names) for card in found[:_MOST_CARDS]
        )
        heads = tuple(name.capitalize() for name in names[:-1])
        shown = f"{len(lines)} of {len(found)}" if len(found) > len(lines) else "All"
        yield Section(
            "What readers objected to",
            f"{shown} graded outputs with a concern, a code or a comment; the rest is "
            "in error_cards.csv.",
            Table("readers_concerns", (*heads, "Output"), lines),
        )


def _told(card: Mapping[str, object], name: str) -> str:
    """Return a cell of a card; its codes stand among the concerns."""
    if name != "concerns":
        return "" if card[name] is None else str(card[name])
    codes = str(card["codes"]).replace("_", " ")
    return "; ".join(part for part in (codes, str(card["concerns"])) if part)


def _tests(tested: Sequence[MeasureTest]) -> Section:
    lines = tuple(
        (
            *(f"{one.first} - {one.second}", one.measure.words),
            *(str(one.test.pairs), str(one.test.zeros)),
            *(f"{one.mean_difference:+.2f}", _number(one.test.effect, 2)),
            *(_p(one.test.p_value), _p(one.adjusted)),
        )
        for one in tested
    )
    header = (
        *("Models", "Metric", "Tasks", "Without difference", "Difference"),
        *("Effect", "p", "p adj"),
    )
    text = (
        "Paired Wilcoxon signed-rank tests on common tasks, two-sided; Benjamini-"
        "Hochberg over the five measures of each two models. Effect: matched-pairs "
        "rank-biserial correlation. tests.csv has every method."
    )
    return Section("Tests of tables 1 and 2", text, Table("tests", header, lines))


def _means(
    name: str, title: str, measures: Sequence[Measure], given: Graded
) -> Section:
    rows = {(row.measure, row.model): row.spread for row in rows_of(given, measures)}
    adjusted = {test.measure: test.adjusted for test in tests_of(given)}
    two = len(given.models) == 2
    sizes = [rows[measures[0], model].n for model in given.models]
    heads = (f"{m} (n = {n})" for m, n in zip(given.models, sizes, strict=True))
    lines = (
        (
            measure.words,
            *(_plus_minus(rows[measure, m], 2) for m in given.models),
            *((_p(adjusted.get(measure)),) if two else ()),
        )
        for measure in measures
    )
    header = ("Metric", *heads, *(("p adj",) if two else ()))
    text = (
        "Mean ± SD (n - 1) of final scores, readers averaged. p: paired Wilcoxon "
        "signed-rank test on common tasks, Benjamini-Hochberg over the five measures."
    )
    return Section(title, text, Table(name, header, tuple(lines)))


def _table_3(given: Graded) -> Section:
    second = given.second or ""
    rows = agreements(given.grades, given.main, second, given.resampling)
    lines = tuple(
        (
            row.dimension.words,
            str(row.n),
            _number(row.kappa.value, 3),
            _number(row.mad.value, 3),
            _plus_minus(row.first, 3),
            _plus_minus(row.second, 3),
        )
        for row in rows
    )
    header = ("Category", "n", "QWK", "MAD", given.main, second)
    text = (
        "Quadratic weighted kappa with fixed labels 1 to 5, mean absolute difference "
        "and each reader's mean ± SD, over what both graded."
    )
    table = Table("table_3", header, lines)
    return Section("Table 3: Agreement of two readers", text, table)


def _plus_minus(spread: Spread, decimals: int) -> str:
    mean, deviation = spread.mean, spread.deviation
    return f"{_number(mean, decimals)} ± {_number(deviation, decimals)}"


def _p(value: float | None) -> str:
    """Return a p value as the paper prints it; one that would print as 0 as less."""
    if value is not None and value < _LEAST_P:
        return f"< {_LEAST_P}"
    return _number(value, 2)


_LEAST_P = 0.01


def _number(value: float | None, decimals: int) -> str:
    return "n/a" if value is None or isnan(value) else f"{value:.{decimals}f}"
