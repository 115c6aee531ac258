"""Predictions as COCO's results list them.

A list of objects with ``image_id``, ``category_id``, ``score`` and ``bbox`` (x, y,
width, height) or ``segmentation``, or a whole COCO file whose annotations they are;
format of cocodataset.org. The ids of images and categories get their names from the
instances file that the predictions were made for.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from viewer.domain.documents import read_json
from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.domain.prediction import Prediction, Written
from viewer.readers.datasets.coco_shapes import Shape, shape_of
from viewer.readers.datasets.findings import display_name
from viewer.readers.datasets.segmentations import read_json_object
from viewer.readers.files.text_files import bounded_text

BOX: Final = "box"
MASK: Final = "mask"


@dataclass(frozen=True)
class _Names:
    """The names of image and category ids."""

    images: Mapping[object, str] = field(default_factory=dict)
    categories: Mapping[object, str] = field(default_factory=dict)


def read_coco(
    path: Path, listing: Path | None = None, shape: str = "", finding: str = ""
) -> tuple[Prediction, ...]:
    """Return the predictions of a COCO file.

    Parameters
    ----------
    path : Path
        The list of results, or a file with images, categories and annotations.
    listing : Path, optional
        The instances file whose numbers a list of results uses.
    shape : str
        ``BOX`` or ``MASK``: which one counts if a prediction has both.
    finding : str
        The finding of a file without categories.

    Raises
    ------
    UnreadableInputError
        If the file has another form, or a prediction cannot be read; the message names
        its number.
    WrongUseError
        If an id has no name, or a prediction has both shapes and none was chosen.
    """
    rows, names = _content(path)
    names = _names(read_json_object(listing)) if listing else names
    return tuple(_predictions(path, rows, names, shape, display_name(finding)))


def _content(path: Path) -> tuple[Sequence[object], _Names]:
    try:
        content = read_json(bounded_text(path))
    except (OSError, ValueError) as error:
        raise UnreadableInputError(
            f"'{path.name}' cannot be read as JSON text.", "Copy or write it again."
        ) from error
    if isinstance(content, list):
        return content, _Names()
    rows = content.get("annotations") if isinstance(content, dict) else None
    if not isinstance(rows, list):
        raise UnreadableInputError(
            f"'{path.name}' contains no list of COCO results.",
            "Each result needs an image_id, a category_id and a bbox or segmentation.",
        )
    return rows, _names(content)


def _names(content: Mapping[str, object]) -> _Names:
    images = {row.get("id"): row.get("file_name") for row in _rows(content, "images")}
    kinds = {row.get("id"): row.get("name") for row in _rows(content, "categories")}
    return _Names(
        {i: name for i, name in images.items() if isinstance(name, str)},
        {i: display_name(n) for i, n in kinds.items() if isinstance(n, str)},
    )


def _rows(content: Mapping[str, object], key: str) -> Iterator[Mapping[str, object]]:
    rows = content.get(key)
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get("id"), str | int):
            yield row


def _predictions(
    path: Path, rows: Sequence[object], names: _Names, shape: str, finding: str
) -> Iterator[Prediction]:
    for number, row in enumerate(rows, 1):
        try:
            if not isinstance(row, dict):
                raise _none("it is not an object")
            yield _prediction(row, names, shape, finding)
        except UnreadableInputError as error:
            raise UnreadableInputError(
                f"Prediction {number} of '{path.name}': {error.what}", error.how
            ) from error


def _prediction(
    row: Mapping[str, object], names: _Names, shape: str, finding: str
) -> Prediction:
    image = row.get("image_id")
    if not isinstance(image, str | int):
        raise _none("it has no image_id")
    score = row.get("score")
    if score is not None and not isinstance(score, int | float):
        raise _none("its score is not a number")
    return Prediction(
        image=names.images.get(image, str(image)),
        finding=_finding(row, names, finding),
        place=_place(shape_of(row), shape, both=bool(row.get("bbox"))),
        score=None if score is None else float(score),
    )


def _finding(row: Mapping[str, object], names: _Names, finding: str) -> str:
    category = row.get("category_id")
    if isinstance(category, str | int) and category in names.categories:
        return names.categories[category]
    if isinstance(category, str):
        return display_name(category)
    if not finding:
        raise WrongUseError(
            f"It is not known which finding the category {category} is.",
            "Name the instances file (--annotations), or one finding for all "
            "predictions.",
        )
    return finding


def _place(shape: Shape, wanted: str, *, both: bool) -> Written:
    if shape.has_pixels and both and not wanted:
        raise WrongUseError(
            "Predictions have a box and a segmentation each.",
            "Choose whether the box or the mask counts (--shape).",
        )
    if shape.box is not None and (wanted == BOX or not shape.has_pixels):
        return shape.box
    return shape.mask or shape.outlines


def _none(why: str) -> UnreadableInputError:
    how = "Each result needs an image_id, a category_id and a bbox or segmentation."
    return UnreadableInputError(f"{why[0].upper()}{why[1:]}.", how)
