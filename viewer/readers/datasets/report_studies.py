"""A folder of studies with reports: a case.json for each, or one studies.csv.

``case.json`` of a study: ``{"id", "patient", "date", "indication", "findings",
"images": [{"file", "view"}], "prior": {"date", "images": […]}, "tasks": […]}``; files
lie beside it, ``id`` defaults to the folder's name, ``prior`` is left out if there is
none, or is the id of another study. ``studies.csv`` has a row for each image:
``study``, ``file``, ``view``, and where known ``patient``, ``date``, ``prior`` (yes for
an image of the study before), ``prior_date``, ``indication``, ``findings``.

``tasks.json`` in the same folder has the selected tasks (task_selection.py).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from viewer.domain.case import Dataset, Notice, View
from viewer.domain.documents import read_json
from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.domain.plain import made
from viewer.domain.report_study import ReportStudy, StudyImage
from viewer.domain.task_selection import SelectedTask, task_of_json
from viewer.readers.datasets.annotated import Collection
from viewer.readers.datasets.csv_tables import CsvRow, header_of, rows_of
from viewer.readers.datasets.files import Progress, files_below
from viewer.readers.datasets.selected_tasks import HOW, text_of, with_tasks
from viewer.readers.datasets.study_images import (
    dataset_of_studies,
    days_between,
    view_name,
)

CASE: Final = "case.json"
TABLE: Final = "studies.csv"
COLUMNS: Final = ("study", "file", "view")
_YES: Final = frozenset({"yes", "true", "1", "y"})


@dataclass(frozen=True)
class Found:
    """Studies with their images' files below the root, and problems."""

    studies: tuple[ReportStudy, ...]
    files: Mapping[str, str]
    notices: tuple[Notice, ...]


def looks(path: Path) -> bool:
    """Tell whether a folder contains such studies."""
    if not path.is_dir():
        return False
    table = path / TABLE
    if table.is_file():
        return set(COLUMNS) <= set(header_of(table))
    first = next(iter(_case_files(path)), None)
    return first is not None and "images" in _members(first)


def read(
    root: Path, name: str, view: View | None = None, progress: Progress | None = None
) -> Dataset:
    """Read the studies of a folder.

    Raises
    ------
    UnreadableInputError
        There are none, or the table or the tasks cannot be read at all.
    """
    table = root / TABLE
    found = _of_table(table) if table.is_file() else _of_cases(root)
    if not found.studies:
        raise UnreadableInputError(
            f"There is no study below '{root.name}'.",
            f"Give each study a {CASE}, or all of them one {TABLE}.",
        )
    studies, lonely = with_tasks(root, found.studies)
    collection = Collection(name, "report-studies", root, view or View.UNKNOWN)
    notices = (*found.notices, *lonely)
    return dataset_of_studies(collection, studies, found.files, notices, progress)


def _case_files(root: Path) -> Iterator[Path]:
    return (path for path in files_below(root) if path.name == CASE)


def _of_cases(root: Path) -> Found:
    studies: dict[str, ReportStudy] = {}
    files: dict[str, str] = {}
    notices: list[Notice] = []
    earlier: dict[str, str] = {}
    for path in _case_files(root):
        folder = path.parent.relative_to(root).as_posix()
        try:
            study, images, before = _study_of(path, folder)
        except UnreadableInputError as error:
            notices.append(Notice("case_unreadable", folder, error.what))
            continue
        if study.key in studies:
            text = "Another study already has its id; it is not imported."
            notices.append(Notice("study_twice", study.key, text))
            continue
        studies[study.key] = study
        files |= images
        earlier |= {study.key: before} if before else {}
    notices += _link(studies, earlier)
    return Found(tuple(studies.values()), files, tuple(notices))


def _link(
    studies: dict[str, ReportStudy], earlier: Mapping[str, str]
) -> Iterator[Notice]:
    """Give a study whose prior is another study that study's images."""
    for key, name in earlier.items():
        prior, study = studies.get(name), studies[key]
        if prior is None:
            yield Notice(
                "prior_missing", key, f"Its prior '{name}' is not one of the studies."
            )
            continue
        images = [replace(i, prior=True) for i in prior.images if not i.prior]
        studies[key] = replace(
            study,
            images=(*study.images, *images),
            prior_days=days_between(study.date, prior.date),
        )


def _study_of(path: Path, folder: str) -> tuple[ReportStudy, dict[str, str], str]:
    """Return a study, its images' files, and the id of its prior, "" for none."""
    members = _members(path)
    key = str(members.get("id") or path.parent.name)
    images = _images(path, members.get("images"), prior=False)
    prior = members.get("prior")
    before: list[StudyImage] = []
    if isinstance(prior, dict):
        before = _images(path, prior.get("images"), prior=True)
    listed = [*images, *before]
    names = _names(key, [image.key for image in listed])
    if len(names) < len(listed):
        raise _bad(path, "lists the same image twice")
    day = str(members.get("date", ""))
    old = str(prior.get("date", "")) if isinstance(prior, dict) else ""
    study = ReportStudy(
        key,
        str(members.get("patient") or key),
        tuple(replace(image, key=names[image.key]) for image in listed),
        str(members.get("indication", "")).strip(),
        str(members.get("findings", "")).strip(),
        day,
        days_between(day, old),
        tuple(_inline(path, key, members.get("tasks") or [])),
    )
    files = {name: (Path(folder) / file).as_posix() for file, name in names.items()}
    return study, files, prior if isinstance(prior, str) else ""


def _names(study: str, files: Sequence[str]) -> dict[str, str]:
    """Return the key of each file's image: its stem, or its path if not unique."""
    used = Counter(Path(file).stem for file in dict.fromkeys(files))
    return {
        file: f"{study}/{Path(file).stem if used[Path(file).stem] == 1 else file}"
        for file in files
    }


def _images(path: Path, listed: object, *, prior: bool) -> list[StudyImage]:
    """Return the images of a list, keyed by file name for now."""
    if not isinstance(listed, list) or not listed:
        raise _bad(path, "lists no images")
    images: list[StudyImage] = []
    for entry in listed:
        if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
            raise _bad(path, "lists an image whose file is missing")
        view = view_name(str(entry.get("view", "")))
        images.append(StudyImage(entry["file"], view, prior))
    return images


def _inline(path: Path, key: str, listed: object) -> Iterator[SelectedTask]:
    if not isinstance(listed, list):
        raise _bad(path, "has tasks that are not a list")
    ids: set[str] = set()
    where = f"a task of '{path.name}'"
    for entry in listed:
        try:
            entries = made(dict[str, Any], entry, where=where)
            task = task_of_json({**entries, "item": key}, where)
        except ValueError as error:
            raise _bad(path, f"has a task that is {error}") from error
        except WrongUseError as error:
            raise UnreadableInputError(error.what, error.how) from error
        if task.id in ids:
            raise _bad(path, f"has the task '{task.id}' twice")
        ids.add(task.id)
        yield task


def _members(path: Path) -> Mapping[str, object]:
    try:
        document = read_json(text_of(path))
    except ValueError as error:
        raise _bad(path, "is not JSON") from error
    if not isinstance(document, dict):
        raise _bad(path, "is not an object")
    return document


def _bad(path: Path, what: str) -> UnreadableInputError:
    return UnreadableInputError(f"'{path.name}' {what}.", HOW)


def _of_table(table: Path) -> Found:
    rows: dict[str, list[CsvRow]] = {}
    notices: list[Notice] = []
    for row in rows_of(table):
        study, file = (row.cells.get(column, "") for column in COLUMNS[:2])
        before = rows.get(study, ())
        why = "names no study or no file" if not (study and file) else ""
        if any(one.cells["file"] == file for one in before):
            why = "repeats a file of its study"
        if why:
            text = f"Line {row.line} {why} and is not used."
            notices.append(Notice("odd_row", table.name, text))
        else:
            rows.setdefault(study, []).append(row)
    files: dict[str, str] = {}
    studies = []
    for key, of in rows.items():
        names = _names(key, [row.cells["file"] for row in of])
        files |= {name: file for file, name in names.items()}
        studies.append(_of_rows(key, of, names))
    return Found(tuple(studies), files, tuple(notices))


def _of_rows(key: str, rows: Sequence[CsvRow], names: Mapping[str, str]) -> ReportStudy:
    day, old = _first(rows, "date"), _first(rows, "prior_date")
    images = [
        StudyImage(
            names[row.cells["file"]],
            view_name(row.cells.get("view", "")),
            _is_prior(row),
        )
        for row in rows
    ]
    return ReportStudy(
        key,
        _first(rows, "patient") or key,
        tuple(sorted(images, key=lambda image: image.prior)),
        _first(rows, "indication"),
        _first(rows, "findings"),
        day,
        days_between(day, old),
    )


def _is_prior(row: CsvRow) -> bool:
    return row.cells.get("prior", "").casefold() in _YES


def _first(rows: Sequence[CsvRow], column: str) -> str:
    return next((row.cells[column] for row in rows if row.cells.get(column)), "")
