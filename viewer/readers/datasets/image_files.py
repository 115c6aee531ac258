"""The image files below a folder, found by what a table calls them."""

from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath

from viewer.domain.case import Notice
from viewer.domain.errors import UnreadableInputError
from viewer.readers.datasets.files import files_below
from viewer.readers.datasets.folder_layout import IMAGE_SUFFIXES


def stem_of(name: str) -> str:
    """Return a file name without the suffix of an image; other dots are the name's."""
    suffix = next((s for s in IMAGE_SUFFIXES if name.lower().endswith(s)), "")
    return name[: len(name) - len(suffix)]


def root_of(path: Path) -> Path:
    """Return the folder to look for images in, where a folder or a table is named.

    The images of a table lie below its folder or, as collections are often unpacked,
    below the one above.
    """
    if path.is_dir():
        return path
    if not path.is_file():
        raise UnreadableInputError(
            f"There is no '{path.name}'.", "Name the folder or the table of a data set."
        )
    beside = any(_is_image(p) for p in files_below(path.parent))
    return path.parent if beside else path.parent.parent


def missing_path(root: Path, written: str) -> Path:
    """Return where a file that is not there should lie: below the folder.

    What a table writes may lead anywhere else; its last part is then all that counts.
    """
    wanted = PurePosixPath(written.replace("\\", "/"))
    if ".." in wanted.parts or wanted.is_absolute() or PureWindowsPath(written).drive:
        wanted = PurePosixPath(wanted.name.replace("..", "_"))
    return root / wanted


class ImageFiles:
    """The images below a folder by path, by name and by name without suffix."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._paths = [p for p in files_below(root) if _is_image(p)]
        self._by_end: dict[str, list[Path]] = {}
        for path in self._paths:
            for end in {path.name, stem_of(path.name)}:
                self._by_end.setdefault(end, []).append(path)
        self.notices: list[Notice] = []

    def find(self, written: str) -> Path | None:
        """Return the file that a table calls ``written``; None where there is none.

        A path counts from the folder, else its end must fit; a name may lack its
        suffix. Of several files the first by path is taken, and that is noticed.
        """
        wanted = PurePosixPath(written.replace("\\", "/"))
        exact = self._root / wanted
        if exact in self._by_end.get(wanted.name, ()):
            return exact
        found = [p for p in self._by_end.get(wanted.name, ()) if _ends(p, wanted)]
        if len(found) > 1:
            text = (
                f"{len(found)} files have its name; '{self._inside(found[0])}' is read."
            )
            self.notices.append(Notice("several_files", stem_of(written), text))
        return found[0] if found else None

    def unnamed(self, named: Collection[Path | None]) -> Iterator[Notice]:
        """Yield one notice for the images that no table names."""
        others = [self._inside(p) for p in self._paths if p not in named]
        if others:
            n = "1 image is" if len(others) == 1 else f"{len(others)} images are"
            text = f"{n} in no row of the tables and not imported."
            yield Notice("not_in_tables", others[0], text)

    def _inside(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix()


def _is_image(path: Path) -> bool:
    """Tell whether a name may be an image's: a known suffix, or what a UID ends in."""
    name = path.name.lower()
    return name.endswith(IMAGE_SUFFIXES) or not path.suffix or path.suffix[1:].isdigit()


def _ends(path: Path, wanted: PurePosixPath) -> bool:
    folders = wanted.parts[:-1]
    return not folders or path.parts[:-1][-len(folders) :] == folders
