"""Every open stack in order, and which of them match the filter.

The browser shows a part of them at a time, so that a key typed in the filter costs the
same whether a hundred cases are open or a hundred thousand.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from viewer.domain.case import ImageRef, ReadingState, View
from viewer.ui.panels.read.hanging import CaseRows, Chosen, Stack, StudyRows, dated

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


CHOICE: Final = "case_columns"
"""The name of the columns among the choices that the window remembers."""
_READ: Final = "Read"
States = Mapping[str, ReadingState]
"""By the key of a stack; one that is missing is unread."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the list: what it shows of an entry, and what it is sorted by."""

    title: str
    tip: str
    text: Callable[[Entry, States], str]
    key: Callable[[Entry, States], str | int]
    width: int = 0


@dataclass(frozen=True)
class ColumnChoice:
    """The columns that are shown beside the first, and the order of the list.

    ``sorted_by`` is a column's title, "" for the order in which files were found.
    """

    shown: tuple[str, ...] = ("View", "Read")
    sorted_by: str = ""
    descending: bool = False
    widths: Mapping[str, int] = field(default_factory=dict)
    """In pixels, of columns that the user made wider or narrower."""


class Entries:
    """Makes entries of cases; texts are worked out once for stacks that stay."""

    def __init__(self) -> None:
        self._texts: dict[Key, tuple[tuple[int, View], str]] = {}

    def of(self, cases: Sequence[CaseRows]) -> tuple[Entry, ...]:
        """Return an entry for every stack, in order."""
        return tuple(
            self._entry(case, study, stack)
            for case in cases
            for study in case.studies
            for stack in study.stacks
        )

    def _entry(self, case: CaseRows, study: StudyRows, stack: Stack) -> Entry:
        key, facts = (case.key, study.key, stack.key), (len(stack.images), stack.view)
        known = self._texts.get(key)
        if known is None or known[0] != facts:
            above = f"{case.words} {study.words} {view_words(stack)}"
            words = (above, *captions(stack), stack.images[0].ref.path.name)
            known = self._texts[key] = (facts, " ".join(words).lower())
        return Entry(case, study, stack, known[1], key)


class CaseListing:
    """The entries as found, and the numbers of those that match, in the order listed.

    Entries stay where they are: moving a hundred thousand takes longer than sorting.
    """

    def __init__(self) -> None:
        self.entries: Sequence[Entry] = ()
        self.matched: Sequence[int] = ()
        self.states: dict[str, ReadingState] = {}
        self._choice = ColumnChoice()
        self._texts: list[str] = []
        self._words: tuple[str, ...] = ()
        self._hits: Sequence[int] = ()
        self._orders: dict[tuple[str, bool], Sequence[int]] = {}
        self._keys: list[Key] = []
        self._numbers: dict[Key, int | None] = {}

    def show(self, entries: Sequence[Entry]) -> None:
        """List these entries; the filter and the order stay."""
        self.entries, self._texts = entries, [entry.text for entry in entries]
        self._orders.clear()
        self._keys, self._numbers = [], {}
        self._match(range(len(entries)))

    def sort(self, choice: ColumnChoice) -> None:
        """List the entries in another order."""
        if choice != self._choice:
            self._choice = choice
            # States that changed leave rows where they are until they are sorted anew.
            self._orders.pop((_READ, choice.descending), None)
            self._arrange()

    def in_order(self) -> Iterator[Entry]:
        """Yield every entry, whether it matches or not."""
        return (self.entries[number] for number in self._order())

    def _order(self) -> Sequence[int]:
        """Return the numbers of all entries in the order listed, worked out once."""
        by, backwards = self._choice.sorted_by, self._choice.descending
        column = next((one for one in COLUMNS if one.title == by), None)
        if column is None:
            return range(len(self.entries))
        known = self._orders.get((by, backwards))
        if known is not None:
            return known
        keys = [column.key(entry, self.states) for entry in self.entries]
        numbers = range(len(keys))
        order = sorted(numbers, key=keys.__getitem__, reverse=backwards)
        self._orders[by, backwards] = order
        return order

    def state_of(self, stack: Stack) -> ReadingState:
        """Return the reading state of a stack."""
        return self.states.get(stack.key, ReadingState.UNREAD)

    def filter(self, text: str) -> None:
        """Match the entries that have every word."""
        before, self._words = self._words, tuple(text.lower().split())
        narrows = all(any(old in new for new in self._words) for old in before)
        self._match(self._hits if narrows else range(len(self.entries)))

    def _match(self, among: Sequence[int]) -> None:
        texts = self._texts
        for word in self._words:
            if len(among) == len(texts):
                among = [i for i, text in enumerate(texts) if word in text]
            else:
                among = [i for i in among if word in texts[i]]
        self._hits = among
        self._arrange()

    def _arrange(self) -> None:
        """List what matches in the chosen order."""
        order, hits = self._order(), self._hits
        if len(hits) < len(order) and isinstance(order, list):
            hit = bytearray(len(order))
            for number in hits:
                hit[number] = True
            order = [number for number in order if hit[number]]
        self.matched = hits if isinstance(order, range) else order

    def at(self, place: int) -> Entry:
        """Return the entry at a place among those that match."""
        return self.entries[self.matched[place]]

    def place_of(self, key: Key | None) -> int | None:
        """Return the place of an entry among those that match."""
        number = self._number_of(key) if key is not None else None
        if number is None or number not in self.matched:
            return None
        return self.matched.index(number)

    def entry_of(self, key: Key | None) -> Entry | None:
        """Return an entry by its key, whether it matches or not."""
        number = self._number_of(key) if key is not None else None
        return None if number is None else self.entries[number]

    def holding(self, ref: ImageRef) -> tuple[Entry, int] | None:
        """Return the entry of an image, and the image's position in its stack."""
        # Texts: comparing or hashing a hundred thousand paths takes ten times longer.
        path, frame = str(ref.path), ref.frame
        for entry in self.entries:
            for position, image in enumerate(entry.stack.images):
                here = image.ref
                if here.frame == frame and str(here.path) == path:
                    return entry, position
        return None

    def _number_of(self, key: Key) -> int | None:
        """Return where an entry is; searched for, as few are ever asked for."""
        if key not in self._numbers:
            if not self._keys:
                self._keys = [entry.key for entry in self.entries]
            there = key in self._keys
            self._numbers[key] = self._keys.index(key) if there else None
        return self._numbers[key]


def captions(stack: Stack) -> tuple[str, str]:
    """Return the two lines of a stack: view or name first, whichever tells more."""
    projected = stack.view in {View.FRONTAL, View.LATERAL}
    return (stack.words, stack.name) if projected else (stack.name, stack.words)


def view_words(stack: Stack) -> str:
    """Return the view position in the header, else the view; "?" if it is unknown."""
    if stack.images[0].view_position:
        return stack.images[0].view_position
    if stack.view is View.OTHER:
        return ""
    return "?" if stack.view is View.UNKNOWN else stack.view.value


STATE_SIGNS: Final = {
    ReadingState.UNREAD: "○",
    ReadingState.OPEN: "◐",
    ReadingState.DONE: "✓",
}
"""Told apart by shape."""


_RANKS: Final = {state: rank for rank, state in enumerate(ReadingState)}


def _when(entry: Entry) -> str:
    """Return a study's date and time as one sort key: faster than a tuple."""
    return f"{entry.study.date}\0{entry.study.time}"


def _state(entry: Entry, states: States) -> ReadingState:
    return states.get(entry.stack.key, ReadingState.UNREAD)


COLUMNS: Final = (
    Column(
        "Case",
        "Patients, studies and images",
        lambda entry, _: "\n".join(captions(entry.stack)),
        lambda entry, _: f"{entry.case.words}\0{_when(entry)}",
    ),
    Column(
        "View",
        "What the image shows; F2 corrects it",
        lambda entry, _: view_words(entry.stack),
        lambda entry, _: view_words(entry.stack),
        52,
    ),
    Column(
        "Date",
        "Date of the study",
        lambda entry, _: dated(entry.study.date),
        lambda entry, _: _when(entry),
        84,
    ),
    Column(
        "Images",
        "Number of images",
        lambda entry, _: f"{len(entry.stack.images):,}",
        lambda entry, _: len(entry.stack.images),
        56,
    ),
    Column(
        _READ,
        "○ unread, ◐ opened, ✓ done (Ctrl+M)",
        lambda entry, states: STATE_SIGNS[_state(entry, states)],
        lambda entry, states: _RANKS[_state(entry, states)],
        38,
    ),
)
