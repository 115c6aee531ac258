"""Merging of several data sets."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from viewer.domain.case import Dataset
from viewer.domain.errors import WrongUseError
from viewer.domain.evidence import with_images_named
from viewer.readers.datasets.files import content_sha256


def merge(name: str, parts: Sequence[Dataset], *, apart: bool = False) -> Dataset:
    """Return one data set of every image, item and notice of ``parts``.

    Ids and patients are unchanged unless two parts use the same id for an image or
    item, or they are to be kept ``apart``; then all parts get theirs prefixed by
    ``<part>/``, patients included, because the same id in two collections means two
    people.
    """
    if not parts:
        raise WrongUseError("There is nothing to merge.", "Name at least one data set.")
    images_used = Counter(image.key for part in parts for image in part.images)
    items_used = Counter(item.key for part in parts for item in part.items)
    if apart or max((*images_used.values(), *items_used.values()), default=0) > 1:
        parts = [_prefixed(part) for part in parts]
    images = tuple(image for part in parts for image in part.images)
    items = tuple(item for part in parts for item in part.items)
    return Dataset(
        name=name,
        format="+".join(sorted({part.format for part in parts})),
        root=Path(os.path.commonpath([part.root.absolute() for part in parts])),
        images=tuple(sorted(images, key=lambda image: image.key)),
        notices=tuple(notice for part in parts for notice in part.notices),
        root_sha256=content_sha256(images, items),
        split=parts[0].split if len({part.split for part in parts}) == 1 else "",
        items=items,
    )


def _prefixed(part: Dataset) -> Dataset:
    used = {*(i.key for i in part.images), *(k for i in part.items for k in i.images)}
    names = {key: f"{part.name}/{key}" for key in used}
    images = tuple(
        replace(
            image,
            key=names[image.key],
            patient=f"{part.name}/{image.patient}",
            study=f"{part.name}/{image.study}",
        )
        for image in part.images
    )
    items = tuple(
        replace(
            item,
            key=f"{part.name}/{item.key}",
            patient=f"{part.name}/{item.patient}",
            images=tuple(names[key] for key in item.images),
            facts=with_images_named(item.facts, names),
        )
        for item in part.items
    )
    keys = {image.key for image in part.images} | {item.key for item in part.items}
    notices = tuple(
        replace(notice, subject="/".join(filter(None, (part.name, notice.subject))))
        if notice.subject in keys
        else notice
        for notice in part.notices
    )
    return replace(part, images=images, items=items, notices=notices)
