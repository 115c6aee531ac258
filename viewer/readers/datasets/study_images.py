"""From studies with reports to a data set of images and items (E001-01)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from viewer.domain.case import Dataset, DatasetImage, Notice, View
from viewer.domain.geometry import SizePx
from viewer.domain.report_study import ReportStudy
from viewer.readers.datasets.annotated import Annotated, Collection, assembled
from viewer.readers.datasets.files import Progress, content_sha256

_FRONTAL: Final = ("PA", "AP", "FRONTAL")
_LATERAL: Final = {"LL", "RL", "LAT", "LATERAL", "LEFT LATERAL", "RIGHT LATERAL"}
_LEFT_OUT: Final = frozenset({"unknown_patient", "unknown_view"})
"""Notices that a table of studies makes untrue."""


def dataset_of_studies(
    collection: Collection,
    studies: Sequence[ReportStudy],
    files: Mapping[str, str],
    notices: Sequence[Notice],
    progress: Progress | None = None,
) -> Dataset:
    """Return the data set; ``files`` names each image's file below the root.

    Every study is an item, in the order of the keys; patient, study and view of an
    image are those in the studies.
    """
    entries = [Annotated(key=key, file=file) for key, file in files.items()]
    dataset = assembled(collection, entries, notices, progress)
    views = {image.key: image.view for study in studies for image in study.images}
    patients = {i.key: study.patient for study in studies for i in study.images}
    study_of = {i.key: s.key for s in studies for i in s.images if not i.prior}
    images = tuple(
        replace(
            image,
            patient=patients.get(image.key, image.patient),
            study=study_of.get(image.key, image.study),
            view=_view(image, views.get(image.key, "")),
        )
        for image in dataset.images
    )
    sizes = {image.key: image.size for image in images}
    ordered = sorted(studies, key=lambda study: study.key)
    items = tuple(_with_sizes(study, sizes).item() for study in ordered)
    kept = (notice for notice in dataset.notices if notice.kind not in _LEFT_OUT)
    return replace(
        dataset,
        images=images,
        items=items,
        notices=(*kept, *_unknown_views(studies)),
        root_sha256=content_sha256(images, items),
    )


def _with_sizes(study: ReportStudy, sizes: Mapping[str, SizePx]) -> ReportStudy:
    images = (replace(image, size=sizes[image.key]) for image in study.images)
    return replace(study, images=tuple(images))


def view_name(written: str) -> str:
    """Return a view as in items: in capitals, every lateral as ``LATERAL``."""
    name = " ".join(written.upper().replace("_", " ").split())
    return "LATERAL" if name in _LATERAL else name


def day_of(written: str) -> date | None:
    """Return the day of ``2180-05-06`` or ``21800506``, None for anything else."""
    try:
        return date.fromisoformat(written.strip())
    except ValueError:
        return None


def days_between(later: str, earlier: str) -> int | None:
    """Return the number of days between two dates, None if one is missing."""
    one, two = day_of(later), day_of(earlier)
    return None if one is None or two is None else (one - two).days


def _view(image: DatasetImage, written: str) -> View:
    if written in _FRONTAL:
        return View.FRONTAL
    if written == "LATERAL":
        return View.LATERAL
    return image.view


def _unknown_views(studies: Sequence[ReportStudy]) -> Iterator[Notice]:
    for study in studies:
        for image in study.images:
            if not image.view and not image.prior:
                text = f"The view of an image of {study.key} is not stated."
                yield Notice("unknown_view", image.key, text)
