"""The files found so far, as patients, studies and ordered series."""

import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from threading import Lock
from typing import TypeVar

from viewer.domain.case import Case, ImageHeader, Series, Study, View
from viewer.domain.file_header import FileHeader
from viewer.readers.folders import ListedFile
from viewer.readers.pixels import is_volume_name

_Item = TypeVar("_Item")
_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class OtherFile:
    """A file that is not a readable image, and why, in a sentence."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class _Part:
    """A file's contribution to a series; its images are created only once."""

    header: FileHeader
    images: tuple[ImageHeader, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """A file that was found, with its header and its folder's name."""

    file: Path
    header: FileHeader
    folder: str
    parts: tuple[_Part, ...]


class Index:
    """The files scanned so far, in whatever order they arrived.

    Patients, studies and series are distinguished by their identifiers, and files
    without identifiers by their folder. A series is ordered by slice position along its
    normal, then by Instance Number, then by name; slices of another orientation or size
    become another series. Frames keep the file's order. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._places: dict[Path, int] = {}
        self._numbers = count()
        self._found: dict[Path, _Found] = {}
        self._others: dict[Path, tuple[str, OtherFile]] = {}
        self._planes: dict[str, dict[object, int]] = defaultdict(dict)
        self._views: dict[Path, View] = {}

    def __len__(self) -> int:
        return len(self._found)

    def __contains__(self, path: Path) -> bool:
        return path in self._found

    def place(
        self, files: Iterable[ListedFile], early: Collection[ListedFile] = ()
    ) -> None:
        """Set the order of files, whatever order they arrive in.

        ``early`` are those that were added already, before their order was known.
        """
        with self._lock:
            for file in early:
                self._places.pop(file.path, None)
            for file in (*files, *early):
                self._place(file.path)

    def _place(self, path: Path) -> None:
        if path not in self._places:
            self._places[path] = next(self._numbers)

    def _in_order(self) -> list[_Found]:
        return sorted(self._found.values(), key=lambda item: self._places[item.file])

    def add(self, file: ListedFile, header: FileHeader) -> None:
        """Add an image file; for a known file the newer header replaces the old one."""
        known = _with_keys(header, file.folder)
        with self._lock:
            known = self._with_view(known)
        parts = _parts(known)
        with self._lock:
            self._place(file.path)
            planes = self._planes[known.series_key]
            planes.setdefault(_plane(known), len(planes))
            # The files of one slide have the header of the file that stands for it.
            self._found[known.path] = _Found(file.path, known, file.folder, parts)
            self._others.pop(file.path, None)

    def set_views(self, views: Mapping[Path, View]) -> bool:
        """Set the views of files, by absolute path, whatever their headers say.

        Returns whether that changed an image that is listed; files that are added later
        get theirs too.
        """
        changed = False
        with self._lock:
            self._views.update(views)
            for path, found in self._found.items():
                header = self._with_view(found.header)
                if header is not found.header:
                    changed = True
                    parts = _parts(header)
                    self._found[path] = replace(found, header=header, parts=parts)
        return changed

    def _with_view(self, header: FileHeader) -> FileHeader:
        view = self._views.get(header.path.absolute(), header.view)
        # The position in the header is of the view that was corrected.
        return (
            header
            if view is header.view
            else replace(header, view=view, view_position="")
        )

    def add_other(self, file: ListedFile, reason: str) -> None:
        """Add a file that is not a readable image, with the reason in a sentence."""
        with self._lock:
            self._others[file.path] = (file.folder, OtherFile(file.path, reason))

    def remove(self, patient_key: str) -> None:
        """Remove a patient's files."""
        with self._lock:
            gone = [
                path
                for path, found in self._found.items()
                if found.header.patient_key == patient_key
            ]
            for path in gone:
                del self._found[path]

    def drop(self, paths: AbstractSet[Path]) -> None:
        """Remove files, given by absolute path."""
        with self._lock:
            for path in [path for path in self._found if path.absolute() in paths]:
                del self._found[path]

    def retain(self, roots: Iterable[Path], files: Iterable[ListedFile]) -> None:
        """Remove the files below some folders that are not listed there any more.

        What is below a folder that cannot be listed stays.
        """
        listed, folders = {file.path for file in files}, set(roots)

        def is_gone(path: Path) -> bool:
            if path in listed or not folders.intersection(path.parents):
                return False
            return not listed.intersection(path.parents)

        with self._lock:
            for known in (self._found, self._others):
                for path in [path for path in known if is_gone(path)]:
                    del known[path]

    def clear(self) -> None:
        """Remove every file."""
        with self._lock:
            for known in (self._places, self._found, self._others, self._planes):
                known.clear()

    @property
    def paths(self) -> tuple[Path, ...]:
        """The image files, in order."""
        with self._lock:
            found = self._in_order()
        return tuple(item.header.path for item in found)

    @property
    def others(self) -> tuple[OtherFile, ...]:
        """The files that are not images, sorted by name."""
        with self._lock:
            return tuple(other for _, other in self._others.values())

    def cases(self) -> tuple[Case, ...]:
        """Return the cases found so far.

        Files that are not readable images are listed in ``unreadable`` of the case in
        the same folder, else of the first case.
        """
        with self._lock:
            found = self._in_order()
            others = list(self._others.values())
        patients = _grouped(found, lambda item: item.header.patient_key)
        lost = _lost(found, others)
        if not patients:
            return (Case("", (), tuple(lost[""])),) if lost else ()
        return tuple(
            Case(key, self._studies(items), tuple(lost[key]))
            for key, items in patients.items()
        )

    def _studies(self, items: Sequence[_Found]) -> tuple[Study, ...]:
        studies = [
            Study(
                key,
                group[0].header.study_date,
                group[0].header.study_description,
                self._series([part for item in group for part in item.parts]),
                group[0].header.study_time,
            )
            for key, group in _grouped(items, lambda i: i.header.study_key).items()
        ]
        return tuple(sorted(studies, key=lambda study: (study.date, study.time)))

    def _series(self, parts: Sequence[_Part]) -> tuple[Series, ...]:
        return tuple(
            Series(
                self._numbered(key, plane),
                stack[0].header.modality,
                stack[0].header.series_description,
                tuple(image for part in _ordered(stack) for image in part.images),
            )
            for key, group in _grouped(parts, lambda p: p.header.series_key).items()
            for plane, stack in _grouped(group, lambda p: _plane(p.header)).items()
        )

    def _numbered(self, key: str, plane: object) -> str:
        """Return the series' key, with a number appended for further planes."""
        number = self._planes[key].get(plane, 0)
        return key if number == 0 else f"{key}#{number + 1}"


def _parts(header: FileHeader) -> tuple[_Part, ...]:
    return tuple(_Part(part, part.images()) for part in header.stacks())


def _with_keys(header: FileHeader, folder: str) -> FileHeader:
    """Use the folder to identify patient, study and series if the file does not."""
    # Each volume is a series of its own; loose pictures of a folder are one series.
    key = f"{folder}/{header.path.name}" if is_volume_name(header.path) else folder
    return replace(
        header,
        patient_key=header.patient_key or header.study_key or folder,
        study_key=header.study_key or folder,
        series_key=header.series_key or key,
    )


def _lost(
    found: Sequence[_Found], others: Sequence[tuple[str, OtherFile]]
) -> dict[str, list[str]]:
    """Return the names of files that are not images, by the patient in their folder."""
    # Reversed, so that the first of several patients of a folder is the one kept.
    home = {item.folder: item.header.patient_key for item in reversed(found)}
    first = found[0].header.patient_key if found else ""
    lost: dict[str, list[str]] = defaultdict(list)
    for folder, other in others:
        lost[home.get(folder, first)].append(other.path.name)
    return lost


def _plane(header: FileHeader) -> object:
    """Return orientation and size of a slice, None for images without a position."""
    geometry = header.geometry()
    if geometry.axes is None or geometry.position is None:
        return None
    # Decimal strings of one series may differ in the last digits.
    return tuple(round(value, 3) for value in geometry.axes), geometry.size


def _ordered(stack: Sequence[_Part]) -> list[_Part]:
    """Return slices sorted along their normal, the rest by Instance Number."""

    def key(part: _Part) -> tuple[float, int]:
        instance = part.header.instance
        return _depth(part.header), sys.maxsize if instance is None else instance

    return sorted(stack, key=key)


def _depth(header: FileHeader) -> float:
    """Return a slice's distance from the origin along its normal in millimetres.

    The normal is rows × columns of Image Orientation (PS3.3 C.7.6.2.1.1); 0 without.
    """
    axes, at = header.geometry().axes, header.geometry().position
    if axes is None or at is None:
        return 0.0
    (a, b, c), (d, e, f) = axes[:3], axes[3:]
    along = at.x * (b * f - c * e) + at.y * (c * d - a * f) + at.z * (a * e - b * d)
    # A micrometre: less is rounding of the decimal strings, not another slice.
    return round(along, 3)


def _grouped(
    items: Iterable[_Item], key: Callable[[_Item], _Key]
) -> dict[_Key, list[_Item]]:
    """Return the items by key, preserving the order of groups and items."""
    groups: dict[_Key, list[_Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
