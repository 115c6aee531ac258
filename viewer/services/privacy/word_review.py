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
    """An item's words that seem to name somebody, or that were decided about.

    ``sha256`` is what a decision is kept under, so that it holds for exactly the words
    that were read; ``found`` are the kinds of what was found in them. ``decision`` is
    None if a person decided nothing yet.
    """

    item: str
    sha256: str
    text: str
    found: tuple[str, ...]
    decision: ReviewDecision | None

    @property
    def pieces(self) -> tuple[tuple[str, bool], ...]:
        """The words in pieces, each with whether it was found."""
        return marked_in(self.text)


def words_to_read(
    store: Store, name: str, keys: Sequence[str] = ()
) -> tuple[WordsToRead, ...]:
    """Return the item texts that a person has to read, or has decided about.

    ``keys`` are the items wanted, all where empty.
    """
    decided = consents.reviews(store)
    every = (_to_read(item, decided) for item in _items(store, name, keys))
    return tuple(one for one in every if one.decision is not None or one.found)


def words_of_dataset(store: Path, name: str) -> tuple[WordsToRead, ...]:
    """Do as :func:`words_to_read` in the store of a file."""
    with open_store(store) as opened:
        return words_to_read(opened, name)


def word_rows(
    store: Store, name: str, keys: Sequence[str] = ()
) -> list[dict[str, object]]:
    """Return as rows what a person has to read, or has decided about.

    A row has the item's key, the decision, the kinds of what was found, and the places
    themselves for the person to read. ``keys`` are the items wanted, all where empty.
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
    """Keep one decision about the words of items; it holds for exactly these words.

    Without ``keys`` it is about every item whose words seem to name somebody.
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
    """Keep one decision about words that a person read, and about no later ones."""
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
