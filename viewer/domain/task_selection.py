"""Files of tasks that a radiologist selected, edited or wrote (E001-05).

The file is JSON: every task with the verbatim candidate it came from, and the changes.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import ndiff
from enum import StrEnum
from typing import Any, Final

from viewer.domain.documents import read_json
from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.domain.plain import made, plain


class Category(StrEnum):
    """The category of a task (Banerjee 2025, 3.1)."""

    BROAD = "broad_abnormality_query"
    REASONING = "high_level_diagnostic_reasoning"
    MEASUREMENT = "measurements_and_temporal_comparisons"


class Source(StrEnum):
    """The part of the report a task comes from."""

    INDICATION = "indication"
    FINDINGS = "findings"


class Answerable(StrEnum):
    """Whether a task can be answered from its images (E001-19)."""

    YES = "yes"
    NO = "no"
    TRICK = "trick"
    """It names something that is not so, on purpose."""


class Origin(StrEnum):
    """Who wrote a task."""

    SELECTED = "selected"
    EDITED = "edited"
    WRITTEN = "written"


TAGS: Final = (
    "tag_anatomical_region",
    "tag_pathology_type",
    "tag_imaging_finding",
    "tag_laterality",
    "tag_diagnostic_intent",
    "tag_temporal_context",
    "tag_question_type",
    "tag_subtype",
)
"""The dimensions, all of which every task has."""
NO_TAG: Final = "None"
"""What stands for no value of a dimension."""


@dataclass(frozen=True)
class SelectedTask:
    """A task of the benchmark.

    ``item`` is its study, ``id`` is unique among the study's tasks. ``candidate`` is
    the text that a model proposed, "" for a task that a person wrote; ``rescored`` is
    the radiologist's sum score, None if it was not scored again.
    """

    item: str
    id: str
    task: str
    category: Category
    source: Source | None = None
    candidate: str = ""
    rescored: int | None = None
    tags: Mapping[str, tuple[str, ...]] | None = None
    temporal: bool = False
    answerable: Answerable = Answerable.YES

    @property
    def origin(self) -> Origin:
        """Whether the task was selected unchanged, edited, or written by a person."""
        if not self.candidate:
            return Origin.WRITTEN
        return Origin.SELECTED if self.task == self.candidate else Origin.EDITED

    @property
    def diff(self) -> tuple[str, ...]:
        """The changes, word for word: ``- old`` and ``+ new``; empty for none."""
        if self.origin is not Origin.EDITED:
            return ()
        return changed_words(self.candidate, self.task)


def changed_words(before: str, after: str) -> tuple[str, ...]:
    """Return the word-level diff of two texts, as ``- old`` and ``+ new``."""
    lines = ndiff(before.split(), after.split())
    return tuple(line for line in lines if line[0] in "+-")


FORMAT: Final = "overread rubric tasks"


def selection_as_json(tasks: Sequence[SelectedTask]) -> bytes:
    """Return the file's text, which :func:`selection_of_json` reads back."""
    document = {"format": FORMAT, "tasks": [task_as_json(task) for task in tasks]}
    return json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"


def selection_of_json(text: str, name: str) -> tuple[SelectedTask, ...]:
    """Parse a file of selected tasks, called ``name`` in errors.

    Raises
    ------
    UnreadableInputError
        If the file has another format, a task has no text, an id occurs twice, or
        recorded changes do not match the candidate and the text.
    """
    try:
        document = read_json(text)
    except ValueError as error:
        raise _bad(name, "is not JSON") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise _bad(name, f"has no format '{FORMAT}'")
    entries = document.get("tasks")
    if not isinstance(entries, list):
        raise _bad(name, "has no list of tasks")
    tasks = tuple(_task(name, n, entry) for n, entry in enumerate(entries, 1))
    ids = [(task.item, task.id) for task in tasks]
    for one in ids:
        if ids.count(one) > 1:
            raise _bad(name, f"has the task '{one[1]}' of '{one[0]}' twice")
    return tasks


def task_as_json(task: SelectedTask) -> dict[str, Any]:
    """Return a task as plain JSON values, which :func:`task_of_json` reads back."""
    return {**plain(task), "origin": str(task.origin), "diff": list(task.diff)}


def _task(name: str, number: int, entry: object) -> SelectedTask:
    try:
        return task_of_json(entry, f"task {number} of '{name}'")
    except ValueError as error:
        raise _bad(name, f"has a task, number {number}, that is {error}") from error
    except WrongUseError as error:
        raise UnreadableInputError(error.what, error.how) from error


def task_of_json(entry: object, where: str = "the task") -> SelectedTask:
    """Parse a task, called ``where`` in errors.

    Invalid tasks raise WrongUseError or ValueError.
    """
    entries = made(dict[str, Any], entry, where=where)
    differences = made(list[str], entries.pop("diff", []), where=where)
    entries.pop("origin", None)
    task = made(SelectedTask, entries, where=where)
    for name in ("item", "id", "task"):
        if not entries[name].strip():
            raise ValueError(f"without {name}")
    if task.rescored is not None and not 4 <= task.rescored <= 20:
        raise ValueError("scored again with a sum outside 4 to 20")
    if task.tags is not None and set(task.tags) != set(TAGS):
        raise ValueError("without all eight tags")
    if (differences or list(task.diff)) != list(task.diff):
        raise ValueError("different from its candidate with the changes noted")
    return task


def _bad(name: str, what: str) -> UnreadableInputError:
    return UnreadableInputError(
        f"The selection '{name}' {what}.", "Write it again, or correct that entry."
    )
