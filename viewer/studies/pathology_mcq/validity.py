"""Which questions reviewers found invalid (Sun 2024, 3.2; E003-12)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from viewer.domain.item import Item


@dataclass(frozen=True, slots=True)
class Validity:
    """An item's reviews: by how many readers, and which criteria any of them failed."""

    item: str
    readers: int
    failed: tuple[str, ...]


def validity_of(item: Item) -> Validity:
    """Return the reviewers' verdict on an item: invalid if any reader rejects it.

    Criteria stand in the order in which they were first named.
    """
    reviews = tuple(_reviews(item))
    failed = dict.fromkeys(criterion for _, found in reviews for criterion in found)
    return Validity(item.key, len(reviews), tuple(failed))


def review_rows(
    items: Sequence[Item],
) -> tuple[tuple[str, ...], Iterator[tuple[object, ...]]]:
    """Return each reviewed item, kept or rejected, and why."""
    header = ("item", "subset", "split", "readers", "verdict", "reasons")
    rows = (
        (
            *(item.key, item.kind, str(item.facts.get("split", "")), found.readers),
            "reject" if found.failed else "keep",
            " ".join(found.failed),
        )
        for item in items
        if (found := validity_of(item)).readers
    )
    return header, rows


def _reviews(item: Item) -> Iterator[tuple[str, tuple[str, ...]]]:
    listed = item.reference.get("reviews")
    for reader, failed in listed if isinstance(listed, list) else ():
        yield str(reader), tuple(map(str, failed))
