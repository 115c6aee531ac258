"""Which boxes of findings count: by the readers who drew them, and by the report.

HEAL-MedVQA draws boxes on MIMIC-CXR with a detector and keeps those of findings that
the report of the image names (section 3.2, E002-01).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from viewer.domain.answer import LabelsAnswer
from viewer.domain.box_reference import ANY, MAJORITY, boxes_by_rule, check_rule
from viewer.domain.case import Dataset, DatasetImage, Notice, ReferenceBox
from viewer.domain.counting import counted
from viewer.domain.errors import WrongUseError
from viewer.domain.report_study import is_study, study_of
from viewer.studies.grounded_vqa.parse import read_labels
from viewer.studies.grounded_vqa.vocabulary import FINDINGS, canonical

READER_RULE: Final = "reader_rule"
REPORT_FILTER: Final = "report_filter"


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Whose boxes count, see `viewer.domain.box_reference`, and if reports decide."""

    reader_rule: str = ANY
    report_filter: bool = False


@dataclass(frozen=True)
class Narrowed:
    """A data set with the boxes that count.

    ``drawn`` are how many images have a box of each finding, ``by_readers`` how many
    still have one under the rule of readers, ``in_reports`` how many whose report names
    the finding.
    """

    dataset: Dataset
    drawn: Mapping[str, int]
    by_readers: Mapping[str, int]
    in_reports: Mapping[str, int]


def narrowed(source: Dataset, how: Narrowing) -> Narrowed:
    """Return a data set with the boxes that count, and what each step leaves.

    Images of which nobody knows what is absent, because the reader did not read them or
    they have no report, are left out and noticed.

    Raises
    ------
    WrongUseError
        The reader is unknown, or the data set has no reports.
    """
    check_rule(source, how.reader_rule)
    by_rule = source.images
    notices: list[Notice] = []
    if how.reader_rule != ANY:
        by_rule = tuple(_by_readers(i, how.reader_rule) for i in source.images)
        by_rule, told = _read_by(by_rule, how.reader_rule)
        notices += told
    images = by_rule
    if how.report_filter:
        images, told = _in_reports(by_rule, _reports(source), source.name)
        notices += told
    return Narrowed(
        replace(source, images=images, notices=(*source.notices, *notices)),
        *map(_counts, (source.images, by_rule, images)),
    )


def _counts(images: Iterable[DatasetImage]) -> Mapping[str, int]:
    return Counter(finding for image in images for finding in image.boxes)


def _by_readers(image: DatasetImage, rule: str) -> DatasetImage:
    by = "" if rule == MAJORITY else rule
    found = {
        finding: tuple(
            ReferenceBox(box, by) for box in boxes_by_rule(image, finding, rule)
        )
        for finding in image.boxes
    }
    return replace(image, boxes={name: of for name, of in found.items() if of})


def _read_by(
    images: Iterable[DatasetImage], rule: str
) -> tuple[tuple[DatasetImage, ...], list[Notice]]:
    """Return the images that the reader read, where the rule names one."""
    chosen: list[DatasetImage] = []
    lost: list[str] = []
    for image in images:
        if rule == MAJORITY or rule in image.readers:
            chosen.append(image)
        else:
            lost.append(image.key)
    if not lost:
        return tuple(chosen), []
    text = f"{counted(len(lost), 'image')} not read by {rule}: not asked about."
    return tuple(chosen), [Notice("not_by_reader", lost[0], text)]


def _reports(source: Dataset) -> Mapping[str, str]:
    """Return the findings section of each image's report, "" where it has none."""
    studies = [study_of(item) for item in source.items if is_study(item)]
    return {
        image.key: study.findings
        for study in studies
        for image in study.images
        if not image.prior
    }


def _in_reports(
    images: Iterable[DatasetImage], reports: Mapping[str, str], name: str
) -> tuple[tuple[DatasetImage, ...], list[Notice]]:
    if not reports:
        raise WrongUseError(
            f"'{name}' has no reports to compare its boxes with.",
            f"Import mimic-cxr or report-studies, or leave {REPORT_FILTER} out.",
        )
    every = tuple(images)
    kept = tuple(_named(i, reports[i.key]) for i in every if reports.get(i.key))
    return kept, list(_without_section(every, reports))


def _named(image: DatasetImage, report: str) -> DatasetImage:
    """Return an image with the boxes of the findings that its report affirms."""
    known = tuple(dict.fromkeys((*FINDINGS, *image.boxes)))
    read = read_labels(report, known)
    named = {*read.labels} if isinstance(read, LabelsAnswer) else set()
    boxes = {f: of for f, of in image.boxes.items() if canonical(f, known) in named}
    return replace(image, boxes=boxes)


def _without_section(
    images: Iterable[DatasetImage], reports: Mapping[str, str]
) -> Iterator[Notice]:
    text = "Its report has no findings section, so nothing is asked about it."
    for image in images:
        if not reports.get(image.key):
            yield Notice("report_without_findings", image.key, text)
