"""Every open stack in order, and which of them match the filter.

The browser shows a part of them at a time, so that a key typed in the filter costs the
same whether a hundred cases are open or a hundred thousand.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from viewer.domain.case import ImageRef, View
from viewer.ui.panels.read.hanging import CaseRows, Chosen, Stack, StudyRows

Key = tuple[str, ...]
"""The keys of a patient, a study and a stack."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A stack with what stands above it; ``text`` is what a filter looks in."""

    case: CaseRows
    study: StudyRows
    stack: Stack
    text: str
    key: Key

    def chosen(self, position: int = 0) -> Chosen:
        """Return the stack with its study and the patient's earlier ones, to hang."""
        priors = self.case.before(self.study)
        return Chosen(self.stack, self.study.stacks, position, priors)


class Entries:
    """Makes entries of cases; texts are worked out once for stacks that stay."""

    def __init__(self) -> None:
        self._texts: dict[Key, tuple[int, str]] = {}

    def of(self, cases: Sequence[CaseRows]) -> tuple[Entry, ...]:
        """Return an entry for every stack, in order."""
        return tuple(
            self._entry(case, study, stack)
            for case in cases
            for study in case.studies
            for stack in study.stacks
        )

    def _entry(self, case: CaseRows, study: StudyRows, stack: Stack) -> Entry:
        key, size = (case.key, study.key, stack.key), len(stack.images)
        known = self._texts.get(key)
        if known is None or known[0] != size:
            above = f"{case.words} {study.words}"
            words = (above, *captions(stack), stack.images[0].ref.path.name)
            known = self._texts[key] = (size, " ".join(words).lower())
        return Entry(case, study, stack, known[1], key)


class CaseListing:
    """The entries, and the numbers of those that match the filter."""

    def __init__(self) -> None:
        self.entries: Sequence[Entry] = ()
        self.matched: Sequence[int] = ()
        self._texts: list[str] = []
        self._words: tuple[str, ...] = ()

    def show(self, entries: Sequence[Entry]) -> None:
        """List these entries; the filter stays."""
        self.entries, self._texts = entries, [entry.text for entry in entries]
        self._match(range(len(entries)))

    def filter(self, text: str) -> None:
        """Match the entries that have every word."""
        before, self._words = self._words, tuple(text.lower().split())
        narrows = all(any(old in new for new in self._words) for old in before)
        self._match(self.matched if narrows else range(len(self.entries)))

    def _match(self, among: Sequence[int]) -> None:
        texts = self._texts
        for word in self._words:
            if len(among) == len(texts):
                among = [i for i, text in enumerate(texts) if word in text]
            else:
                among = [i for i in among if word in texts[i]]
        self.matched = among

    def place_of(self, key: Key | None) -> int | None:
        """Return the place of an entry among those that match."""
        number = self._number_of(key) if key is not None else None
        if number is None:
            return None
        place = bisect_left(self.matched, number)
        there = place < len(self.matched) and self.matched[place] == number
        return place if there else None

    def entry_of(self, key: Key | None) -> Entry | None:
        """Return an entry by its key, whether it matches or not."""
        number = self._number_of(key) if key is not None else None
        return None if number is None else self.entries[number]

    def holding(self, ref: ImageRef) -> tuple[Entry, int] | None:
        """Return the entry of an image, and the image's position in its stack."""
        for entry in self.entries:
            for position, image in enumerate(entry.stack.images):
                if image.ref == ref:
                    return entry, position
        return None

    def _number_of(self, key: Key) -> int | None:
        return next((i for i, e in enumerate(self.entries) if e.key == key), None)


def captions(stack: Stack) -> tuple[str, str]:
    """Return the two lines of a stack: view or name first, whichever tells more."""
    projected = stack.view in {View.FRONTAL, View.LATERAL}
    return (stack.words, stack.name) if projected else (stack.name, stack.words)
