"""Every open stack in order, and which of them match the filter.

The browser shows a part of them at a time, so that a key typed in the filter costs the
same whether a hundred cases are open or a hundred thousand.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.case import ImageRef, ReadingState, View
from viewer.ui.panels.read.hanging import CaseRows, Chosen, Stack, StudyRows, dated

Key = tuple[str, ...]
"""The keys of a patient, a study and a stack."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A stack with what stands above it."""

    case: CaseRows
    study: StudyRows
    stack: Stack
    key: Key

    def chosen(self, position: int = 0) -> Chosen:
        """Return the stack with its study and the patient's earlier ones, to hang."""
        priors = self.case.before(self.study)
        return Chosen(self.stack, self.study.stacks, position, priors)


Ranks = npt.NDArray[np.intp]
"""The place of each entry in some order, equal ones sharing one; or their numbers."""
_BLOCK: Final = 4096
"""Texts in one array; in it each takes as much memory as the longest."""


@dataclass(frozen=True, eq=False)
class Listed:
    """Every entry, and what finding, filtering and sorting them needs made once."""

    entries: tuple[Entry, ...] = ()
    numbers: Mapping[Key, int] = field(default_factory=dict)
    """Where among all the entry with a key is."""
    stacks: tuple[str, ...] = ()
    """The key of each entry's stack."""
    texts: tuple[npt.NDArray[np.bytes_], ...] = ()
    """The text that a filter searches: each entry in lower-case UTF-8, in blocks."""

    def matching(
        self, words: Iterable[str], among: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.bool_]:
        """Tell of each entry ``among`` these whether its text has every word."""
        found = among.copy()
        for word in words:
            sought = word.encode(errors="surrogatepass")
            for number, texts in enumerate(self.texts):
                here = found[number * _BLOCK : (number + 1) * _BLOCK]
                some = texts if here.all() else texts[here]
                here[here] = np.strings.find(some, sought) >= 0
        return found


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
    ranks: Callable[[Listed, States], Ranks]
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
        self._texts: dict[Key, tuple[tuple[int, View], bytes]] = {}

    def of(self, cases: Sequence[CaseRows]) -> Listed:
        """Return an entry for every stack, in order."""
        entries = tuple(
            Entry(case, study, stack, (case.key, study.key, stack.key))
            for case in cases
            for study in case.studies
            for stack in study.stacks
        )
        texts = [self._text(entry) for entry in entries]
        starts = range(0, len(texts), _BLOCK)
        return Listed(
            entries,
            {entry.key: number for number, entry in enumerate(entries)},
            tuple(entry.stack.key for entry in entries),
            tuple(np.array(texts[at : at + _BLOCK]) for at in starts),
        )

    def _text(self, entry: Entry) -> bytes:
        stack = entry.stack
        facts, known = (len(stack.images), stack.view), self._texts.get(entry.key)
        if known is None or known[0] != facts:
            above = f"{entry.case.words} {entry.study.words} {view_words(stack)}"
            words = (above, *captions(stack), stack.images[0].ref.path.name)
            text = " ".join(words).lower().encode(errors="surrogatepass")
            known = self._texts[entry.key] = (facts, text)
        return known[1]


class CaseListing:
    """The entries as found, and the numbers of those that match, in the order listed.

    Entries stay where they are: moving a hundred thousand takes longer than sorting.
    """

    def __init__(self) -> None:
        self._listed = Listed()
        self.matched: Ranks = np.arange(0)
        self.states: dict[str, ReadingState] = {}
        self._choice = ColumnChoice()
        self._words: tuple[str, ...] = ()
        self._hits = np.ones(0, bool)
        self._ranks: dict[str, Ranks] = {}
        self._order: Ranks | None = None

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries in the order found."""
        return self._listed.entries

    def show(self, listed: Listed) -> None:
        """List these entries; the filter and the order stay."""
        self._listed = listed
        self._ranks.clear()
        self._order = None
        self._match(np.ones(len(listed.entries), bool))

    def sort(self, choice: ColumnChoice) -> None:
        """List the entries in another order."""
        if choice != self._choice:
            self._choice = choice
            # States that changed leave rows where they are until they are sorted anew.
            self._ranks.pop(_READ, None)
            self._order = None
            self._arrange()

    def in_order(self) -> Iterator[Entry]:
        """Yield every entry, whether it matches or not."""
        return (self.entries[number] for number in self._ordered())

    def _ordered(self) -> Ranks:
        """Return the numbers of all entries in the order listed."""
        if self._order is None:
            by = self._choice.sorted_by
            column = next((one for one in COLUMNS if one.title == by), None)
            if column is None:
                self._order = np.arange(len(self.entries))
                return self._order
            if by not in self._ranks:
                self._ranks[by] = column.ranks(self._listed, self.states)
            ranks = self._ranks[by]
            ranks = -ranks if self._choice.descending else ranks
            self._order = np.argsort(ranks, kind="stable")
        return self._order

    def state_of(self, stack: Stack) -> ReadingState:
        """Return the reading state of a stack."""
        return self.states.get(stack.key, ReadingState.UNREAD)

    def filter(self, text: str) -> None:
        """Match the entries that have every word."""
        before, self._words = self._words, tuple(text.lower().split())
        narrows = all(any(old in new for new in self._words) for old in before)
        self._match(self._hits if narrows else np.ones(len(self.entries), bool))

    def _match(self, among: npt.NDArray[np.bool_]) -> None:
        self._hits = self._listed.matching(self._words, among)
        self._arrange()

    def _arrange(self) -> None:
        """List what matches in the chosen order."""
        order = self._ordered()
        self.matched = order[self._hits[order]]

    def at(self, place: int) -> Entry:
        """Return the entry at a place among those that match."""
        return self.entries[int(self.matched[place])]

    def place_of(self, key: Key | None) -> int | None:
        """Return the place of an entry among those that match."""
        number = self._listed.numbers.get(key) if key is not None else None
        if number is None or not self._hits[number]:
            return None
        return int(np.argmax(self.matched == number))

    def entry_of(self, key: Key | None) -> Entry | None:
        """Return an entry by its key, whether it matches or not."""
        number = self._listed.numbers.get(key) if key is not None else None
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


def _ranked(keys: Iterable[str | int]) -> Ranks:
    """Return the place of each key among all that there are."""
    listed = list(keys)
    places = {key: place for place, key in enumerate(sorted(set(listed)))}
    return np.fromiter(map(places.__getitem__, listed), np.intp, len(listed))


def _when(entry: Entry) -> str:
    """Return a study's date and time as one sort key: faster than a tuple."""
    return f"{entry.study.date}\0{entry.study.time}"


def _state(entry: Entry, states: States) -> ReadingState:
    return states.get(entry.stack.key, ReadingState.UNREAD)


def _progress(listed: Listed, states: States) -> Ranks:
    """Rank unread before opened before done, without hashing a state."""
    opened, done = ReadingState.OPEN, ReadingState.DONE
    known = map(states.get, listed.stacks)
    return np.array([(s is opened) + 2 * (s is done) for s in known], np.intp)


COLUMNS: Final = (
    Column(
        "Case",
        "Patients, studies and images",
        lambda entry, _: "\n".join(captions(entry.stack)),
        lambda listed, _: _ranked(
            f"{entry.case.words}\0{_when(entry)}" for entry in listed.entries
        ),
    ),
    Column(
        "View",
        "What the image shows; F2 corrects it",
        lambda entry, _: view_words(entry.stack),
        lambda listed, _: _ranked(view_words(entry.stack) for entry in listed.entries),
        62,
    ),
    Column(
        "Date",
        "Date of the study",
        lambda entry, _: dated(entry.study.date),
        lambda listed, _: _ranked(map(_when, listed.entries)),
        84,
    ),
    Column(
        "Images",
        "Number of images",
        lambda entry, _: f"{len(entry.stack.images):,}",
        lambda listed, _: _ranked(len(entry.stack.images) for entry in listed.entries),
        56,
    ),
    Column(
        _READ,
        "○ unread, ◐ opened, ✓ done",
        lambda entry, states: STATE_SIGNS[_state(entry, states)],
        _progress,
        38,
    ),
)
