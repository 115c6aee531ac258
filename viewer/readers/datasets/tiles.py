"""Data sets of tissue tiles with questions about them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from viewer.domain.case import Dataset, Notice
from viewer.domain.item import Item
from viewer.readers.datasets.annotated import Annotated, Collection, assembled
from viewer.readers.datasets.choice_rows import shared_images
from viewer.readers.datasets.files import Progress, content_sha256

_OF_RADIOGRAPHS: Final = "unknown_patient"
"""The notice of images that say nothing of a patient: nobody's name is on a tile."""


def of_tiles(
    collection: Collection,
    images: Iterable[str],
    items: Sequence[Item],
    notices: Sequence[Notice],
    progress: Progress | None = None,
) -> Dataset:
    """Return the data set of images, by their files, with the questions about them.

    Tiles that occur in questions of two splits are reported in its notices.
    """
    entries = [Annotated(key=key, file=key) for key in images]
    dataset = assembled(collection, entries, notices, progress)
    hashes = {image.key: image.sha256 for image in dataset.images}
    about = (n for n in dataset.notices if n.kind != _OF_RADIOGRAPHS)
    return replace(
        dataset,
        items=tuple(items),
        notices=(*about, *shared_images(items, hashes)),
        root_sha256=content_sha256(dataset.images, items),
    )
