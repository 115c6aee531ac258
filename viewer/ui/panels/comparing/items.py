"""Which items of a comparison are shown, and what they are called."""

from dataclasses import dataclass

from viewer.domain.study_words import StudyWords
from viewer.services.comparing.causes import Cause
from viewer.services.comparing.runs import Comparison, condition_words
from viewer.services.comparing.sides import Pair
from viewer.services.comparing.statistics import MICRO, GroupCounts
from viewer.ui.panels.comparing.cells import Cell
from viewer.ui.panels.comparing.film import PairShown


@dataclass(frozen=True, slots=True)
class ItemsWanted:
    """The items to show: those of a group in some cells, with one cause or any."""

    group: GroupCounts
    cells: frozenset[Cell]
    cause: str


def items_wanted(comparison: Comparison, wanted: ItemsWanted) -> tuple[PairShown, ...]:
    """Return the items that are wanted, in the order planned."""
    why = {flip.pair.first.id: flip.why for flip in comparison.flips}
    group = wanted.group
    found = (
        PairShown(
            pair,
            comparison.images.get(pair.first.image),
            why.get(pair.first.id),
            _called(pair, comparison.words),
        )
        for pair in comparison.pairing.scored
        if pair.hits in wanted.cells
        and pair.condition == group.condition
        and pair.first.finding in group.findings
    )
    return tuple(one for one in found if not wanted.cause or _is_by(one, wanted.cause))


def _called(pair: Pair, words: StudyWords) -> tuple[str, ...]:
    """Return an item's finding, view and condition in the words of its study."""
    if words.places:
        return ()
    one = pair.first
    return (
        words.called("finding", one.finding),
        words.called("view", one.view),
        condition_words(words, pair.condition),
    )


def name_of(group: GroupCounts, words: StudyWords) -> str:
    """Return the displayed name of a group."""
    if group.finding == MICRO:
        return f"Every {words.finding}"
    return words.called("finding", group.finding)


def nothing_compared(comparison: Comparison) -> str:
    """Return why two sides have no item in common that can be compared."""
    why = "No item has a verdict on both sides, so nothing can be compared."
    waits = comparison.words.ungraded if comparison.words.graded else ""
    return "\n".join(filter(None, (why, waits)))


def _is_by(shown: PairShown, cause: str) -> bool:
    return shown.why is not None and Cause(cause) in shown.why.because
