"""The selected tasks for the studies of a folder, from its tasks.json."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from viewer.domain.case import Notice
from viewer.domain.errors import UnreadableInputError
from viewer.domain.report_study import ReportStudy
from viewer.domain.task_selection import SelectedTask, selection_of_json
from viewer.readers.files.text_files import bounded_text

TASKS: Final = "tasks.json"
HOW: Final = "Write it as the study's page describes, and import the folder again."


def with_tasks(
    root: Path, studies: Sequence[ReportStudy]
) -> tuple[tuple[ReportStudy, ...], list[Notice]]:
    """Return studies with the tasks that ``tasks.json`` selects for them.

    A task of an unknown study, or with an id that its study already has, is left out
    with a notice.
    """
    path = root / TASKS
    if not path.is_file():
        return tuple(studies), []
    selected = selection_of_json(text_of(path), path.name)
    task_ids = {study.key: {task.id for task in study.tasks} for study in studies}
    of: dict[str, list[SelectedTask]] = {key: [] for key in task_ids}
    notices = []
    for task in selected:
        if task.item not in task_ids:
            text = f"Its task '{task.id}' has no study."
            notices.append(Notice("task_without_study", task.item, text))
        elif task.id in task_ids[task.item]:
            text = f"It has its own task '{task.id}'; the one in {TASKS} is not used."
            notices.append(Notice("task_twice", task.item, text))
        else:
            of[task.item].append(task)
    return tuple(replace(s, tasks=(*s.tasks, *of[s.key])) for s in studies), notices


def text_of(path: Path) -> str:
    """Return a file's text; raises if it is not UTF-8."""
    try:
        return bounded_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableInputError(
            f"'{path.name}' cannot be read as text in UTF-8.", HOW
        ) from error
