"""The image files below a folder, found by the names that tables use."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Final

from viewer.domain.case import Dataset, Notice
from viewer.domain.errors import UnreadableInputError
from viewer.readers.datasets.files import files_below
from viewer.readers.datasets.folder_layout import IMAGE_SUFFIXES, is_anatomy_mask

_Folders = tuple[str, ...]


def stem_of(name: str) -> str:
    """Return a file name without an image suffix; other dots belong to the name."""
    suffix = next((s for s in IMAGE_SUFFIXES if name.lower().endswith(s)), "")
    return name[: len(name) - len(suffix)]


def root_of(path: Path) -> Path:
    """Return the folder to search for images, given a folder or a table.

    A table's images are below its folder or, as collections are often unpacked, below
    the parent folder.
    """
    if path.is_dir():
        return path
    if not path.is_file():
        raise UnreadableInputError(
            f"There is no '{path.name}'.", "Name the folder or the table of a data set."
        )
    beside = any(_is_image(p, path.parent) for p in files_below(path.parent))
    return path.parent if beside else path.parent.parent


def missing_path(root: Path, written: str) -> Path:
    """Return where a missing file should be: below the folder.

    A path in a table may lead anywhere else, so only its last part is used.
    """
    wanted = PurePosixPath(written.replace("\\", "/"))
    if ".." in wanted.parts or wanted.is_absolute() or PureWindowsPath(written).drive:
        wanted = PurePosixPath(wanted.name.replace("..", "_"))
    return root / wanted


def by_name(dataset: Dataset) -> Mapping[str, str]:
    """Return the keys of images by key and, where one has it alone, by file name.

    A file's name is without its suffix.
    """
    files: dict[str, set[str]] = defaultdict(set)
    for image in dataset.images:
        files[stem_of(image.ref.path.name)].add(image.key)
    alone = {name: of.pop() for name, of in files.items() if len(of) == 1}
    return {**alone, **{image.key: image.key for image in dataset.images}}


class ImageFiles:
    """The images below a folder by path, by name and by name without suffix."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._paths = [p for p in files_below(root) if _is_image(p, root)]
        self._by_name: dict[str, list[Path]] = {}
        for path in self._paths:
            for name in {path.name, stem_of(path.name), _alike(path.name)}:
                self._by_name.setdefault(name, []).append(path)
        self._by_end: dict[str, Mapping[_Folders, Sequence[Path]]] = {}
        self.notices: list[Notice] = []

    def find(self, written: str) -> Path | None:
        """Return the file that a table calls ``written``; None if there is none.

        A path is relative to the folder, or else its end must match; a name may lack
        its suffix, or spell it differently (``.JPG``, ``.jpeg``). Of several files the
        first by path is taken, with a notice.
        """
        wanted = PurePosixPath(written.replace("\\", "/"))
        found = self._named(wanted) or self._named(
            wanted.with_name(_alike(wanted.name))
        )
        if (exact := self._root / wanted) in found:
            return exact
        if len(found) > 1:
            text = (
                f"{len(found)} files have its name; '{self._inside(found[0])}' is read."
            )
            self.notices.append(Notice("several_files", stem_of(written), text))
        return found[0] if found else None

    def _named(self, wanted: PurePosixPath) -> Sequence[Path]:
        folders = wanted.parts[:-1]
        if not folders:
            return self._by_name.get(wanted.name, ())
        return self._ending(wanted.name).get(folders, ())

    def _ending(self, name: str) -> Mapping[_Folders, Sequence[Path]]:
        """Return the images of a name by the ends of their folder paths."""
        if name not in self._by_end:
            ends: dict[_Folders, list[Path]] = {}
            for path in self._by_name.get(name, ()):
                folders = path.parts[:-1]
                for n in range(len(folders)):
                    ends.setdefault(folders[n:], []).append(path)
            self._by_end[name] = ends
        return self._by_end[name]

    def unnamed(self, named: Collection[Path | None]) -> Iterator[Notice]:
        """Yield one notice for the images that are in no table."""
        others = [self._inside(p) for p in self._paths if p not in named]
        if others:
            n = "1 image is" if len(others) == 1 else f"{len(others)} images are"
            text = f"{n} in no row of the tables and not imported, such as {others[0]}."
            yield Notice("not_in_tables", "", text)

    def _inside(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix()


_SPELLINGS: Final = {".jpeg": ".jpg", ".tiff": ".tif", ".dicom": ".dcm"}


def _alike(name: str) -> str:
    """Return a name with its suffix in the usual spelling."""
    stem = stem_of(name)
    suffix = name[len(stem) :].lower()
    return stem + _SPELLINGS.get(suffix, suffix)


def _is_image(path: Path, root: Path) -> bool:
    """Tell whether a name may be an image's, by a known suffix or the end of a UID."""
    name = path.name.lower()
    if is_anatomy_mask(path, root):
        return False
    return name.endswith(IMAGE_SUFFIXES) or not path.suffix or path.suffix[1:].isdigit()
