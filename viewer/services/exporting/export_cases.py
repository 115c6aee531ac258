"""Reports that a run prepared, reviewed field by field, become cases to import.

The review is a table, ``review.csv``, that a person fills in with a spreadsheet or in
the window: what is accepted, edited or rejected makes each case's case.json.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from viewer.domain.counting import counted
from viewer.domain.errors import OverreadError, UnreadableInputError, WrongUseError
from viewer.readers.datasets.csv_tables import CsvRow, header_of, rows_of
from viewer.readers.datasets.folder_layout import IMAGE_SUFFIXES
from viewer.readers.datasets.medsyn_case import FILE, read_case
from viewer.readers.datasets.medsyn_report import report_folders
from viewer.services.reporting.report_run import RunResults, run_results
from viewer.store.cases import dataset_named
from viewer.store.database import Store, open_store
from viewer.store.runs import run_spec, run_summaries
from viewer.studies.evidence_diagnosis.params import PREPARING, Task, read_params
from viewer.studies.evidence_diagnosis.reviewing import (
    IMAGES,
    Decided,
    Decisions,
    PreparedCase,
    PreparedField,
    Verdict,
    case_document,
    prepared_cases,
    undecided,
    with_images,
)
from viewer.writers.files import write_atomically
from viewer.writers.tables import csv_bytes

STUDY: Final = "evidence_diagnosis"
REVIEW: Final = "review.csv"
COLUMNS: Final = (
    *("case", "field", "proposed", "extracted", "in_report"),
    *("verdict", "text", "reader"),
)
"""Those up to ``in_report`` are the program's, the others a person's."""


ReviewedCase = PreparedCase
ReviewedField = PreparedField
"""What the window shows of a case."""


@dataclass(frozen=True)
class Prepared:
    """The reports that a run prepared, and the folder that each lies in."""

    cases: tuple[PreparedCase, ...]
    folders: Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class Mark:
    """A person's decision about a field, with who made it."""

    decided: Decided
    reader: str = ""


Marks = Mapping[tuple[str, str], Mark]
"""Decisions by case and field."""


@dataclass(frozen=True)
class Written:
    """The names of the cases that were written, and a sentence for each that was not.

    ``begun`` is True if there was no review yet, so that its table was written.
    """

    cases: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    begun: bool = False

    @property
    def sentence(self) -> str:
        """How many cases were written."""
        return f"{counted(len(self.cases), 'case')} written."


def prepared_by(store: Store, run: int) -> Prepared:
    """Return what a run prepared of reports.

    Raises
    ------
    WrongUseError
        The run is of another study, or prepared nothing.
    """
    run_of_cases = cases_results(store, run, "which prepares no reports")
    dataset = run_of_cases.context.dataset
    cases = prepared_cases(run_of_cases.results, dataset.items)
    if not cases:
        raise WrongUseError(
            f"Run {run} has prepared no reports.",
            'Run the study with tasks = ["extraction", "summaries", "distractors"].',
        )
    folders = report_folders(dataset.root)
    own = (_with_images(case, folders.get(case.key)) for case in cases)
    return Prepared(tuple(own), folders)


def cases_results(store: Store, run: int, why: str) -> RunResults:
    """Return a run about cases; for one of another study ``why`` says what it lacks."""
    results = run_results(store, run)
    if results.summary.study != STUDY:
        raise WrongUseError(
            f"Run {run} is of the study {results.summary.study}, {why}.",
            f"Choose a run of {STUDY}.",
        )
    return results


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A run that prepared reports, and the folder that is offered for its cases."""

    run: int
    words: str
    folder: Path


def prepared_runs(store: Path) -> tuple[PreparedRun, ...]:
    """Return the runs that prepared reports, the newest first."""
    with open_store(store) as opened:
        runs = run_summaries(opened, include_adhoc=False)
        own = [one for one in runs if one.study == STUDY and _prepares(opened, one.id)]
        roots = {one.dataset: dataset_named(opened, one.dataset).root for one in own}
    return tuple(
        PreparedRun(
            one.id,
            f"Run {one.id}: {one.dataset}, {', '.join(one.models)}",
            roots[one.dataset].with_name(f"{roots[one.dataset].name}-reviewed"),
        )
        for one in reversed(own)
    )


def _prepares(store: Store, run: int) -> bool:
    spec = run_spec(store, run)
    params = read_params(spec.preset, spec.params)
    return bool({Task(task) for task in params.tasks} & PREPARING)


def reviewed(
    store: Path, run: int, out: Path
) -> tuple[Prepared, dict[tuple[str, str], Mark]]:
    """Return what a run prepared, and the decisions saved in a folder so far."""
    with open_store(store) as opened:
        prepared = prepared_by(opened, run)
    table = out / REVIEW
    return prepared, read_review(table, prepared.cases) if table.is_file() else {}


def keep_review(prepared: Prepared, marks: Marks, out: Path) -> None:
    """Save the decisions so far in a folder."""
    write_atomically(out / REVIEW, review_csv(prepared.cases, marks))


def decided_mark(verdict: str, text: str, reader: str) -> Mark:
    """Return a decision; only an edited field has a text of its own."""
    own = text if verdict == Verdict.EDIT else ""
    return Mark(Decided(Verdict(verdict), own), reader)


def _with_images(case: PreparedCase, folder: Path | None) -> PreparedCase:
    """Return a case that proposes the images in its report's folder by their names."""
    names = [] if folder is None else sorted(path.name for path in folder.iterdir())
    images = [name for name in names if name.lower().endswith(IMAGE_SUFFIXES)]
    return with_images(case, images)


def export_cases(store: Store, run: int, out: Path) -> Written:
    """Write a run's review table into a folder, or the cases that it describes.

    Without the table it is written; with it, every case of which each field is decided
    becomes a folder with its case.json and its images.
    """
    prepared = prepared_by(store, run)
    table = out / REVIEW
    if not table.is_file():
        write_atomically(table, review_csv(prepared.cases, {}))
        return Written(begun=True)
    return write_cases(prepared, read_review(table, prepared.cases), out)


def review_csv(cases: Sequence[PreparedCase], marks: Marks) -> bytes:
    """Return a review as CSV, a row for each field of each case, marked or not."""
    rows = (
        _row(case.key, field, marks.get((case.key, field.name)))
        for case in cases
        for field in case.fields
    )
    return csv_bytes(COLUMNS, rows)


def _row(case: str, field: PreparedField, mark: Mark | None) -> tuple[str, ...]:
    within = ("yes" if field.verbatim else "no") if field.extracted else ""
    own = (case, field.name, field.proposed, field.extracted, within)
    if mark is None:
        return (*own, "", "", "")
    return (*own, str(mark.decided.verdict), mark.decided.text, mark.reader)


def read_review(
    path: Path, cases: Sequence[PreparedCase]
) -> dict[tuple[str, str], Mark]:
    """Read the decisions in a review's table.

    Raises
    ------
    UnreadableInputError
        A column is missing, or a row has an unknown case, field or verdict, or is a
        duplicate; the message names its line.
    """
    known = {(case.key, field.name) for case in cases for field in case.fields}
    marks: dict[tuple[str, str], Mark] = {}
    for row in review_rows(path, COLUMNS, ("case", "field", "verdict", "text")):
        place = row.cells.get("case", ""), row.cells.get("field", "")
        if problem := _problem(row, place, known, marks):
            raise wrong_row(path, row, problem)
        verdict = row.cells.get("verdict", "").casefold()
        if verdict:
            decided = Decided(Verdict(verdict), row.cells.get("text", ""))
            marks[place] = Mark(decided, row.cells.get("reader", ""))
    return marks


def review_rows(
    path: Path, columns: Sequence[str], needed: Sequence[str]
) -> Iterator[CsvRow]:
    """Yield the rows of a table that a person filled in; it has ``columns``.

    Raises
    ------
    UnreadableInputError
        One of the columns that are needed is missing.
    """
    header = header_of(path)
    for column in needed:
        if column not in header:
            raise UnreadableInputError(
                f"The table '{path.name}' has no column '{column}'.",
                f"Give it the columns {', '.join(columns)}.",
            )
    yield from rows_of(path)


def wrong_row(path: Path, row: CsvRow, problem: str) -> UnreadableInputError:
    """Return the error about a row of such a table."""
    return UnreadableInputError(
        f"Line {row.line} of '{path.name}' {problem}.",
        "Correct it in the file and run the command again.",
    )


def _problem(
    row: CsvRow,
    place: tuple[str, str],
    known: set[tuple[str, str]],
    marks: Mapping[tuple[str, str], Mark],
) -> str:
    """Return what is wrong with a row, "" if nothing is."""
    verdict, text = (row.cells.get(name, "") for name in ("verdict", "text"))
    if place not in known:
        return f"names the field '{place[1]}' of '{place[0]}', which was not prepared"
    if place in marks:
        return f"decides about the field '{place[1]}' of '{place[0]}' again"
    if verdict and verdict.casefold() not in {*Verdict}:
        return f"has the verdict '{verdict}', not one of {', '.join(Verdict)}"
    if verdict.casefold() == Verdict.EDIT and not text:
        return "says edit, but has no text"
    if text and verdict.casefold() != Verdict.EDIT:
        return "has a text, but does not say edit"
    return ""


def decisions_of(case: PreparedCase, marks: Marks) -> Decisions:
    """Return the decisions about a case, by the field."""
    return {
        field: mark.decided for (key, field), mark in marks.items() if key == case.key
    }


def write_cases(prepared: Prepared, marks: Marks, out: Path) -> Written:
    """Write the cases of which every field is decided, each into its own folder."""
    written: list[str] = []
    problems: list[str] = []
    for case in prepared.cases:
        decided = decisions_of(case, marks)
        if waiting := undecided(case, decided):
            fields = counted(len(case.needed), "field")
            have = "has" if waiting == 1 else "have"
            problems.append(
                f"The case '{case.key}' is not finished: {waiting} of {fields} {have} "
                "no verdict."
            )
            continue
        try:
            _write(case, decided, prepared.folders.get(case.key), out / case.key)
        except UnreadableInputError as error:
            # No case.json exists yet that could be corrected.
            problems.append(f"{error.what} Edit its fields in the review.")
        except OverreadError as error:
            problems.append(str(error))
        else:
            written.append(case.key)
    return Written(tuple(written), tuple(problems))


def _write(
    case: PreparedCase, decided: Decisions, source: Path | None, folder: Path
) -> None:
    """Write a case's folder, or nothing if it could not be imported."""
    document = case_document(case, decided)
    with case_written(document, folder):
        for name in _images_of(document):
            _copy(case.key, name, source, folder)


@contextmanager
def case_written(document: Mapping[str, object], folder: Path) -> Iterator[None]:
    """Write a case's file, which is removed again if the case is not usable.

    Its images are copied inside the ``with`` block.

    Raises
    ------
    UnreadableInputError
        The case could not be imported.
    """
    text = json.dumps(document, indent=1, ensure_ascii=False)
    write_atomically(folder / FILE, text.encode() + b"\n")
    try:
        read_case(folder / FILE)
        yield
    except OverreadError:
        (folder / FILE).unlink()
        if not any(folder.iterdir()):
            folder.rmdir()
        raise


def _images_of(document: Mapping[str, object]) -> Iterator[str]:
    evidence = document["evidence"]
    for one in evidence if isinstance(evidence, list) else ():
        yield from one[IMAGES]


def _copy(case: str, name: str, source: Path | None, folder: Path) -> None:
    """Copy an image from its report's folder, unless it is in the case's already."""
    target = folder / PurePosixPath(name.replace("\\", "/"))
    if target.is_file():
        return
    if source is None or not (source / name).is_file():
        raise WrongUseError(
            f"The case '{case}' names the image '{name}', which is neither in its "
            "report's folder nor in its own.",
            f"Put it into '{folder.name}', or correct {REVIEW}.",
        )
    copy_image(source / name, target)


def copy_image(source: Path, target: Path) -> None:
    """Copy an image to a place whose folders need not exist."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
