"""What Chen 2026 (MEDSYN) prints, as reference rows that no run edits (App. B.5).

The numbers are in ``printed/``, one file for each table of the paper.
"""

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Final

from viewer.studies.published import PublishedValue, Unit

SOURCE: Final = "Chen 2026, MEDSYN"
ENGLISH_CASES: Final = 398
CHINESE_CASES: Final = 54
CASES: Final = ENGLISH_CASES + CHINESE_CASES

DDX: Final = "differential coverage"
FDX: Final = "final diagnosis accuracy"
RANK: Final = "rank by final diagnosis"
DDX_SCORE: Final = "differential score"
FDX_SCORE: Final = "open final diagnosis score"
NMSE: Final = "NMSE"

PHYSICIANS: Final = "Senior physicians"
TWO_RUNS: Final = "DeepSeek-VL2 (27B)"
"""The model whose rows of Table 10 hold half counts: a mean of two runs."""

SPECIALTY_CASES: Final[Mapping[str, int]] = {
    "Cardiology": 7,
    "Clinical genetics": 9,
    "Emergency medicine": 4,
    "Endocrinology and diabetes mellitus": 22,
    "Gastro-enterology": 13,
    "General (internal) medicine": 132,
    "General psychiatry": 7,
    "Haematology": 37,
    "Infectious diseases": 85,
    "Medical oncology": 23,
    "Neurology": 19,
    "Obstetrics and gynaecology": 3,
    "Paediatrics": 3,
    "Renal medicine": 4,
    "Respiratory medicine": 6,
    "Rheumatology": 21,
    "Tropical medicine": 3,
}
"""English cases of each specialty; worked back from Table 10, they add up to 398."""

CLASSES: Final[Mapping[str, tuple[str, ...]]] = {
    "Proprietary": (
        *("Claude Opus 4.5", "o3", "Gemini 2.5 Pro", "GPT-5.2"),
        "Gemini 2.5 Flash",
    ),
    "Medical": ("HuatuoGPT-Vision (7B)", "Lingshu (7B)", "Med-Mantis (8B)"),
    "Large": ("Qwen2.5-VL (72B)", "InternVL3 (78B)"),
    "Medium": ("Qwen3-VL (32B)", "InternVL3.5 (38B)"),
    "Small": ("Qwen3-VL (8B)", "InternVL3.5 (8B)", "Qwen2.5-VL (7B)"),
}
"""The models of each line of Figure 4; which are medium the paper does not say."""

_ENGLISH, _CHINESE, _ALL = "English", "Chinese", "All"
_BY_SPECIALTY: Final = "Table 10"
_SUBSETS: Final = {
    "en": (_ENGLISH, ENGLISH_CASES),
    "zh": (_CHINESE, CHINESE_CASES),
    "all": (_ALL, CASES),
}
_MEASURES: Final = {"ddx": DDX, "fdx": FDX, "rank": RANK}


@lru_cache(maxsize=1)
def rows() -> tuple[PublishedValue, ...]:
    """Return every number of Tables 2 to 14 that is a result."""
    return (
        *_table_2(),
        *_columns("03", "Table 3", FDX, _ENGLISH, ENGLISH_CASES),
        *_columns("04", "Table 4", FDX, _ENGLISH, ENGLISH_CASES),
        *_columns("06", "Table 6", FDX, _ENGLISH, ENGLISH_CASES),
        *_tuned("07", "Table 7", "Qwen2.5-VL (7B)"),
        *_scores(),
        *_by_part("10", _BY_SPECIALTY),
        *_by_part("11", "Table 11"),
        *_errors("12", "Table 12"),
        *_errors("13", "Table 13"),
        *_tuned("14", "Table 14", "Lingshu (7B)"),
    )


def find(table: str, measure: str, subject: str, who: str) -> PublishedValue:
    """Return a row; KeyError if the paper prints no such row."""
    return _index()[table, measure, subject, who]


@lru_cache(maxsize=1)
def _index() -> dict[tuple[str, str, str, str], PublishedValue]:
    return {(r.table, r.measure, r.subject, r.who): r for r in rows()}


def _read(number: str) -> tuple[list[str], list[list[str]]]:
    folder = files("viewer.studies.evidence_diagnosis") / "printed"
    text = (folder / f"table_{number}.txt").read_text(encoding="utf-8")
    lines = [line.split(";") for line in text.splitlines()]
    return lines[0], lines[1:]


def _table_2() -> list[PublishedValue]:
    header, lines = _read("02")
    found = []
    for who, *values in lines:
        for column, value in zip(header[1:], values, strict=True):
            kind, subset = column.split("_")
            subject, n = _SUBSETS[subset]
            if value != "-":
                found.append(_cell("Table 2", _MEASURES[kind], subject, who, value, n))
    return found


def _columns(
    number: str, table: str, measure: str, subset: str, n: int
) -> list[PublishedValue]:
    header, lines = _read(number)
    return [
        _cell(table, measure, f"{subset}, {column.replace('_', ' ')}", who, value, n)
        for who, *values in lines
        for column, value in zip(header[1:], values, strict=True)
    ]


def _tuned(number: str, table: str, model: str) -> list[PublishedValue]:
    return [
        _cell(table, FDX, f"{_ENGLISH}, {setting}", model, value, ENGLISH_CASES)
        for setting, value in _read(number)[1]
    ]


def _scores() -> list[PublishedValue]:
    header, lines = _read("08")
    differential = [
        _cell("Table 8", DDX_SCORE, _SUBSETS[subset][0], who, value, None)
        for who, *values in lines
        for subset, value in zip(header[1:], values, strict=True)
    ]
    final = [
        _cell("Table 9", FDX_SCORE, _ENGLISH, who, value, None)
        for who, value in _read("09")[1]
    ]
    return [*differential, *final]


def _by_part(number: str, table: str) -> list[PublishedValue]:
    header, lines = _read(number)
    return [
        _cell(table, FDX, part, who, value, _cases_of(part, who))
        for who, *values in lines
        for part, value in zip(header[1:], values, strict=True)
    ]


def _errors(number: str, table: str) -> list[PublishedValue]:
    header, lines = _read(number)
    return [
        _cell(table, NMSE, of, who, value, None)
        for of, *values in lines
        for who, value in zip(header[1:], values, strict=True)
    ]


def _cases_of(part: str, who: str) -> int | None:
    """Return how many answers a cell of Table 10 is of; those of Table 11 are none.

    The groups' values were put together from rounded ones.
    """
    cases = SPECIALTY_CASES.get(part)
    return 2 * cases if cases and who == TWO_RUNS else cases


def _cell(
    table: str, measure: str, subject: str, who: str, value: str, n: int | None
) -> PublishedValue:
    percent = measure in {DDX, FDX}
    return PublishedValue(
        SOURCE,
        table,
        measure,
        subject,
        who,
        float(value),
        len(value.partition(".")[2]),
        n if percent else None,
        Unit.PERCENT if percent else Unit.SCORE,
        n_derived=percent and table == _BY_SPECIALTY,
    )


def table_5() -> tuple[tuple[str, str, str], ...]:
    """Return model, mean NMSE and accuracy of Table 5, which repeats other tables."""
    return tuple((who, nmse, fdx) for who, nmse, fdx in _read("05")[1])
