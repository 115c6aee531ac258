"""Review text of a data set's items that seems to identify somebody."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from viewer.domain.errors import WrongUseError
from viewer.domain.item import Item
from viewer.domain.privacy import PixelReview, ReviewDecision
from viewer.services.privacy.word_scan import (
    found_in,
    marked_in,
    named_in,
    words_of,
    words_sha256,
)
from viewer.store import cases, consents
from viewer.store.database import Store, open_store


@dataclass(frozen=True, slots=True)
class WordsToRead:
    """An item's text that may identify somebody, or that has been decided about.

    ``sha256`` is the key of a decision, so that it applies to exactly the text that was
    read; ``found`` are the kinds of identifiers found. ``decision`` is None without
    one.
    """

    item: str
    sha256: str
    text: str
    found: tuple[str, ...]
    decision: ReviewDecision | None

    @property
    def pieces(self) -> tuple[tuple[str, bool], ...]:
        """The text in pieces, each with whether it was found."""
        return marked_in(self.text)


def words_to_read(
    store: Store, name: str, keys: Sequence[str] = ()
) -> tuple[WordsToRead, ...]:
    """Return the item texts that a person has to read, or has decided about.

    ``keys`` selects items; empty means all.
    """
    decided = consents.reviews(store)
    every = (_to_read(item, decided) for item in _items(store, name, keys))
    return tuple(one for one in every if one.decision is not None or one.found)


def words_of_dataset(store: Path, name: str) -> tuple[WordsToRead, ...]:
    """Call :func:`words_to_read` for the store at a path."""
    with open_store(store) as opened:
        return words_to_read(opened, name)


def word_rows(
    store: Store, name: str, keys: Sequence[str] = ()
) -> list[dict[str, object]]:
    """Return the texts that a person has to read, or has decided about, as rows.

    A row has the item's key, the decision, the kinds found, and the passages themselves
    for the person to read. ``keys`` selects items; empty means all.
    """
    return [
        {
            "item": one.item,
            "decision": "" if one.decision is None else one.decision.value,
            "found": ", ".join(one.found),
            "words": " … ".join(found_in(one.text)),
        }
        for one in words_to_read(store, name, keys)
    ]


def decide_words(
    store: Store, name: str, decision: ReviewDecision, keys: Sequence[str] = ()
) -> None:
    """Store one decision about the text of items; it applies to exactly this text.

    Without ``keys`` it covers every item whose text may identify somebody.
    """
    items = [
        item
        for item in _items(store, name, keys)
        if keys or named_in("\n".join(words_of(item)))
    ]
    _keep(store, map(words_sha256, items), decision)


def keep_words(
    store: Path, words: Iterable[WordsToRead], decision: ReviewDecision
) -> None:
    """Store one decision about text that a person read, and about no later text."""
    with open_store(store) as opened:
        _keep(opened, (one.sha256 for one in words), decision)


def _keep(store: Store, hashes: Iterable[str], decision: ReviewDecision) -> None:
    consents.add_reviews(store, [PixelReview(sha256, decision) for sha256 in hashes])


def _to_read(item: Item, decided: Mapping[str, PixelReview]) -> WordsToRead:
    sha256, text = words_sha256(item), "\n".join(words_of(item))
    review = decided.get(sha256)
    decision = None if review is None else review.decision
    return WordsToRead(item.key, sha256, text, named_in(text), decision)


def _items(store: Store, name: str, keys: Sequence[str]) -> Iterator[Item]:
    items = cases.dataset_named(store, name).items
    known = {item.key for item in items}
    if missing := [key for key in keys if key not in known]:
        raise WrongUseError(
            f"'{name}' has no case '{missing[0]}'.",
            f"overread cases {name} lists those that it has.",
        )
    yield from (item for item in items if not keys or item.key in keys)
