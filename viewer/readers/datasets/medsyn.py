"""Cases with several pieces of evidence, one folder with a case.json each (E004-26).

A folder with a report.json or report.txt instead is a report to make a case from
(:mod:`viewer.readers.datasets.medsyn_report`).

See :mod:`viewer.readers.datasets.medsyn_case` for case.json. An unusable case is
reported and becomes no item; a case with a missing image is kept and excluded by the
plan. Beside the folders there may be physicians' answers in physicians.csv or
physicians.json, human scores of judged answers in judge_labels.csv, and readers'
validations of the cases in validations.csv.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from viewer.domain.case import Dataset, DatasetImage, Notice, View
from viewer.domain.case_validation import VALIDATIONS
from viewer.domain.counting import counted
from viewer.domain.errors import UnreadableInputError
from viewer.domain.evidence import EvidenceCase
from viewer.domain.item import Item
from viewer.readers.datasets.annotated import Annotated, Collection, assembled
from viewer.readers.datasets.case_validations import read_case_validations
from viewer.readers.datasets.files import Progress, content_sha256, files_below
from viewer.readers.datasets.folder_layout import IMAGE_SUFFIXES
from viewer.readers.datasets.judge_labels import read_judge_labels
from viewer.readers.datasets.medsyn_case import (
    FILE,
    file_of,
    has_evidence,
    patient_of,
    read_case,
)
from viewer.readers.datasets.medsyn_report import (
    REPORT_FILES,
    lacks_sections,
    read_report,
)
from viewer.readers.datasets.physician_answers import read_physician_answers

FORMAT: Final = "medsyn"
PHYSICIANS: Final = ("physicians.csv", "physicians.json")
"""Files of physicians' answers, which may lie beside the cases' folders."""
JUDGE_LABELS: Final = "judge_labels.csv"
"""The file of people's scores of answers, which may lie there too."""
VALIDATED: Final = "validations.csv"
"""The file of what readers found of the cases."""
_OF_TABLES: Final = frozenset({"unknown_patient", "not_in_tables"})
"""Notices about images that mean nothing here: a case has its patient, and a report's
images wait for the case that is made of it."""
_HOW: Final = "Put a folder for each case there, with its images and a case.json."


@dataclass(frozen=True)
class _Found:
    """A case or a report, its folder, and the files of its images."""

    item: Item
    folder: str
    entries: tuple[Annotated, ...] = ()


def looks(path: Path) -> bool:
    """Tell whether subfolders contain cases with evidence, or reports."""
    if not path.is_dir():
        return False
    below = [p for n in ("*", "*/*") for p in path.glob(f"{n}/*.json")]
    cases = (has_evidence(p) for p in below if p.name == FILE)
    return any(p.name in REPORT_FILES for p in below) or any(cases)


def read(
    root: Path, name: str, view: View | None = None, progress: Progress | None = None
) -> Dataset:
    """Read every case.json and report below a folder, with the images named.

    Parameters
    ----------
    root : Path
        The folder with one subfolder per case.
    name : str
        The name the data set is registered under.
    view : View, optional
        The view of images that do not say it; ``other`` by default.
    progress : callable, optional
        Called with the number of image files read so far.

    Raises
    ------
    UnreadableInputError
        There is neither, or none is usable; the message is the first one's problem.
    """
    cases, notices = _cases(root)
    entries = [entry for found in cases for entry in found.entries]
    collection = Collection(name, FORMAT, root, view or View.OTHER)
    dataset = assembled(collection, entries, notices, progress)
    patients = {entry.key: f.item.patient for f in cases for entry in f.entries}
    images = tuple(_of_patient(image, patients) for image in dataset.images)
    items = _validated(root, [found.item for found in cases])
    items = _labelled(root, _answered(root, items))
    others = (n for n in dataset.notices if n.kind not in _OF_TABLES)
    return replace(
        dataset,
        images=images,
        items=items,
        notices=(*others, *_unnamed(root, cases)),
        root_sha256=content_sha256(images, items),
    )


def _cases(root: Path) -> tuple[list[_Found], list[Notice]]:
    names = {FILE, *REPORT_FILES}
    paths = [path for path in files_below(root) if path.name in names]
    if not paths:
        raise UnreadableInputError(
            f"There is no {FILE} and no {REPORT_FILES[0]} below '{root.name}'.", _HOW
        )
    found: list[_Found] = []
    problems: list[tuple[str, UnreadableInputError]] = []
    for path in paths:
        folder = path.parent.relative_to(root).as_posix()
        try:
            found.append(_found(path, folder))
        except UnreadableInputError as error:
            problems.append((folder, error))
    problems += _twice(found)
    if not found:
        raise problems[0][1]
    notices = [Notice("case_refused", f, str(error)) for f, error in problems]
    return found, [*notices, *_without_sections(paths), *_unfinished(root, paths)]


def _without_sections(paths: Sequence[Path]) -> Iterator[Notice]:
    for path in paths:
        if path.name == REPORT_FILES[1] and lacks_sections(path):
            name = path.parent.name
            text = (
                f"The report '{name}' has no sections such as Background:, Captions: "
                "and Diagnosis:, so all of it is taken as background."
            )
            yield Notice("report_without_sections", name, text)


def _unfinished(root: Path, paths: Sequence[Path]) -> Iterator[Notice]:
    """Yield a notice for each folder of images that has no case or report yet."""
    known = {path.relative_to(root).parts[0] for path in paths}
    for folder in sorted(one for one in root.iterdir() if one.is_dir()):
        if folder.name not in known and any(map(_is_image, folder.iterdir())):
            text = (
                f"The folder '{folder.name}' has images, but neither a {FILE} nor a "
                "report yet, so that it is not used."
            )
            yield Notice("case_unfinished", folder.name, text)


def _unnamed(root: Path, cases: Sequence[_Found]) -> Iterator[Notice]:
    """Yield a notice for each case with images in its folder that it does not name."""
    for one in cases:
        named = {root / entry.file for entry in one.entries}
        images = filter(_is_image, (root / one.folder).iterdir()) if named else ()
        if n := len({*images} - named):
            text = f"{counted(n, 'image')} of its folder not named in {FILE}: not used."
            yield Notice("not_named_in_case", one.item.key, text)


def _is_image(path: Path) -> bool:
    return path.name.lower().endswith(IMAGE_SUFFIXES)


def _found(path: Path, folder: str) -> _Found:
    if path.name in REPORT_FILES:
        return _Found(read_report(path), folder)
    case = read_case(path)
    entries = tuple(
        Annotated(image, f"{folder}/{file_of(case, image)}") for image in case.images
    )
    return _Found(case.item(patient_of(path)), folder, entries)


def _twice(found: list[_Found]) -> Sequence[tuple[str, UnreadableInputError]]:
    """Remove every case whose name is not unique; return the problems."""
    names = Counter(one.item.key for one in found)
    double = [one for one in found if names[one.item.key] > 1]
    found[:] = [one for one in found if names[one.item.key] == 1]
    return [
        (
            one.folder,
            UnreadableInputError(
                f"Another case is also called '{one.item.key}'.",
                "Give each case an id of its own.",
            ),
        )
        for one in double
    ]


def _validated(root: Path, items: Sequence[Item]) -> tuple[Item, ...]:
    """Return items with readers' validations, if there is a file of them."""
    if not (root / VALIDATED).is_file():
        return tuple(items)
    cases = [EvidenceCase.of_item(item) for item in items if "options" in item.facts]
    found: dict[str, list[object]] = {}
    for one in read_case_validations(root / VALIDATED, cases):
        found.setdefault(one.case, []).append(one.as_json())
    return tuple(
        replace(item, reference={**item.reference, VALIDATIONS: found[item.key]})
        if item.key in found
        else item
        for item in items
    )


def _answered(root: Path, items: Sequence[Item]) -> tuple[Item, ...]:
    """Return items with physicians' answers, if there is a file of them."""
    files = [root / name for name in PHYSICIANS if (root / name).is_file()]
    if not files:
        return tuple(items)
    if len(files) > 1:
        raise UnreadableInputError(
            f"Both {' and '.join(PHYSICIANS)} are next to the cases, and it is not "
            "clear which is newer.",
            "Put all answers into one of them, and remove the other.",
        )
    cases = [EvidenceCase.of_item(item) for item in items if "options" in item.facts]
    answers: dict[str, list[object]] = {}
    for one in read_physician_answers(files[0], cases).answers:
        listed = [one.reader, list(one.differential), one.option, one.flagged]
        answers.setdefault(one.case, []).append([*listed, one.explanation])
    return tuple(
        replace(item, reference={**item.reference, "physicians": answers[item.key]})
        if item.key in answers
        else item
        for item in items
    )


def _labelled(root: Path, items: Sequence[Item]) -> tuple[Item, ...]:
    """Return items with human scores of answers, if there is a file of them."""
    if not (root / JUDGE_LABELS).is_file():
        return tuple(items)
    labels: dict[str, list[object]] = {}
    known = {item.key for item in items}
    for case, *label in read_judge_labels(root / JUDGE_LABELS, known):
        labels.setdefault(case, []).append(label)
    return tuple(
        replace(item, reference={**item.reference, "judge_labels": labels[item.key]})
        if item.key in labels
        else item
        for item in items
    )


def _of_patient(image: DatasetImage, patients: dict[str, str]) -> DatasetImage:
    patient = patients[image.key]
    return replace(image, patient=patient, study=patient)
