"""Folders of labelled tiles as multiple-choice questions (Sun 2024, 3.2; E003-16).

``[SPLIT/]LABEL/IMAGE``: the label is the right option, the others are labels of the
same collection. Codes of the collections that PathCLS is made of are written out; any
other label is read as it stands. The order of the options is drawn for each image from
its path, so that it is the same on every import.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from viewer.domain.case import Dataset, View
from viewer.domain.choice import letter_of
from viewer.domain.errors import UnreadableInputError
from viewer.readers.datasets.annotated import Collection
from viewer.readers.datasets.choice_rows import ChoiceRow, items_of
from viewer.readers.datasets.files import Progress, files_below
from viewer.readers.datasets.folder_layout import IMAGE_SUFFIXES
from viewer.readers.datasets.tiles import of_tiles

SUBSET: Final = "PathCLS"
QUESTION: Final = "Which of the following does this pathology image show?"
"""Ours: the authors print no words for this subset."""
MOST_OPTIONS: Final = 10
_SPLITS: Final = {
    **dict.fromkeys(("train", "training", "training_set"), "train"),
    **dict.fromkeys(("val", "valid", "validation"), "val"),
    **dict.fromkeys(("test", "testing"), "test"),
    **dict.fromkeys(("test_tiny", "tiny"), "test_tiny"),
}
LABELS: Final[Mapping[str, str]] = {
    "ADI": "Adipose tissue",
    "BACK": "Background",
    "DEB": "Debris",
    "LYM": "Lymphocytes",
    "MUC": "Mucus",
    "MUS": "Smooth muscle",
    "NORM": "Normal colon mucosa",
    "STR": "Cancer-associated stroma",
    "TUM": "Colorectal adenocarcinoma epithelium",
    "HP": "Hyperplastic polyp",
    "SSA": "Sessile serrated adenoma",
    "lung_aca": "Lung adenocarcinoma",
    "lung_n": "Benign lung tissue",
    "lung_scc": "Lung squamous cell carcinoma",
    "colon_aca": "Colon adenocarcinoma",
    "colon_n": "Benign colonic tissue",
    "InSitu": "In situ carcinoma",
    "Invasive": "Invasive carcinoma",
}
"""What the codes of CRC-100K, MHIST, LC25000 and BACH stand for."""


def read(
    root: Path, name: str, view: View | None = None, progress: Progress | None = None
) -> Dataset:
    """Read every image that lies in a folder named after its label.

    Parameters
    ----------
    root : Path
        The folder of the label folders, or of the splits that hold them.
    name : str
        The name the data set is registered under.
    view : View, optional
        The view of its images; they are no radiographs.
    progress : callable, optional
        Told how many files have been read.

    Raises
    ------
    UnreadableInputError
        There is no such folder, or it has fewer than two labels.
    """
    found = tuple(_labelled(root))
    labels = sorted({label for _, _, label in found})
    if len(labels) < 2:
        raise UnreadableInputError(
            f"The folder '{root.name}' has no images in two folders named after their "
            "labels.",
            "Put the images of each label into a folder of its name.",
        )
    items, notices = items_of(
        _row(path, split, label, labels) for path, split, label in found
    )
    collection = Collection(name, "labelled-tiles", root, view or View.OTHER)
    images = [path for path, _, _ in found]
    return of_tiles(collection, images, items, notices, progress)


def _labelled(root: Path) -> Iterator[tuple[str, str, str]]:
    """Yield each image's path within the folder, its split, and its label."""
    for path in files_below(root):
        parts = path.relative_to(root).parts
        if len(parts) > 1 and path.name.lower().endswith(IMAGE_SUFFIXES):
            first = parts[0].lower().replace("-", "_").replace(" ", "_")
            split = _SPLITS.get(first, "test") if len(parts) > 2 else "test"
            yield "/".join(parts), split, _words(parts[-2])


def _words(label: str) -> str:
    return LABELS.get(label, label.replace("_", " ").strip())


def _row(path: str, split: str, label: str, labels: Sequence[str]) -> ChoiceRow:
    seed = np.frombuffer(hashlib.sha256(path.encode()).digest(), dtype="<u4")
    rng = np.random.default_rng([int(word) for word in seed])
    others = [one for one in labels if one != label]
    drawn = [others[i] for i in rng.permutation(len(others))[: MOST_OPTIONS - 1]]
    texts = [label, *drawn]
    options = [texts[i] for i in rng.permutation(len(texts))]
    written = tuple(f"{letter_of(i)}) {text}" for i, text in enumerate(options))
    return ChoiceRow(
        subset=SUBSET,
        split=split,
        number=path,
        place=0,
        images=(path,),
        question=QUESTION,
        options=written,
        answer=written[options.index(label)],
    )
