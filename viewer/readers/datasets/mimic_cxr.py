"""MIMIC-CXR-JPG: metadata, splits, and reports by section (Johnson et al. 2019).

``mimic-cxr-2.0.0-metadata.csv`` has a row for each image: ``dicom_id``, ``subject_id``,
``study_id``, ``ViewPosition``, ``StudyDate``; ``mimic-cxr-2.0.0-split.csv`` has its
split. Both may be ``.csv.gz``, as downloaded. Reports are ``p<subject>/s<study>.txt``
anywhere below the folder, images ``<dicom_id>.jpg``. Studies of the test split are
imported (all, without a split file), each with the same subject's previous study as its
prior: dates are shifted by subject, so that their order and distance are preserved.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from viewer.domain.case import Dataset, Notice, View
from viewer.domain.errors import UnreadableInputError
from viewer.domain.report_study import ReportStudy, StudyImage
from viewer.readers.datasets.annotated import Collection
from viewer.readers.datasets.csv_tables import (
    required_tables,
    rows_of,
    tables_below,
)
from viewer.readers.datasets.files import Progress, files_below
from viewer.readers.datasets.image_files import root_of
from viewer.readers.datasets.naming import patient_key
from viewer.readers.datasets.selected_tasks import with_tasks
from viewer.readers.datasets.study_images import (
    dataset_of_studies,
    day_of,
    days_between,
    view_name,
)
from viewer.readers.files.text_files import bounded_text

COLUMNS: Final = ("dicom_id", "subject_id", "study_id", "ViewPosition", "StudyDate")
_SPLIT: Final = ("dicom_id", "study_id", "subject_id", "split")
_WANTED: Final = "test"


@dataclass(frozen=True)
class _Examination:
    """A study of the table: its subject, date and time, and its images."""

    key: str
    subject: str
    when: tuple[str, float]
    images: tuple[StudyImage, ...]


def looks(path: Path) -> bool:
    """Tell whether a folder or file contains such metadata."""
    return bool(tables_below(path, COLUMNS))


def read(
    root: Path, name: str, view: View | None = None, progress: Progress | None = None
) -> Dataset:
    """Read the studies of the test split with their reports and priors.

    Raises
    ------
    UnreadableInputError
        No table has the columns, one cannot be read, or the split has no study.
    """
    folder = root_of(root)
    examinations = _examinations(required_tables(root, COLUMNS))
    wanted, split = _wanted(folder, examinations)
    if not wanted:
        raise UnreadableInputError(
            f"No study of the split '{_WANTED}' is in the metadata.",
            "Put the metadata and the split file of one release in the folder.",
        )
    before = _priors(examinations)
    reports = _reports(folder)
    found = [
        _study(examinations[key], before.get(key), reports.get(key, ""))
        for key in wanted
    ]
    notices = [
        Notice("report_missing", study.key, "Its report is not in the folder.")
        for study in found
        if study.key not in reports
    ]
    studies, lonely = with_tasks(folder, found)
    files = {i.key: i.key for study in studies for i in study.images}
    collection = Collection(name, "mimic-cxr", folder, view or View.UNKNOWN, split)
    return dataset_of_studies(collection, studies, files, [*notices, *lonely], progress)


def _examinations(tables: Sequence[Path]) -> Mapping[str, _Examination]:
    images: dict[str, list[StudyImage]] = defaultdict(list)
    facts: dict[str, tuple[str, tuple[str, float]]] = {}
    for table in tables:
        for row in rows_of(table):
            cells = row.cells
            key = f"s{cells.get('study_id', '')}"
            view = view_name(cells.get("ViewPosition", ""))
            images[key].append(StudyImage(cells.get("dicom_id", ""), view))
            when = cells.get("StudyDate", ""), _seconds(cells.get("StudyTime", ""))
            facts[key] = cells.get("subject_id", ""), when
    return {
        key: _Examination(key, *facts[key], tuple(of)) for key, of in images.items()
    }


def _seconds(written: str) -> float:
    try:
        return float(written)
    except ValueError:
        return 0.0


def _wanted(
    folder: Path, examinations: Mapping[str, _Examination]
) -> tuple[list[str], str]:
    """Return the studies to import in order, and their split."""
    tables = tables_below(folder, _SPLIT)
    if not tables:
        return sorted(examinations), ""
    listed = {
        f"s{row.cells['study_id']}"
        for table in tables
        for row in rows_of(table)
        if row.cells.get("split") == _WANTED
    }
    return sorted(key for key in examinations if key in listed), _WANTED


def _priors(
    examinations: Mapping[str, _Examination],
) -> Mapping[str, _Examination]:
    """Return for each study the latest earlier one of the same subject."""
    dated = [one for one in examinations.values() if day_of(one.when[0])]
    of: dict[str, list[_Examination]] = defaultdict(list)
    for one in dated:
        of[one.subject].append(one)
    found = ((one.key, _latest_before(one, of[one.subject])) for one in dated)
    return {key: prior for key, prior in found if prior is not None}


def _latest_before(
    one: _Examination, others: Sequence[_Examination]
) -> _Examination | None:
    # As text: StudyDate is YYYYMMDD. A study of the same moment is no prior.
    earlier = [other for other in others if other.when < one.when]
    # The key decides between studies of one moment, so that imports are alike.
    return max(earlier, key=lambda other: (other.when, other.key), default=None)


def _reports(folder: Path) -> Mapping[str, str]:
    """Return every report's text by its study."""
    return dict(_texts(folder))


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    for path in files_below(folder):
        if path.suffix == ".txt" and path.stem[:1] == "s" and path.stem[1:].isdecimal():
            yield path.stem, bounded_text(path, errors="replace")


def _study(one: _Examination, prior: _Examination | None, report: str) -> ReportStudy:
    parts = sections(report)
    before = prior.images if prior else ()
    day = day_of(one.when[0])
    return ReportStudy(
        one.key,
        patient_key(one.subject, one.key),
        (*one.images, *(replace(image, prior=True) for image in before)),
        parts.get("indication", ""),
        parts.get("findings", ""),
        day.isoformat() if day else "",
        days_between(one.when[0], prior.when[0]) if prior else None,
    )


_BODY: Final = (
    r"(?i:findings?|impressions?|conclusions?|comparisons?|techniques?|examinations?"
    r"|recommendations?|notifications?|interpretation|report|wet read)"
)
"""What opens another section in whatever case, on a line or after a sentence."""
_HEADING: Final = re.compile(
    r"^[ \t]*(?P<name>[A-Z][A-Z0-9 ,./&()'-]{2,60}?)[ \t]*:"
    rf"|^[ \t]*(?P<line>{_BODY})[ \t]*(?::|$)"
    rf"|(?<=[.;?!])[ \t]+(?P<run_on>{_BODY})[ \t]*:",
    re.MULTILINE,
)
_NAMES: Final[Mapping[str, str]] = {
    "indication": "indication",
    "indications": "indication",
    "clinical indication": "indication",
    "reason for exam": "indication",
    "reason for examination": "indication",
    "reason for the exam": "indication",
    "clinical history": "indication",
    "clinical information": "indication",
    "history": "indication",
    "findings": "findings",
    "finding": "findings",
}
"""What a heading opens, by its words in lower case; other headings end a section."""
_BLANKS: Final = re.compile(r"\s+")
_PARAGRAPH: Final = re.compile(r"\n[ \t]*\n")


def sections(report: str) -> Mapping[str, str]:
    """Return ``indication`` and ``findings`` of a report, each on one line.

    A section runs from its heading, in capitals with a colon, to the next one. Of
    several headings of one kind the first with text counts. An indication also ends at
    the first blank line: many reports continue with findings without a heading.
    """
    marks = list(_HEADING.finditer(report))
    found: dict[str, str] = {}
    ends = [*(mark.start() for mark in marks[1:]), len(report)]
    for mark, end in zip(marks, ends, strict=False):
        name = str(mark[mark.lastgroup or 0])
        kind = _NAMES.get(_BLANKS.sub(" ", name).strip().casefold())
        text = report[mark.end() : end]
        if kind == "indication":
            text = _PARAGRAPH.split(text)[0]
        text = _BLANKS.sub(" ", text).strip()
        if kind and text:
            found.setdefault(kind, text)
    return found
