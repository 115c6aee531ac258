"""Files and folders to cases: patients, studies, and series in their order."""

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from viewer.domain.case import Case, ImageHeader, Series, Study
from viewer.domain.errors import UnreadableInputError
from viewer.readers.headers import FileHeader, read_file_header
from viewer.readers.volume import is_volume_name

_Item = TypeVar("_Item")
_Key = TypeVar("_Key")

_IGNORED = frozenset({"DICOMDIR", "THUMBS.DB", "DESKTOP.INI"})
"""Names, in capitals, that no one means when opening a folder."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A file with its header and the name of the folder it was found in."""

    header: FileHeader
    folder: str


def read_headers(path: Path) -> tuple[ImageHeader, ...]:
    """Return the header of every frame of an image file, pixels undecoded.

    Raises
    ------
    UnreadableInputError
        If the file is no image.
    """
    return read_file_header(path).images()


def scan(paths: Sequence[Path]) -> tuple[Case, ...]:
    """Return the cases in files and folders, folders with all that lies below.

    Patients, studies and series are told apart by their identifiers, and files
    without any by their folder. A series is ordered by slice position along its
    normal, then by Instance Number, then by name; slices of another orientation or
    size become a series of their own. Frames keep the file's order. Every file that
    is no readable image is named in ``unreadable`` of the case that shares its folder,
    else of the first; hidden files, DICOMDIR and the masks that lie beside an image as
    ``NAME.<finding>.png`` are passed over.
    """
    found: list[_Found] = []
    unreadable: dict[str, list[str]] = defaultdict(list)
    for path, folder in _files(paths):
        try:
            found.append(_Found(_with_keys(read_file_header(path), folder), folder))
        except UnreadableInputError:
            unreadable[folder].append(path.name)
    return _cases(found, unreadable)


def _files(paths: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Yield each file once, in natural order, with its folder's name."""
    seen: set[Path] = set()
    for root in paths:
        inside = root.is_dir()
        files = _below(root) if inside else [root]
        top = Path((root if inside else root.parent).resolve().name)
        for path in sorted(files, key=_natural):
            if path not in seen:
                seen.add(path)
                parent = path.parent.relative_to(root) if inside else Path()
                yield path, (top / parent).as_posix()


def _below(folder: Path) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file() and _is_meant(path)]
    stems = {path.with_suffix("") for path in files}
    return [path for path in files if not _is_sidecar(path, stems)]


def _is_meant(path: Path) -> bool:
    return not path.name.startswith(".") and path.name.upper() not in _IGNORED


def _is_sidecar(path: Path, stems: set[Path]) -> bool:
    """Tell whether ``NAME.<finding>.png`` lies beside an image ``NAME``."""
    name = path.with_suffix("")
    return path.suffix.lower() == ".png" and (
        bool(name.suffix) and name.with_suffix("") in stems
    )


def _natural(path: Path) -> tuple[tuple[int, int, str], ...]:
    """Return a key by which 2 comes before 10."""
    return tuple(
        (0, int(part), "") if part.isdecimal() else (1, 0, part)
        for part in re.split(r"(\d+)", path.as_posix())
    )


def _with_keys(header: FileHeader, folder: str) -> FileHeader:
    """Name patient, study and series by the folder where the file does not."""
    own = f"{folder}/{header.path.name}" if is_volume_name(header.path) else folder
    return replace(
        header,
        patient_key=header.patient_key or header.study_key or folder,
        study_key=header.study_key or folder,
        series_key=header.series_key or own,
    )


def _cases(
    found: Sequence[_Found], unreadable: Mapping[str, Sequence[str]]
) -> tuple[Case, ...]:
    patients = _grouped(found, lambda item: item.header.patient_key)
    home = {item.folder: item.header.patient_key for item in reversed(found)}
    first = next(iter(patients), "")
    lost: dict[str, list[str]] = defaultdict(list)
    for folder, names in unreadable.items():
        lost[home.get(folder, first)].extend(names)
    if not patients:
        return (Case("", (), tuple(lost[""])),) if lost else ()
    return tuple(
        Case(key, _studies(items), tuple(lost[key])) for key, items in patients.items()
    )


def _studies(items: Sequence[_Found]) -> tuple[Study, ...]:
    studies = [
        Study(
            key,
            group[0].header.study_date,
            group[0].header.study_description,
            _series([item.header for item in group]),
        )
        for key, group in _grouped(items, lambda item: item.header.study_key).items()
    ]
    return tuple(sorted(studies, key=lambda study: study.date))


def _series(headers: Sequence[FileHeader]) -> tuple[Series, ...]:
    return tuple(
        Series(
            key if number == 0 else f"{key}#{number + 1}",
            stack[0].modality,
            stack[0].series_description,
            tuple(image for header in _ordered(stack) for image in header.images()),
        )
        for key, group in _grouped(headers, lambda header: header.series_key).items()
        for number, stack in enumerate(_grouped(group, _plane).values())
    )


def _plane(header: FileHeader) -> object:
    """Return what slices of one stack share; radiographs and photographs share all."""
    if header.axes is None or header.position is None:
        return None
    return tuple(round(value, 3) for value in header.axes), header.size


def _ordered(stack: Sequence[FileHeader]) -> list[FileHeader]:
    """Return slices along their normal, the rest by Instance Number, then as found."""

    def key(header: FileHeader) -> tuple[float, int]:
        instance = header.instance if header.instance is not None else sys.maxsize
        return _depth(header), instance

    return sorted(stack, key=key)


def _depth(header: FileHeader) -> float:
    """Return a slice's distance from the origin along its normal in millimetres.

    The normal is rows × columns of Image Orientation (PS3.3 C.7.6.2.1.1); 0 without.
    """
    if header.axes is None or header.position is None:
        return 0.0
    normal = np.cross(header.axes[:3], header.axes[3:])
    position = (header.position.x, header.position.y, header.position.z)
    # A micrometre: less is rounding of the decimal strings, not another slice.
    return round(float(np.dot(normal, position)), 3)


def _grouped(
    items: Iterable[_Item], key: Callable[[_Item], _Key]
) -> dict[_Key, list[_Item]]:
    """Return the items by key, groups and items in the order they came."""
    groups: dict[_Key, list[_Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
