"""From a table's multiple-choice questions to validated items.

Questions that cannot be asked or judged are not imported, and a notice says why;
nothing is repaired or guessed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from viewer.domain.case import Notice
from viewer.domain.choice import MOST_OPTIONS, labelled, letter_of, option_of
from viewer.domain.counting import counted
from viewer.domain.item import Item

REJECTED: Final = "rejected_item"
"""The kind of notice of a question that is not imported."""


@dataclass(frozen=True, slots=True)
class ChoiceRow:
    """One question as its table writes it.

    ``number`` is its name within its subset and split, "" if the table has none;
    ``place`` is the row's number. ``options`` may include their letters.
    ``explanations`` has one per option, or is empty. ``problem`` is why the row cannot
    be used unchanged, "" if it can.
    """

    subset: str
    split: str
    number: str
    place: int
    images: tuple[str, ...]
    question: str
    options: tuple[str, ...]
    answer: str
    explanation: str = ""
    explanations: tuple[str, ...] = ()
    problem: str = ""

    @property
    def key(self) -> str:
        """The item's key in its data set."""
        return f"{self.subset}-{self.split}-{self.number or f'row{self.place}'}"

    @property
    def same_question(self) -> tuple[object, ...]:
        """A key that is equal for duplicate questions."""
        asked = " ".join(self.question.split())
        return (self.subset, self.number, self.images, asked, self.options)


class RejectedRowError(Exception):
    """A row that cannot be used; the text is a sentence for a notice."""


def items_of(rows: Iterable[ChoiceRow]) -> tuple[tuple[Item, ...], list[Notice]]:
    """Return the items of rows in order, and what was not imported and why.

    A repeated question, in whatever split, is imported only once, from its first row.
    """
    items: dict[str, Item] = {}
    first: dict[tuple[object, ...], str] = {}
    notices: list[Notice] = []
    for row in rows:
        try:
            item = _item(row)
            _check_new(row, items, first)
        except RejectedRowError as why:
            notices.append(Notice(REJECTED, row.key, str(why)))
            continue
        items[item.key] = item
        first.setdefault(row.same_question, item.key)
        if not item.images:
            text = "It has no image, so it can only be asked as text."
            notices.append(Notice("no_image", item.key, text))
    return tuple(items.values()), notices


def shared_images(items: Sequence[Item], sha256: dict[str, str]) -> Iterator[Notice]:
    """Yield a notice for each image that has questions in two splits.

    Images are the same if their hashes in ``sha256`` are; ``test_tiny`` is a part of
    ``test``, so those two may share images.
    """
    seen: dict[str, dict[str, str]] = {}
    for item in items:
        split = str(item.facts["split"]).removesuffix("_tiny")
        for image in item.images:
            if digest := sha256.get(image):
                seen.setdefault(digest, {}).setdefault(split, image)
    for by_split in seen.values():
        if len(by_split) > 1:
            (one, image), (other, again) = list(by_split.items())[:2]
            text = f"The same image is in {one} and, as {again}, in {other}."
            yield Notice("image_in_two_splits", image, text)


def _check_new(
    row: ChoiceRow, items: dict[str, Item], first: dict[tuple[object, ...], str]
) -> None:
    """Raise for a duplicate question, or for another question of the same name."""
    if row.number and row.same_question in first:
        raise RejectedRowError(f"It repeats {first[row.same_question]}.")
    if row.key in items:
        raise RejectedRowError(
            f"Another question of {row.subset}, {row.split}, has the number "
            f"{row.number}; the first one is used."
        )


def _item(row: ChoiceRow) -> Item:
    if row.problem:
        raise RejectedRowError(row.problem)
    if not row.question.strip():
        raise RejectedRowError("It has no question.")
    if not row.answer.strip():
        raise RejectedRowError("It has no answer.")
    options = option_texts(row.options)
    return Item(
        key=row.key,
        patient=row.images[0] if row.images else row.key,
        kind=row.subset,
        images=row.images,
        facts={
            "number": row.number,
            "subset": row.subset,
            "split": row.split,
            "question": row.question.strip(),
            "options": list(options),
        },
        reference={
            "option": option_named(row.answer, options),
            "answer": row.answer,
            "written": list(row.options),
            "explanation": row.explanation,
            **_explained(row, options),
        },
    )


def _explained(row: ChoiceRow, options: Sequence[str]) -> dict[str, object]:
    """Return an explanation for every option, or nothing."""
    given = list(row.explanations)
    return {"explanations": given} if given and len(given) == len(options) else {}


def option_texts(written: Sequence[str]) -> tuple[str, ...]:
    """Return the options' texts without their letters, which must be in order."""
    if not 2 <= len(written) <= MOST_OPTIONS:
        raise RejectedRowError(
            f"It has {counted(len(written), 'option')}; 2 to {MOST_OPTIONS} can be "
            "lettered."
        )
    read = [labelled(option) for option in written]
    lettered = all(one and one.option == i for i, one in enumerate(read))
    texts = [
        one.text if lettered and one else option.strip()
        for one, option in zip(read, written, strict=True)
    ]
    if not lettered and all(read):
        raise RejectedRowError("Its options' letters are not in order.")
    if not all(texts):
        raise RejectedRowError(f"Its option {letter_of(texts.index(''))} is empty.")
    return tuple(texts)


def option_named(written: str, options: Sequence[str]) -> int:
    """Return the option that an answer names by letter, by text, or by both.

    An answer that names no option, or two, raises RejectedRowError.
    """
    named = labelled(written)
    alone = option_of(written.strip())
    # Words first: an option may itself be a single letter, such as a blood group.
    by_words = _same(written, options)
    if by_words:
        return _only(by_words)
    if alone is not None and alone < len(options):
        return alone
    if named is None:
        raise RejectedRowError("Its answer is not one of its options.")
    by_words = _same(named.text, options)
    if named.option >= len(options) or not (by_words or not named.text):
        raise RejectedRowError("Its answer is not one of its options.")
    if by_words and named.option not in by_words:
        raise RejectedRowError(
            f"Its answer's letter is {letter_of(named.option)}, but its words are "
            f"those of {letter_of(by_words[0])}."
        )
    return named.option


def _same(text: str, options: Sequence[str]) -> list[int]:
    wanted = _plain(text)
    return [i for i, option in enumerate(options) if _plain(option) == wanted]


def _only(options: list[int]) -> int:
    if len(options) > 1:
        raise RejectedRowError(
            f"Its answer's words are those of {letter_of(options[0])} and of "
            f"{letter_of(options[1])}, and no letter decides."
        )
    return options[0]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
