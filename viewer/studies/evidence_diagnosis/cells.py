"""Common parts of the study's tables: rates, scores, and which answers count."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from viewer.domain.evidence import Language
from viewer.results.spec import Cell, Key, Shown, Where
from viewer.studies.evidence_diagnosis.params import Task
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
_EVERY: Final[Where] = {}


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
    """Yield a rate of the settled trials, and all counts (X-01).

    A rate of answers that are ``chosen`` among options is shown with chance.
    """
    settled = {**where, **COUNTED}
    yield Cell("share", (name,), ("correct",), settled, frame=frame)
    yield Cell("sum", (f"{prefix}k",), ("correct",), settled, frame=frame)
    yield Cell("size", (f"{prefix}n",), where=settled, frame=frame)
    if chosen:
        level = f"{prefix}chance"
        yield Cell("chance level", (level,), ("chance",), settled, frame=frame)
    for cell in counts(COUNTS_AFTER_N, prefix, dict(where)):
        yield replace(cell, frame=frame)


def score(end: str = "", where: Where = _EVERY) -> Iterator[Cell]:
    """Yield the mean of a judge's scores, their number, and the number expected."""
    yield Cell("mean", (f"score{end}",), ("judge",), where)
    yield Cell("size", (f"n_judged{end}",), where={**where, **JUDGED})
    yield Cell("size", (f"n_planned{end}",), where=where)


def score_shown(end: str = "", words: str = "Score") -> Shown:
    """Return a page's column of mean scores, with how many of the planned have one."""
    counts = f"n_judged{end}", f"n_planned{end}"
    return Shown(f"score{end}", f"{words} (judged / planned)", counts=counts)


def percent(
    column: str, header: str, prefix: str | None = None, group: str = ""
) -> Shown:
    """Return a rate of a page in per cent, with the counts of this prefix."""
    counts = () if prefix is None else (f"{prefix}k", f"{prefix}n")
    return Shown(column, header, scale=100, counts=counts, group=group)


CHANCE: Final = percent("chance", "Chance %")
"""A page's column of what a choice at random would reach."""
