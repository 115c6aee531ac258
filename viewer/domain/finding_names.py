"""Names of findings: spellings of one name, and synonyms of one finding.

Questions, tables and the window use the words of the data set, or those typed by the
user. Synonyms only matter when a reference is looked up.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeVar

T = TypeVar("T")

FINDINGS: Final = (
    "Enlarged Cardiomediastinum",
    "Cardiomegaly",
    "Airspace Opacity",
    "Lung Lesion",
    "Edema",
    "Consolidation",
    "Atelectasis",
    "Pneumothorax",
    "Pleural Effusion",
    "Support Devices",
)
"""The ten tasks that CheXlocalize segments (Saporta et al. 2022)."""

SYNONYMS: Final[Mapping[str, str]] = {
    "Airspace Opacity": "Lung Opacity",
    "Lung Opacity": "Airspace Opacity",
}
"""Name → the other name of the same finding.

CheXlocalize's masks say Airspace Opacity, CheXpert's labels Lung Opacity (E000-02).
"""


def plain_name(name: str) -> str:
    """Return a name in lower case, with single blanks for underscores and hyphens."""
    return " ".join(name.casefold().replace("_", " ").replace("-", " ").split())


_SPELLED: Final = {plain_name(name): name for name in (*FINDINGS, *SYNONYMS)}


def spelled(name: str) -> str:
    """Return the usual spelling of one of the ten tasks; other names are unchanged.

    Only case, blanks and hyphens change, never the word.
    """
    return _SPELLED.get(plain_name(name), name)


def concept(name: str) -> str:
    """Return one canonical name for all synonyms of a finding, for comparison only."""
    known = spelled(name)
    # Either of two synonyms gives the same: the first by the alphabet.
    return min(known, SYNONYMS.get(known, known))


def own_word(name: str, words: Iterable[str]) -> str | None:
    """Return which of ``words`` is a name or else a synonym of it, None if none is."""
    by_name = {plain_name(word): word for word in words}
    for wanted in (name, SYNONYMS.get(spelled(name), name)):
        if plain_name(wanted) in by_name:
            return by_name[plain_name(wanted)]
    return None


class ByFinding(Mapping[str, T]):
    """A mapping by finding, in a data set's words, that accepts synonyms as well.

    Iteration lists only the data set's words; an exact match goes before a synonym.
    """

    def __init__(self, values: Mapping[str, T]) -> None:
        self._values = values

    def __getitem__(self, finding: str) -> T:
        return self._values[self._own(finding)]

    def __contains__(self, finding: object) -> bool:
        return self._own(str(finding)) in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)

    def _own(self, finding: str) -> str:
        other = SYNONYMS.get(finding)
        return finding if other is None or finding in self._values else other
