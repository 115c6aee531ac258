"""The TOML file that describes a benchmark's table.

``[columns]`` and ``[answer]`` are required, ``[data]``, ``[prompts]`` and ``[report]``
optional.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Final

from viewer.domain.documents import read_toml
from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.domain.grid import grid_of_name
from viewer.domain.placeholders import check_placeholders
from viewer.domain.plain import did_you_mean, made
from viewer.domain.question_kinds import (
    MEASURED,
    OPTIONAL,
    REQUIRED,
    AnswerKind,
    TextMatch,
    Units,
)
from viewer.readers.files.text_files import bounded_text

NAME: Final = "question_set.toml"
ACCURACY: Final = "accuracy"
"""The metric that every question has."""


@dataclass(frozen=True)
class Data:
    """The location of the rows.

    ``table`` is a file, or a pattern such as ``data/test-*.parquet``, from the TOML
    file's folder; "" for every table there that has the columns. ``only`` is a table
    that names the items to import, such as an exported ``needs_image.csv``.
    """

    table: str = ""
    only: str = ""


@dataclass(frozen=True)
class Columns:
    """The columns by their content.

    ``image`` may be several columns, or one whose cells hold a list; so may
    ``options``. ``kind`` names the kind of each row's answer.
    """

    question: str
    answer: str
    item: str = ""
    patient: str = ""
    image: str | tuple[str, ...] = ()
    options: str | tuple[str, ...] = ()
    kind: str = ""

    @property
    def images(self) -> tuple[str, ...]:
        """The columns with images."""
        return _several(self.image)

    @property
    def choices(self) -> tuple[str, ...]:
        """The columns with options."""
        return _several(self.options)


@dataclass(frozen=True)
class Answer:
    """How answers are judged.

    ``tolerance`` and ``relative`` are the allowed error of a number, in its own unit
    and as a fraction of the right one; the larger applies. ``first_option`` is the
    number of the first option if answers are option numbers. ``grid`` is that of cells,
    ``within`` the allowed distance of a point in pixels, ``iou`` the intersection over
    union from which a box is found, ``units`` the unit of the table's coordinates.
    """

    kind: AnswerKind
    match: TextMatch = TextMatch.NORMALISED
    tolerance: float = 0.0
    relative: float = 0.0
    first_option: int | None = None
    grid: str = "8"
    within: float = 0.0
    iou: float = 0.5
    units: Units = Units.PIXELS


@dataclass(frozen=True)
class Reported:
    """The columns to tabulate by, and the metrics; by default all there are."""

    groups: tuple[str, ...] = ()
    metrics: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Description:
    """A benchmark's TOML file, validated; ``prompts`` are templates by kind."""

    columns: Columns
    answer: Answer
    data: Data = Data()
    prompts: Mapping[str, str] = field(default_factory=dict)
    report: Reported = Reported()

    @property
    def measured(self) -> tuple[str, ...] | None:
        """Return the named metrics wanted, None for all of a question's kind."""
        wanted = self.report.metrics
        return None if wanted is None else tuple(n for n in wanted if n != ACCURACY)


def description_path(path: Path) -> Path | None:
    """Return the TOML file of a folder, or the named one; None if there is none."""
    found = path / NAME if path.is_dir() else path
    return found if found.suffix.lower() == ".toml" and found.is_file() else None


def read_description(path: Path) -> Description:
    """Return a TOML file's description of a benchmark.

    Raises
    ------
    UnreadableInputError
        It is not TOML.
    WrongUseError
        It names something unknown, lacks a required entry, or has a prompt with a wrong
        placeholder.
    """
    try:
        table = read_toml(bounded_text(path))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UnreadableInputError(
            f"The file '{path.name}' is not valid TOML: {error}.",
            "Correct the line it names.",
        ) from error
    found = made(Description, table, where=path.name)
    _check_answer(found.answer, path.name)
    for name, text in found.prompts.items():
        _check_prompt(name, text)
    for name in found.report.metrics or ():
        _check_metric(name, path.name)
    _check_options(found, path.name)
    return found


def _check_answer(answer: Answer, where: str) -> None:
    grid_of_name(answer.grid)
    for name in ("tolerance", "relative", "within"):
        if not 0 <= getattr(answer, name) < float("inf"):
            raise WrongUseError(
                f"'answer.{name}' in {where} must be 0 or more.", "Correct it."
            )
    if not (isfinite(answer.iou) and 0 < answer.iou <= 1):
        raise WrongUseError(
            f"'answer.iou' in {where} must be above 0 and up to 1.", "Correct it."
        )


def _check_prompt(name: str, text: str) -> None:
    known = {kind.value: kind for kind in AnswerKind}
    if name not in known:
        raise WrongUseError(
            f"There is no prompt named '{name}'.",
            f"{did_you_mean(name, known)}The prompts are {', '.join(known)}.",
        )
    groups = tuple((place,) for place in REQUIRED[known[name]])
    check_placeholders(name, text, groups, OPTIONAL[known[name]])


def _check_metric(name: str, where: str) -> None:
    known = (ACCURACY, *dict.fromkeys(one for of in MEASURED.values() for one in of))
    if name not in known:
        raise WrongUseError(
            f"'report.metrics' in {where} names '{name}', which is not a metric.",
            f"{did_you_mean(name, known)}The metrics are {', '.join(known)}.",
        )


def _check_options(found: Description, where: str) -> None:
    asks_for_one = found.answer.kind is AnswerKind.CHOICE and not found.columns.kind
    if asks_for_one and not found.columns.choices:
        raise WrongUseError(
            f"'columns.options' is missing in {where}.",
            "A choice needs its options: name one column for each, or one that lists "
            "them.",
        )


def _several(named: str | tuple[str, ...]) -> tuple[str, ...]:
    columns = (named,) if isinstance(named, str) else named
    return tuple(one for one in columns if one)
