"""File names that are not UTF-8, as text that can be stored, shown and sent."""

from dataclasses import fields, replace
from typing import Any

from viewer.domain.case import Dataset
from viewer.domain.escapes import path_text
from viewer.domain.map_texts import with_texts


def with_storable_names(dataset: Dataset) -> Dataset:
    r"""Return a data set whose texts are all valid UTF-8; paths are unchanged.

    If any name contains bytes that are not UTF-8, all texts are written as `path_text`
    writes paths (``caf\xe9``), so that two names are never confused.
    """
    try:
        "\n".join(_names(dataset)).encode()
    except UnicodeEncodeError:
        texts = with_texts((dataset.images, dataset.notices, dataset.items), path_text)
        images, notices, items = texts
        return replace(
            dataset,
            name=path_text(dataset.name),
            images=images,
            notices=notices,
            items=items,
        )
    return dataset


def _names(dataset: Dataset) -> list[str]:
    """Return the texts that may be derived from a file's or a folder's name."""
    names = [dataset.name]
    names += [text for notice in dataset.notices for text in _texts(notice)]
    for image in dataset.images:
        names += [image.key, image.patient, image.study, *image.masks, *image.anatomy]
        names += [*image.zero_masks, *image.labels, *image.boxes, *image.defects]
        names += image.defects.values()
    for item in dataset.items:
        names += _texts(item)
    return names


def _texts(thing: Any) -> list[str]:  # noqa: ANN401 - any dataclass
    values = (getattr(thing, field.name) for field in fields(thing))
    return [value for value in values if isinstance(value, str)]
