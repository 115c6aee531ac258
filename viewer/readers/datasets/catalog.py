"""The data-set formats that can be imported."""

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

from viewer.domain.case import Dataset, Notice, View
from viewer.domain.errors import WrongUseError
from viewer.domain.plugins import (
    Broken,
    PluginError,
    Plugins,
    check_name,
    load_plugins,
)
from viewer.readers.datasets import (
    captioned_tiles,
    chexlocalize,
    coco,
    csv_boxes,
    folder,
    heal,
    labelled_tiles,
    medsyn,
    mimic_cxr,
    nih_chestxray14,
    pathmmu,
    question_set,
    report_studies,
    rsna,
    siim,
    vindr,
    vlmevalkit,
    yolo,
)
from viewer.readers.datasets.anatomy import with_anatomy
from viewer.readers.datasets.files import Progress, each_folder_listed_once
from viewer.readers.datasets.names import with_storable_names
from viewer.readers.datasets.run_order import Order
from viewer.readers.datasets.run_pairs import Runs
from viewer.readers.datasets.table_beside import with_table
from viewer.readers.datasets.yolo import with_boxes

ENTRY_POINTS = "viewer.readers"
"""Where other distributions offer formats: each entry point a DatasetFormat."""


@dataclass(frozen=True)
class DatasetFormat:
    """An entry of the catalogue of data-set formats.

    ``read(root, name, view, progress)`` returns the data set; missing or contradictory
    data become its notices, and it raises only if a folder is not of this format.
    ``looks(root)`` tells whether a folder or file is of it; None if only a person can
    say. ``title`` is its display name, "" for ``name``.
    """

    name: str
    summary: str
    read: Callable[[Path, str, View | None, Progress | None], Dataset]
    looks: Callable[[Path], bool] | None = None
    title: str = ""


FORMATS: Mapping[str, DatasetFormat] = {
    fmt.name: fmt
    for fmt in (
        DatasetFormat(
            question_set.FORMAT,
            "A benchmark: questions and images in a table, described by a TOML file",
            question_set.read,
            question_set.looks,
            title="Question set",
        ),
        DatasetFormat(
            "chexlocalize",
            "Chest radiographs with gt_segmentations or gt_annotations in JSON",
            chexlocalize.read,
            chexlocalize.looks,
            title="CheXlocalize",
        ),
        DatasetFormat(
            "coco",
            "Boxes, outlines and masks in COCO's JSON",
            coco.read,
            coco.looks,
            title="COCO JSON",
        ),
        DatasetFormat(
            "vindr",
            "VinDr-CXR: boxes of several readers in CSV",
            vindr.read,
            vindr.looks,
            title="VinDr-CXR CSV",
        ),
        DatasetFormat(
            "rsna",
            "RSNA pneumonia challenge: boxes in CSV",
            rsna.read,
            rsna.looks,
            title="RSNA pneumonia CSV",
        ),
        DatasetFormat(
            "siim",
            "SIIM-ACR pneumothorax: run-length codes in CSV, convention detected",
            siim.reader_of(None),
            siim.looks,
            title="SIIM-ACR pneumothorax CSV",
        ),
        DatasetFormat(
            "siim-relative",
            "The same, runs counted from the end of the previous run",
            siim.reader_of(Runs.RELATIVE),
            title="SIIM-ACR, relative runs",
        ),
        DatasetFormat(
            "siim-absolute",
            "The same, runs counted from the first pixel, which is 1",
            siim.reader_of(Runs.ABSOLUTE),
            title="SIIM-ACR, absolute runs",
        ),
        DatasetFormat(
            nih_chestxray14.FORMAT,
            "NIH ChestX-ray14: labels and boxes in CSV, as downloaded",
            nih_chestxray14.read,
            nih_chestxray14.looks,
            title="NIH ChestX-ray14",
        ),
        DatasetFormat(
            "pathmmu",
            "PathMMU: multiple-choice questions in data.json",
            pathmmu.read,
            pathmmu.looks,
            title="PathMMU",
        ),
        DatasetFormat(
            "vlmevalkit",
            "Multiple-choice questions in a TSV with embedded images",
            vlmevalkit.read,
            vlmevalkit.looks,
            title="VLMEvalKit table",
        ),
        DatasetFormat(
            "labelled-tiles",
            "Tiles in folders named after their label, asked as multiple choice",
            labelled_tiles.read,
            title="Labelled tiles",
        ),
        DatasetFormat(
            "captioned-tiles",
            "Pathology images with captions in a CSV, to make questions from",
            captioned_tiles.read,
            captioned_tiles.looks,
            title="Captioned tiles",
        ),
        DatasetFormat(
            "medsyn",
            "Cases with several pieces of evidence: a folder with a case.json for each",
            medsyn.read,
            medsyn.looks,
            title="MEDSYN cases",
        ),
        DatasetFormat(
            "heal",
            "HEAL-MedVQA: questions and anatomy masks in rows, run order detected",
            heal.reader_of(None),
            heal.looks,
            title="HEAL-MedVQA",
        ),
        DatasetFormat(
            "heal-columns",
            "The same, runs of masks down the columns",
            heal.reader_of(Order.COLUMNS),
            title="HEAL-MedVQA, runs down columns",
        ),
        DatasetFormat(
            "heal-rows",
            "The same, runs of masks along the rows",
            heal.reader_of(Order.ROWS),
            title="HEAL-MedVQA, runs along rows",
        ),
        DatasetFormat(
            "report-studies",
            "Studies with views, prior, indication and findings: case.json or CSV",
            report_studies.read,
            report_studies.looks,
            title="Report studies",
        ),
        DatasetFormat(
            "mimic-cxr",
            "MIMIC-CXR-JPG: metadata, splits, reports by section, priors by date",
            mimic_cxr.read,
            mimic_cxr.looks,
            title="MIMIC-CXR-JPG",
        ),
        DatasetFormat(
            "csv-boxes",
            "Boxes in a CSV: image, finding, x1, y1, x2, y2 (or sizes), reader",
            csv_boxes.read,
            csv_boxes.looks,
            title="CSV of boxes",
        ),
        DatasetFormat(
            yolo.FORMAT,
            "YOLO's boxes: images, labels in text files, and names of classes",
            yolo.read,
            yolo.looks,
            title="YOLO labels",
        ),
        DatasetFormat(
            "folder",
            "Images of any kind; NAME.<finding>.png next to one is its mask",
            folder.read,
            Path.is_dir,
            title="Folder of images and masks",
        ),
    )
}


_OWN_ANATOMY: Final = frozenset({"chexlocalize", "heal", "heal-columns", "heal-rows"})
"""Formats that say themselves where the masks of anatomies are."""


def read_dataset(
    format: str,  # noqa: A002 - the word of the command line
    root: Path,
    name: str,
    view: View | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Read a data set of a named format; WrongUseError if the format is unknown."""
    dataset = _format_named(format).read(root, name, view, progress)
    if format == "folder":
        dataset = with_table(dataset)
    if format not in _OWN_ANATOMY:
        dataset = with_anatomy(with_boxes(dataset), progress)
    noticed = (*dataset.notices, *notices_of_whole(dataset))
    return with_storable_names(replace(dataset, notices=noticed))


def formats_of(root: Path) -> tuple[str, ...]:
    """Return the formats that a folder or file looks like, most specific first.

    A plain folder is the last resort: any folder is one.
    """
    if not root.exists():
        return ()
    with each_folder_listed_once():
        looks = [fmt for fmt in formats().values() if fmt.looks and fmt.looks(root)]
    return tuple(fmt.name for fmt in looks)


def formats() -> Mapping[str, DatasetFormat]:
    """Return every format, including those of other packages."""
    others = {name: one.value for name, one in _others().working.items()}
    return {**FORMATS, **others}


def broken_formats() -> tuple[Broken, ...]:
    """Return the formats of other packages that cannot be used."""
    return _others().broken


def _format_named(name: str) -> DatasetFormat:
    known = formats()
    if name not in known:
        raise WrongUseError(
            f"There is no data-set format '{name}'.",
            f"Choose one of: {', '.join(sorted(known))}.",
        )
    return known[name]


@functools.cache
def _others() -> Plugins[DatasetFormat]:
    return load_plugins(entry_points(group=ENTRY_POINTS), "data-set format", _checked)


def _checked(name: str, found: object) -> DatasetFormat:
    """Return another package's format, or raise why it is invalid."""
    if not isinstance(found, DatasetFormat):
        raise PluginError("is not a DatasetFormat: update or uninstall the package.")
    check_name(name, found.name, FORMATS)
    return found


def notices_of_whole(dataset: Dataset) -> Iterator[Notice]:
    """Yield a notice if there is a single patient, and for findings without a positive.

    Findings that another notice already reports as having none are skipped.
    """
    if len(dataset.images) > 1 and len({i.patient for i in dataset.images}) == 1:
        text = (
            "All images are of one patient: no interval over patients can be computed."
        )
        yield Notice("single_patient", dataset.images[0].key, text)
    texts = {n.text for n in dataset.notices if n.kind == "no_positives"}
    empty = {name for image in dataset.images for name in image.zero_masks}
    named = _named(dataset)
    for finding in sorted((named | empty) - _positive(dataset)):
        if not any(f" {finding}," in text for text in texts):
            what = "label" if finding in named else "mask"
            state = "negative" if what == "label" else "empty"
            text = f"No image has {finding}: every {what} of it is {state}."
            yield Notice("no_positives", finding, text)


def _named(dataset: Dataset) -> set[str]:
    return {name for image in dataset.images for name in image.labels}


def _positive(dataset: Dataset) -> set[str]:
    return {
        name
        for image in dataset.images
        for name in (
            *(finding for finding, positive in image.labels.items() if positive),
            *image.masks,
            *image.boxes,
        )
    }
