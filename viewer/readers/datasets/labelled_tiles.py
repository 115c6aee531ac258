"""Labelled tiles as multiple-choice questions (Sun 2024, 3.2; E003-16).

``[SPLIT/]LABEL/IMAGE``, or a collection in its published layout (tile_collections.py):
the label is the right option, the others are labels of the same collection. Codes of
the collections in PathCLS are written out; any other label is used as it is. The order
of the options is drawn for each image from its path, so that it is the same on every
import.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from viewer.domain.case import Dataset, View
from viewer.domain.choice import letter_of
from viewer.domain.errors import UnreadableInputError
from viewer.readers.datasets.annotated import Collection
from viewer.readers.datasets.choice_rows import ChoiceRow, items_of
from viewer.readers.datasets.files import Progress, files_below
from viewer.readers.datasets.tile_collections import (
    LABELS,
    POOLS,
    Tile,
    Tiles,
    is_image,
    published,
)
from viewer.readers.datasets.tiles import of_tiles

SUBSET: Final = "PathCLS"
QUESTION: Final = "Which of the following does this pathology image show?"
"""Ours: the authors print no words for this subset."""
MOST_OPTIONS: Final = 10
_SPLITS: Final = {
    **dict.fromkeys(("train", "training", "training_set"), "train"),
    **dict.fromkeys(("train_and_validation_set", "nct_crc_he_100k"), "train"),
    "nct_crc_he_100k_nonorm": "train",
    **dict.fromkeys(("val", "valid", "validation", "validation_set"), "val"),
    **dict.fromkeys(("test", "testing", "test_set", "crc_val_he_7k"), "test"),
    **dict.fromkeys(("test_tiny", "tiny"), "test_tiny"),
}
_NO_LABELS: Final = frozenset(
    {
        *("image", "images", "img", "imgs", "mask", "masks", "patch", "patches"),
        *("tile", "tiles", "data", "dataset", "label", "labels", "partition"),
        *_SPLITS,
    }
)
"""Names of folders that say what lies in them, not what it shows."""


def read(
    root: Path, name: str, view: View | None = None, progress: Progress | None = None
) -> Dataset:
    """Read every image with a label.

    Parameters
    ----------
    root : Path
        The folder with the label folders, or with the splits that contain them.
    name : str
        The name the data set is registered under.
    view : View, optional
        The view of its images; they are not radiographs.
    progress : callable, optional
        Called with the number of files read so far.

    Raises
    ------
    UnreadableInputError
        There is no such folder, it has fewer than two labels, or its layout is unknown.
    """
    files = [path.relative_to(root).as_posix() for path in files_below(root)]
    found = published(root, files) or Tiles(tuple(_in_folders(root, files)))
    labels: dict[str, set[str]] = {}
    for tile in found.tiles:
        labels.setdefault(tile.pool, set()).add(tile.label)
    if not labels or min(map(len, labels.values())) < 2:
        raise UnreadableInputError(
            f"The folder '{root.name}' does not have images in at least two folders "
            "named after their labels.",
            "Put the images of each label into a folder of its name.",
        )
    items, rejected = items_of(
        _row(tile, sorted(map(_words, labels[tile.pool]))) for tile in found.tiles
    )
    collection = Collection(name, "labelled-tiles", root, view or View.OTHER)
    images = [tile.path for tile in found.tiles]
    notices = (*found.notices, *rejected)
    return of_tiles(collection, images, items, notices, progress)


def _in_folders(root: Path, files: Sequence[str]) -> Iterator[Tile]:
    """Yield the images in folders named after their labels.

    A folder whose name is not a label raises.
    """
    for path in files:
        *above, label, _ = (root.name, *path.split("/"))
        if not above or not is_image(path):
            continue
        if _plain(label) in _NO_LABELS:
            raise UnreadableInputError(
                f"The layout of '{root.name}' is not recognised: images are in "
                f"'{label}', which is not a label.",
                "Put the images of each label into a folder of its name, or import "
                "MHIST, SICAPv2, WSSS4LUAD, LC25000 or CRC-100K as they are unpacked.",
            )
        splits = [_SPLITS[_plain(part)] for part in above if _plain(part) in _SPLITS]
        split = splits[-1] if splits else "test"
        yield Tile(path, split, label, POOLS.get(label, ""))


def _plain(folder: str) -> str:
    """Return a folder's name in lower case without punctuation or leading number."""
    name = re.sub(r"[-\s]+", "_", folder.strip().lower())
    return re.sub(r"^\d+[._]+", "", name)


def _words(label: str) -> str:
    return LABELS.get(label, label.replace("_", " ").strip())


def _row(tile: Tile, labels: Sequence[str]) -> ChoiceRow:
    # SHA-256, because hash() of a text differs from process to process.
    seed = np.frombuffer(hashlib.sha256(tile.path.encode()).digest(), dtype="<u4")
    rng = np.random.default_rng([int(word) for word in seed])
    label = _words(tile.label)
    others = [one for one in labels if one != label]
    drawn = [others[i] for i in rng.permutation(len(others))[: MOST_OPTIONS - 1]]
    texts = [label, *drawn]
    options = [texts[i] for i in rng.permutation(len(texts))]
    written = tuple(f"{letter_of(i)}) {text}" for i, text in enumerate(options))
    return ChoiceRow(
        subset=SUBSET,
        split=tile.split,
        number=tile.path,
        place=0,
        images=(tile.path,),
        question=QUESTION,
        options=written,
        answer=written[options.index(label)],
    )
