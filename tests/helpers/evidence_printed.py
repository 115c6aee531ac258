"""Every printed number of Chen 2026 with the badge that it must have.

The numbers are read off the files that hold them as the paper prints them, and tried in
fractions.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path

import viewer.studies.evidence_diagnosis as study
from tests.helpers.evidence_cells import Cell, Row

SPECIALTY_SIZES = (7, 9, 4, 22, 13, 132, 7, 37, 85, 23, 19, 3, 3, 4, 6, 21, 3)
"""English cases of each column of Table 10."""
TWO_RUNS = "DeepSeek-VL2 (27B)"
ROUNDING = "half of the last printed decimal"
POOLED = "0.02 percentage points"
DDX, FDX = "differential coverage", "final diagnosis accuracy"
LANGUAGES = {
    "en": ("English", 398, 393),
    "zh": ("Chinese", 54, 50),
    "all": ("All", 452, 0),
}


def published() -> list[Row]:
    """Return every printed number with its badge, in the paper's order."""
    return [*_printed_2(), *_printed_shares(), *_printed_scores(), *_printed_errors()]


@cache
def _lines(number: str) -> list[list[str]]:
    folder = Path(study.__path__[0]) / "printed"
    text = (folder / f"table_{number}.txt").read_text(encoding="utf-8")
    return [line.split(";") for line in text.splitlines()]


def _row(
    table: str, measure: str, subject: str, who: str, value: str, n: int | None = None
) -> dict[str, Cell]:
    return {
        "source": "Chen 2026, MEDSYN",
        "table": table,
        "measure": measure,
        "subject": subject,
        "who": who,
        "value": float(value),
        "decimals": len(value.partition(".")[2]),
        "n_claimed": n,
        "n_is": "" if n is None else "derived" if table == "Table 10" else "printed",
        "badge": "not checkable",
        "reason": "",
        "tolerance": "",
    }


def _tried(row: dict[str, Cell], problems: Sequence[tuple[str, str, str]]) -> Row:
    """Return a row with what its checks found, each with its tolerance."""
    reasons = [problem for problem, *_ in problems if problem]
    instead = [words for _, words, _ in problems if words]
    badge = "not of this n" if instead else "consistent"
    told = [words for two in problems for words in two[:2] if words]
    return {
        **row,
        "badge": "inconsistent" if reasons else badge,
        "reason": "; ".join(told),
        "tolerance": "; ".join(dict.fromkeys(tolerance for *_, tolerance in problems)),
    }


def _prints(printed: Fraction, n: int) -> bool:
    half = Fraction(1, 200)
    return any(abs(Fraction(100 * k, n) - printed) <= half for k in range(n + 1))


def _count(value: str, least: int, n: int) -> tuple[str, str, str]:
    """Return what is wrong with a share of least to n cases, and which n fit."""
    printed = Fraction(value)
    sizes = [size for size in range(least, n + 1) if _prints(printed, size)]
    k = round(printed * n / 100)
    problem = f"{value} % is not k / {n} for any k ({k} / {n} = {100 * k / n:.2f} %)"
    fitting = " or ".join(", ".join(map(str, sizes)).rsplit(", ", 1))
    instead = f"no k / {n} rounds to it; a k / {fitting} does"
    is_other = sizes and n not in sizes
    return "" if sizes else problem, instead if is_other else "", ROUNDING


def _pooled(
    value: str, parts: Sequence[str], sizes: Sequence[int], n: int
) -> tuple[str, str, str]:
    """Return what is wrong with a rate of n over parts of these sizes."""
    weighted = [Fraction(p) * n for p, n in zip(parts, sizes, strict=True)]
    whole = sum(weighted, Fraction(0)) / sum(sizes)
    pools = abs(whole - Fraction(value)) <= Fraction(1, 50)
    problem = f"its parts pool to {float(whole):.2f}, not {value}"
    instead = f"no k / {n} rounds to it; its parts pool to {float(whole):.2f}"
    is_other = pools and not _prints(Fraction(value), n)
    return "" if pools else problem, instead if is_other else "", POOLED


def _printed_2() -> Iterator[Row]:
    by_specialty = {who: values for who, *values in _lines("10")[1:]}
    head, *lines = _lines("02")
    for who, *values in lines:
        of = dict(zip(head[1:], values, strict=True))
        for column, value in of.items():
            kind, subset = column.split("_")
            subject, n, least = LANGUAGES[subset]
            if value == "-":
                continue
            if kind == "rank":
                yield _row("Table 2", "rank by final diagnosis", subject, who, value)
                continue
            if subset == "all":
                parts = [of[f"{kind}_en"], of[f"{kind}_zh"]]
                problems = [_pooled(value, parts, (398, 54), n)]
            else:
                problems = [_count(value, least, n)]
            if column == "fdx_en" and who in by_specialty:
                problems.append(_pooled(value, by_specialty[who], SPECIALTY_SIZES, n))
            measure = DDX if kind == "ddx" else FDX
            yield _tried(_row("Table 2", measure, subject, who, value, n), problems)


def _printed_shares() -> Iterator[Row]:
    tables = (
        *(("03", "Table 3", ""), ("04", "Table 4", ""), ("06", "Table 6", "")),
        ("07", "Table 7", "Qwen2.5-VL (7B)"),
    )
    for number, table, whose in tables:
        yield from _shares(number, table, whose)


def _shares(number: str, table: str, whose: str) -> Iterator[Row]:
    head, *lines = _lines(number)
    for who, *values in lines:
        for column, value in zip(head[1:], values, strict=True):
            subject = f"English, {who if whose else column.replace('_', ' ')}"
            row = _row(table, FDX, subject, whose or who, value, 398)
            yield _tried(row, [_count(value, 393, 398)])


def _printed_scores() -> Iterator[Row]:
    head, *lines = _lines("08")
    for who, *values in lines:
        for subset, value in zip(head[1:], values, strict=True):
            subject = LANGUAGES[subset][0]
            yield _row("Table 8", "differential score", subject, who, value)
    for who, value in _lines("09")[1:]:
        yield _row("Table 9", "open final diagnosis score", "English", who, value)


def _printed_errors() -> Iterator[Row]:
    head, *lines = _lines("10")
    for who, *values in lines:
        for part, size, value in zip(head[1:], SPECIALTY_SIZES, values, strict=True):
            n = 2 * size if who == TWO_RUNS else size
            row = _row("Table 10", FDX, part, who, value, n)
            yield _tried(row, [_count(value, n - 1, n)])
    for number, table in (("11", "Table 11"), ("12", "Table 12"), ("13", "Table 13")):
        head, *lines = _lines(number)
        for first, *values in lines:
            for column, value in zip(head[1:], values, strict=True):
                groups = number == "11"
                subject, who = (column, first) if groups else (first, column)
                yield _row(table, FDX if groups else "NMSE", subject, who, value)
    yield from _shares("14", "Table 14", "Lingshu (7B)")
