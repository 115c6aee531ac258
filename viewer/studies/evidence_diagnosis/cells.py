"""Common parts of the study's tables: rates, scores, and which answers count."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from viewer.domain.evidence import Language
from viewer.results.spec import Cell, Key, Shown, Where
from viewer.studies.evidence_diagnosis.params import Task
from viewer.studies.evidence_diagnosis.parse import HIGHEST
from viewer.studies.tables import counts

MODEL: Final = (Key("model"),)
MODELS: Final[Where] = {"person": (False,)}
PLAIN: Final[Where] = {"plain": (True,)}
COUNTED: Final[Where] = {"counted": (True,)}
JUDGED: Final[Where] = {"judged": (True,)}
LANGUAGES: Final = {Language.ENGLISH: "English", Language.CHINESE: "Chinese"}
COUNTS_AFTER_N: Final = (
    *("n_planned", "n_failed", "n_refused", "n_unparsed"),
    *("n_excluded", "n_pending"),
)
OF_CASES: Final = ("patient", "case")
"""The columns of the clusters that intervals allow for (X-07)."""
BY_PATIENT: Final = {"cluster": "patient"}
IN_BRACKETS: Final = "In brackets: 95 % intervals by patient."
_EVERY: Final[Where] = {}
_ENDS: Final = ("low", "high", "method")


def of_task(task: Task, language: Language | None = None) -> Where:
    """Return which answers rates of a task count, of one language or of all."""
    own: Where = {"language": (language,)} if language else {}
    return {**PLAIN, "task": (task,), **own}


def name_in(number: str, language: Language) -> str:
    """Return the name of a table; those of the paper are of cases in English."""
    suffix = "" if language is Language.ENGLISH else f"_{language}"
    return f"table_{number}{suffix}"


def rate(
    name: str = "fdx",
    prefix: str = "",
    where: Where = _EVERY,
    frame: str = "",
    *,
    chosen: bool = True,
) -> Iterator[Cell]:
    """Yield a rate of the settled trials, its interval, and all counts (X-01).

    A rate of answers that are ``chosen`` among options is shown with chance.
    """
    settled = {**where, **COUNTED}
    yield from share(name, "correct", settled, f"{prefix}ci", frame)
    yield Cell("sum", (f"{prefix}k",), ("correct",), settled, frame=frame)
    yield Cell("size", (f"{prefix}n",), where=settled, frame=frame)
    if chosen:
        level = f"{prefix}chance"
        yield Cell("chance level", (level,), ("chance",), settled, frame=frame)
    for cell in counts(COUNTS_AFTER_N, prefix, dict(where)):
        yield replace(cell, frame=frame)


def share(
    name: str, column: str, where: Where, ends: str = "", frame: str = ""
) -> Iterator[Cell]:
    """Yield the share of rows whose column is true, and its interval.

    The interval's columns begin with ``ends``, by default with the share's name.
    """
    yield Cell("share", (name,), (column,), where, frame=frame)
    names, of = interval_names(ends or name), (column, *OF_CASES)
    yield Cell("interval", names, of, where, frame=frame)


def interval_names(of: str) -> tuple[str, ...]:
    """Return the columns of an interval: its ends and its method."""
    return tuple(f"{of}_{end}" for end in _ENDS)


def score(end: str = "", where: Where = _EVERY) -> Iterator[Cell]:
    """Yield the mean of a judge's scores, its interval, and both numbers of answers.

    These are the number scored and the number expected.
    """
    yield Cell("mean", (f"score{end}",), ("judge",), where)
    options = {**BY_PATIENT, "ends": (0, HIGHEST)}
    names = interval_names(f"score{end}")
    yield Cell("interval of scores", names, ("judge",), where, options=options)
    yield Cell("size", (f"n_judged{end}",), where={**where, **JUDGED})
    yield Cell("size", (f"n_planned{end}",), where=where)


def score_shown(end: str = "", words: str = "Score") -> Shown:
    """Return a page's column of mean scores, with how many of the planned have one."""
    counts = f"n_judged{end}", f"n_planned{end}"
    limits = f"score{end}_low", f"score{end}_high"
    header = f"{words} (judged / planned)"
    return Shown(f"score{end}", header, counts=counts, limits=limits)


def percent(
    column: str,
    header: str,
    prefix: str | None = None,
    group: str = "",
    ends: str = "",
) -> Shown:
    """Return a rate of a page in per cent, with the counts of this prefix.

    Its interval follows: that of the prefix, or whose columns begin with ``ends``.
    """
    counts = () if prefix is None else (f"{prefix}k", f"{prefix}n")
    ends = ends or ("" if prefix is None else f"{prefix}ci")
    limits = interval_names(ends)[:2] if ends else ()
    return Shown(column, header, scale=100, counts=counts, group=group, limits=limits)


CHANCE: Final = percent("chance", "Chance %")
"""A page's column of what a choice at random would reach."""
