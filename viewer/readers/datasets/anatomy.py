"""Masks of anatomies beside a data set's images, whatever its format (E002-01).

- ``anatomy*.json``: as CheXlocalize writes masks
- ``anatomy*.csv``: a row for each mask: ``image``, ``anatomy``, ``mask_rows``,
  ``mask_columns`` and ``mask_rle``, COCO's run-length code as text or a list of runs
- pictures below a folder ``anatomy_masks``: ``IMAGE.ANATOMY.png``,
  ``IMAGE/ANATOMY.png`` or ``ANATOMY/IMAGE.png``, by the rule of `rasters.mask_rule`

``IMAGE`` is an image's id or the name of its file. Underscores in an anatomy read as
spaces.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from viewer.domain.case import Dataset, DatasetImage, Notice
from viewer.domain.counting import counted
from viewer.domain.documents import read_json
from viewer.domain.errors import UnreadableInputError
from viewer.domain.reference import Mask
from viewer.domain.study_words import capital
from viewer.readers.datasets.csv_tables import header_of, is_table, rows_of
from viewer.readers.datasets.files import (
    Progress,
    content_sha256,
    files_below,
    without_tables,
)
from viewer.readers.datasets.folder_layout import ANATOMY_FOLDER, is_anatomy_mask
from viewer.readers.datasets.image_files import by_name, stem_of
from viewer.readers.datasets.segmentations import read_mask, read_mask_file
from viewer.readers.masks import read_mask as read_picture

_FREQUENT: Final = 5
"""Times as many images as another name has make that one doubtful."""
_ALIKE: Final = 0.8
COLUMNS: Final = ("image", "anatomy", "mask_rows", "mask_columns", "mask_rle")


@dataclass
class _Read:
    """What the files say, by the names that they have for images.

    ``broken`` maps an image and an anatomy to the sentence why its mask is of no use.
    """

    masks: dict[str, dict[str, Mask]] = field(default_factory=lambda: defaultdict(dict))
    broken: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    notices: list[Notice] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """What images are called, in the order they were read."""
        return tuple(dict.fromkeys((*self.masks, *self.broken)))

    def take(self, image: str, anatomy: str, mask: Mask, where: Path) -> None:
        """Keep a mask; of several of one anatomy the first."""
        if self.masks[image].setdefault(anatomy, mask) != mask:
            text = f"{where.name} has another mask of {anatomy}; the first is used."
            self.notices.append(Notice("repeated_masks", image, text))


def with_anatomy(dataset: Dataset, progress: Progress | None = None) -> Dataset:
    """Return a data set with the anatomy masks found below its folder.

    An empty mask is kept, for it says that somebody looked. What does not fit its image
    is left out and noticed; a table that cannot be read raises UnreadableInputError.
    """
    files = files_below(dataset.root) if dataset.root.is_dir() else ()
    read = _read(files, dataset, progress or (lambda *_: None))
    if not read.names and not read.notices:
        return dataset
    keys = _keys(dataset, read.names)
    named: dict[str, list[str]] = defaultdict(list)
    for name, key in keys.items():
        named[key].append(name)
    images: list[DatasetImage] = []
    anatomy_files = filter(_is_of_anatomy, files)
    notices = [*without_tables(dataset, anatomy_files), *read.notices]
    for image in dataset.images:
        anatomy, about = _usable(image, read, named[image.key])
        # Masks that the format itself has win over those beside it.
        images.append(replace(image, anatomy={**anatomy, **image.anatomy}))
        notices += about
    notices += _unknown([name for name in read.names if name not in keys])
    notices += _misspelled(images)
    return replace(
        dataset,
        images=tuple(images),
        notices=tuple(notices),
        root_sha256=content_sha256(images, dataset.items),
    )


def _read(files: Sequence[Path], dataset: Dataset, progress: Progress) -> _Read:
    read = _Read()
    for path in filter(_is_of_anatomy, files):
        if path.suffix.lower() == ".json":
            _take_json(path, read)
        elif is_table(path):
            _take_table(path, read)
    pictures = [p for p in files if is_anatomy_mask(p, dataset.root)]
    keys = {*by_name(dataset)}
    for done, path in enumerate(pictures, 1):
        _take_picture(path, dataset.root, keys, read)
        progress(done, len(pictures))
    return read


def _is_of_anatomy(path: Path) -> bool:
    is_text = path.suffix.lower() == ".json" or is_table(path)
    return is_text and path.name.lower().startswith("anatomy")


def _take_json(path: Path, read: _Read) -> None:
    for key, found in read_mask_file(path).items():
        read.broken[key] |= found.broken
        for anatomy, mask in {**found.masks, **found.zero}.items():
            read.take(key, anatomy, mask, path)


def _take_table(path: Path, read: _Read) -> None:
    if not set(COLUMNS) <= set(header_of(path)):
        text = f"It lacks one of the columns {', '.join(COLUMNS)} and is not read."
        read.notices.append(Notice("table_not_read", path.name, text))
        return
    for row in rows_of(path):
        image, anatomy, *sides, code = (row.cells.get(name, "") for name in COLUMNS)
        if not image or not anatomy:
            text = f"Line {row.line} names no image or no anatomy and is not used."
            read.notices.append(Notice("odd_row", path.name, text))
            continue
        size = [int(side) if side.isdecimal() else 0 for side in sides]
        entry = {"size": size, "counts": _counts(code)}
        try:
            read.take(stem_of(image), _name(anatomy), read_mask(entry)[0], path)
        except UnreadableInputError as error:
            read.broken[stem_of(image)][_name(anatomy)] = error.what


def _counts(code: str) -> object:
    if not code.startswith("["):
        return code
    try:
        return read_json(code)
    except ValueError:
        return None


def _take_picture(path: Path, root: Path, keys: set[str], read: _Read) -> None:
    named = _image_and_anatomy(path, root, keys)
    if named is None:
        text = "Its name says no image and anatomy: write IMAGE.ANATOMY.png."
        read.notices.append(Notice("anatomy_unnamed", path.name, text))
        return
    image, anatomy = named
    try:
        mask = Mask.of_array(read_picture(path).marked)
    except UnreadableInputError as error:
        read.broken[image][anatomy] = error.what
    else:
        read.take(image, anatomy, mask, path)


def _image_and_anatomy(
    path: Path, root: Path, keys: set[str]
) -> tuple[str, str] | None:
    """Return what a picture is a mask of: the name of an image, and an anatomy."""
    parts = path.relative_to(root).parts
    inner = parts[parts.index(ANATOMY_FOLDER) + 1 :]
    stem, folder = stem_of(path.name), "/".join(inner[:-1])
    if folder in keys:
        return folder, _name(stem)
    if folder and stem in keys:
        return stem, _name(folder)
    image, dot, anatomy = stem.rpartition(".")
    return (image, _name(anatomy)) if dot and image and anatomy else None


def _name(written: str) -> str:
    """Return an anatomy's name as a sentence would begin with it."""
    words = " ".join(written.replace("_", " ").split())
    return capital(words.lower() if words.istitle() else words)


def _keys(dataset: Dataset, names: Sequence[str]) -> Mapping[str, str]:
    known = by_name(dataset)
    return {name: known[name] for name in names if name in known}


def _usable(
    image: DatasetImage, read: _Read, names: Sequence[str]
) -> tuple[Mapping[str, Mask], list[Notice]]:
    anatomy: dict[str, Mask] = {}
    notices: list[Notice] = []
    for name in names if image.size.rows else ():
        notices += _broken(image.key, read.broken.get(name, {}))
        for of, mask in read.masks.get(name, {}).items():
            if mask.size == image.size:
                anatomy.setdefault(of, mask)
            else:
                notices.append(_other_size(image, of, mask))
    return anatomy, notices


def _broken(key: str, broken: Mapping[str, str]) -> Iterator[Notice]:
    for name, why in broken.items():
        what = "Its anatomy" if name == "*" else name
        yield Notice("anatomy_unreadable", key, f"{what} cannot be used: {why}")


def _other_size(image: DatasetImage, anatomy: str, mask: Mask) -> Notice:
    text = (
        f"Its mask of {anatomy} is {mask.size.words}, but "
        f"the image is {image.size.words}; it is not used."
    )
    return Notice("anatomy_size", image.key, text)


def _unknown(others: Sequence[str]) -> Iterator[Notice]:
    if others:
        text = (
            f"There is anatomy of {counted(len(others), 'image')} that no row of the "
            "tables names."
        )
        yield Notice("anatomy_without_image", min(others), text)


def _misspelled(images: Sequence[DatasetImage]) -> Iterator[Notice]:
    """Yield what to say of a rare anatomy that is almost called as a frequent one."""
    counts = Counter(anatomy for image in images for anatomy in image.anatomy)
    for rare, n in sorted(counts.items()):
        near = [
            other
            for other, many in counts.most_common()
            if many >= _FREQUENT * n and _one_word_misspelled(rare, other)
        ]
        if near:
            often = near[0]
            text = (
                f"It is on {counted(n, 'image')} and {often} on {counts[often]}: "
                f"rename the mask if {often} is meant. It is used under its own name."
            )
            yield Notice("anatomy_rare", rare, text)


def _one_word_misspelled(one: str, other: str) -> bool:
    """Tell whether a single word differs, by few letters; left and right are many."""
    words = one.lower().split(), other.lower().split()
    if len(words[0]) != len(words[1]):
        return False
    differing = [pair for pair in zip(*words, strict=True) if pair[0] != pair[1]]
    return (
        len(differing) == 1 and SequenceMatcher(None, *differing[0]).ratio() >= _ALIKE
    )
