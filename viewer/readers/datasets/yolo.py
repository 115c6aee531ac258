"""YOLO's boxes: a text file for each image below ``labels``, and the classes' names.

A line is ``class x y width height``, the middle and the size of a box as shares of the
image's width and height; the confidence that detectors write as a sixth number is not
used. Classes are numbers from 0; ``data.yaml`` lists their names, or ``classes.txt``
does, a line each. A label file is called as its image. Such boxes join the images of
any other format that has none of its own, such as MIMIC-CXR-JPG (E002-01).
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from viewer.domain.case import Dataset, DatasetImage, Notice, ReferenceBox, View
from viewer.domain.counting import counted
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import BoxPx, SizePx
from viewer.readers.datasets import folder
from viewer.readers.datasets.annotated import without_repeats
from viewer.readers.datasets.files import (
    Progress,
    content_sha256,
    files_below,
    without_tables,
)
from viewer.readers.datasets.findings import display_name
from viewer.readers.datasets.image_files import by_name
from viewer.readers.files.text_files import whole_text

FORMAT: Final = "yolo"
_LABELS: Final = "labels"
_NAMES: Final = ("data.yaml", "data.yml", "classes.txt")
_LISTED: Final = re.compile(r"^names:\s*\[(?P<listed>[^\]]*)\]", re.MULTILINE)
_BELOW: Final = re.compile(
    r"^names:[ \t]*\n(?P<lines>(?:[ \t]*(?:-|\d+:)[^\n]*\n?)+)", re.MULTILINE
)


def looks(path: Path) -> bool:
    """Tell whether a folder holds label files and the names of their classes."""
    if not path.is_dir():
        return False
    files = files_below(path)
    return _names_file(files) is not None and bool(_label_files(files, path))


def read(
    root: Path, name: str, view: View | None = None, progress: Progress | None = None
) -> Dataset:
    """Read the images below a folder; :func:`with_boxes` adds what the labels say."""
    if not looks(root):
        raise UnreadableInputError(
            f"'{root.name}' has no folder 'labels' with text files, or no "
            f"{_NAMES[0]} or {_NAMES[2]} that names their classes.",
            "Name the folder that holds images, labels and the names of the classes.",
        )
    return replace(folder.read(root, name, view, progress), format=FORMAT)


def with_boxes(dataset: Dataset) -> Dataset:
    """Return a data set that has no boxes with those of the label files, if any.

    Raises
    ------
    UnreadableInputError
        The names of the classes cannot be read.
    """
    if any(image.boxes for image in dataset.images) or not looks(dataset.root):
        return dataset
    files = files_below(dataset.root)
    names = _class_names(_names_file(files))
    known, paths = by_name(dataset), _label_files(files, dataset.root)
    rows = {known[p.stem]: _rows(p, names) for p in paths if p.stem in known}
    images = tuple(
        _with_boxes(image, rows.get(image.key, _Rows()), names)
        for image in dataset.images
    )
    used = [*paths, *(p for p in files if p.name in _NAMES)]
    notices = [*without_tables(dataset, used), *_unmatched(dataset, paths, known, rows)]
    for image in images:
        notices += _notices(image, rows.get(image.key, _Rows()))
    return replace(
        dataset,
        images=images,
        notices=tuple(notices),
        root_sha256=content_sha256(images, dataset.items),
    )


@dataclass
class _Rows:
    """A label file's boxes by finding, as shares, and what is wrong with its lines."""

    shares: dict[str, list[tuple[float, ...]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    broken: list[str] = field(default_factory=list)


def _names_file(files: Sequence[Path]) -> Path | None:
    return next((p for name in _NAMES for p in files if p.name == name), None)


def _label_files(files: Sequence[Path], root: Path) -> tuple[Path, ...]:
    return tuple(
        p
        for p in files
        if p.suffix == ".txt"
        and p.name not in _NAMES
        and _LABELS in p.relative_to(root).parts[:-1]
    )


def _class_names(path: Path | None) -> tuple[str, ...]:
    text = whole_text(path) if path else ""
    listed, below = _LISTED.search(text), _BELOW.search(text)
    if path and path.suffix == ".txt":
        written = text.splitlines()
    elif listed:
        written = listed["listed"].split(",")
    else:
        lines = below["lines"].splitlines() if below else []
        written = [re.sub(r"^\s*(?:-|\d+:)", "", line) for line in lines]
    names = tuple(display_name(name.strip().strip("'\"")) for name in written)
    if not any(names):
        raise UnreadableInputError(
            f"'{path.name if path else _LABELS}' names no classes.",
            "List them in classes.txt, one on each line.",
        )
    return names


def _rows(path: Path, names: Sequence[str]) -> _Rows:
    rows = _Rows()
    try:
        lines = whole_text(path).splitlines()
    except UnreadableInputError as error:
        return _Rows(broken=[error.what])
    for line, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            number, *shares = map(float, text.split()[:5])
            # names[-1] would be the last class.
            finding = names[int(number)] if number >= 0 else ""
        except (ValueError, IndexError):
            finding, shares = "", []
        if finding and len(shares) == 4 and all(map(math.isfinite, shares)):
            rows.shares[finding].append(tuple(shares))
        else:
            rows.broken.append(f"Line {line} of {path.name} is not the box of a class.")
    return rows


def _with_boxes(image: DatasetImage, rows: _Rows, names: Sequence[str]) -> DatasetImage:
    made = {
        finding: [ReferenceBox(box) for box in _boxes(shares, image.size)]
        for finding, shares in rows.shares.items()
    }
    boxes, _ = without_repeats(image.key, {name: of for name, of in made.items() if of})
    labels = {name: name in boxes for name in names if name}
    return replace(image, boxes=boxes, labels={**image.labels, **labels})


def _boxes(shares: Sequence[tuple[float, ...]], size: SizePx) -> Iterator[BoxPx]:
    """Yield the boxes in pixels, cut to the image, that hold a pixel of it."""
    for x, y, width, height in shares:
        x0, x1 = (min(max(x + s * width / 2, 0), 1) * size.columns for s in (-1, 1))
        y0, y1 = (min(max(y + s * height / 2, 0), 1) * size.rows for s in (-1, 1))
        if round(x1) > round(x0) and round(y1) > round(y0):
            yield BoxPx(x0, y0, x1, y1)


def _notices(image: DatasetImage, rows: _Rows) -> Iterator[Notice]:
    yield from (Notice("odd_row", image.key, text) for text in rows.broken)
    lost = set(rows.shares) - set(image.boxes) if image.size.rows else set()
    for finding in sorted(lost):
        text = f"Its boxes of {finding} contain no pixel of the image."
        yield Notice("box_outside", image.key, text)


def _unmatched(
    dataset: Dataset,
    paths: Sequence[Path],
    known: Mapping[str, str],
    rows: Mapping[str, _Rows],
) -> Iterator[Notice]:
    others = [p.stem for p in paths if p.stem not in known]
    if others:
        n = counted(len(others), "label file")
        text = f"{n} without an image: not used, such as {others[0]}."
        yield Notice("labels_without_image", "", text)
    bare = [image.key for image in dataset.images if image.key not in rows]
    if bare:
        n = counted(len(bare), "image")
        text = f"{n} without a label file, such as {bare[0]}: taken to have no finding."
        yield Notice("no_label_file", "", text)
