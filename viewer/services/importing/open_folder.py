"""A folder that is opened is a data set: registered, and kept as the disk has it."""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final

from viewer.domain.case import Dataset, ImageRef, View
from viewer.domain.counting import counted
from viewer.domain.errors import CancelledError, OverreadError
from viewer.domain.escapes import path_text
from viewer.store.folders import FolderSummary

if TYPE_CHECKING:
    from viewer.store.database import Store

__all__ = [
    "FolderSummary",
    "correct_views",
    "folder_words",
    "register_folder",
    "views_in",
]


_VIEWS: Final = {View.UNKNOWN: "unknown", View.OTHER: "not a radiograph"}
_NAMED: Final = 5
"""So many findings are named; a data set may have hundreds."""


def register_folder(store: Path, folder: Path, stop: Event) -> FolderSummary | None:
    """Register an opened folder under its name, or bring its data set up to date.

    Nothing is read of a folder that has not changed, that belongs to an imported data
    set, or that an import registered. Where runs or readings refer to the content
    before, what is there now becomes a data set of its own, with a number after the
    name. None if there is nothing to compare: a single image without a reference.

    Raises
    ------
    CancelledError
        If ``stop`` is set meanwhile.
    """
    from viewer.store import folders
    from viewer.store.database import open_store

    with open_store(store) as opened:
        known = folders.dataset_of_folder(opened, folder)
        if known is not None and (known.root != folder or known.listing is None):
            return folders.summary_of(opened, known.name)
        listing = _listing(folder)
        if known is not None and known.listing == listing:
            return folders.summary_of(opened, known.name)
        corrected = folders.corrected_views(opened)
    dataset = _with_views(_read(folder, stop), corrected)
    if not _is_worth_registering(dataset):
        return None
    with open_store(store) as opened:
        return _keep(opened, dataset, listing)


def correct_views(
    store: Path, name: str, view: View, refs: Collection[ImageRef] = ()
) -> FolderSummary:
    """Give images of a data set the view that a person says.

    Without ``refs`` it is given to every image of unknown view. Answers already given
    stay with the data set as it was, see `register_folder`.
    """
    from viewer.store import folders
    from viewer.store.cases import dataset_named
    from viewer.store.database import open_store

    with open_store(store) as opened:
        before = dataset_named(opened, name)
        views = {
            image.ref: view
            for image in before.images
            if (image.ref in refs if refs else image.view is View.UNKNOWN)
        }
        folders.correct_views(opened, views)
        known = folders.dataset_of_folder(opened, before.root)
        listing = known.listing if known is not None and known.listing else ""
        return _keep(opened, _with_views(before, views), listing)


def views_in(store: Path, name: str) -> Mapping[Path, View]:
    """Return the view of each file of a data set, as far as it is known."""
    from viewer.store import folders
    from viewer.store.database import open_store

    with open_store(store) as opened:
        views = folders.views_of(opened, name)
    return {ref.path: v for ref, v in views.items() if v is not View.UNKNOWN}


def folder_words(summary: FolderSummary) -> str:
    """Return what a folder holds: images, references, findings and views."""
    parts = [counted(summary.images, "image")]
    if summary.references:
        named, rest = summary.findings[:_NAMED], len(summary.findings[_NAMED:])
        findings = ", ".join((*named, *([f"{rest} more"] if rest else [])))
        parts.append(f"{counted(summary.references, 'reference')} ({findings})")
    else:
        parts.append("no reference")
    views = ", ".join(
        f"{_VIEWS.get(view, view.value)} {n:,}"
        for view, n in sorted(summary.views.items())
    )
    none = summary.views.keys() <= {View.OTHER}
    seen = "" if none else f" · view: {views}"
    return f"{summary.dataset}: {', '.join(parts)}{seen}"


def _keep(store: "Store", dataset: Dataset, listing: str) -> FolderSummary:
    """Register a data set in place of the one of its folder, unless it is the same."""
    from viewer.store import cases, folders

    known = folders.dataset_of_folder(store, dataset.root)
    if known is None or known.root_sha256 != dataset.root_sha256:
        name = folders.free_name(store, dataset.root)
        folders.discard(store, name)
        restricted = True if known is not None and known.restricted else None
        cases.add_dataset(store, replace(dataset, name=name), restricted=restricted)
    else:
        name = known.name
    folders.keep_listing(store, name, listing)
    return folders.summary_of(store, name)


def _with_views(dataset: Dataset, views: Mapping[ImageRef, View]) -> Dataset:
    """Return a data set with the views that a person gave its images."""
    from viewer.readers.datasets.files import content_sha256

    if not any(views.get(i.ref, i.view) is not i.view for i in dataset.images):
        return dataset
    images = tuple(replace(i, view=views.get(i.ref, i.view)) for i in dataset.images)
    sha256 = content_sha256(images, dataset.items)
    return replace(dataset, images=images, root_sha256=sha256)


def _is_worth_registering(dataset: Dataset) -> bool:
    referenced = any(image.masks or image.boxes for image in dataset.images)
    return referenced or len(dataset.images) > 1 or bool(dataset.items)


def _listing(folder: Path) -> str:
    """Return a hash of the names, sizes and times of the files below a folder."""
    from viewer.readers.datasets.files import files_below

    digest = hashlib.sha256()
    for path in files_below(folder):
        stat = path.stat()
        name = path_text(path.relative_to(folder))
        digest.update(f"{name}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _read(folder: Path, stop: Event) -> Dataset:
    """Read a folder in the format it looks like; as images and masks if that fails."""
    from viewer.services.importing.import_preview import formats_found, preview

    *special, plain = formats_found(folder)
    for name in special[:1]:
        try:
            return preview(name, folder, folder.name, stop=stop).dataset
        except CancelledError:
            raise
        except OverreadError:
            continue
    return preview(plain, folder, folder.name, stop=stop).dataset
