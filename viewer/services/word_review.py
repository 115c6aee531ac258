"""A person's look at the words of a data set's items that seem to name somebody."""

from collections.abc import Iterator, Sequence

from viewer.domain.errors import WrongUseError
from viewer.domain.item import Item
from viewer.domain.privacy import PixelReview, ReviewDecision
from viewer.services.word_scan import found_in, named_in, words_of, words_sha256
from viewer.store import asking, cases
from viewer.store.database import Store


def word_rows(
    store: Store, name: str, keys: Sequence[str] = ()
) -> list[dict[str, object]]:
    """Return the items whose words seem to name somebody, or that were decided about.

    A row has the item's key, the decision, the kinds of what was found, and the places
    themselves for the person to read. ``keys`` are the items wanted, all where empty.
    """
    decided = asking.reviews(store)
    rows: list[dict[str, object]] = []
    for item in _items(store, name, keys):
        review = decided.get(words_sha256(item))
        text = "\n".join(words_of(item))
        if review is not None or named_in(text):
            decision = "" if review is None else review.decision.value
            found, words = ", ".join(named_in(text)), " … ".join(found_in(text))
            row = {"item": item.key, "decision": decision, "found": found}
            rows.append({**row, "words": words})
    return rows


def decide_words(
    store: Store, name: str, decision: ReviewDecision, keys: Sequence[str] = ()
) -> None:
    """Keep one decision about the words of items; it holds for exactly these words.

    Without ``keys`` it is about every item whose words seem to name somebody.
    """
    for item in _items(store, name, keys):
        if keys or named_in("\n".join(words_of(item))):
            asking.add_review(store, PixelReview(words_sha256(item), decision))


def _items(store: Store, name: str, keys: Sequence[str]) -> Iterator[Item]:
    items = cases.dataset_named(store, name).items
    known = {item.key for item in items}
    if missing := [key for key in keys if key not in known]:
        raise WrongUseError(
            f"'{name}' has no case '{missing[0]}'.",
            f"overread cases {name} lists those that it has.",
        )
    yield from (item for item in items if not keys or item.key in keys)
