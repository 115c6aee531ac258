"""Contents of a data set, known without reading it, and a study's requirements."""

from collections.abc import Callable, Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Holdings:
    """The contents of a data set.

    ``places`` tells whether any image has a finding's mask or boxes; ``facts`` are the
    names of the facts that its items have, once for each set of names.
    """

    places: bool = False
    facts: tuple[frozenset[str], ...] = ()

    def has_item(self, *names: str, without: Collection[str] = ()) -> bool:
        """Tell whether any item has all these facts, and none that it must not."""
        wanted, unwanted = frozenset(names), frozenset(without)
        return any(wanted <= have and not unwanted & have for have in self.facts)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a study needs, in the plural, and how a person gets it.

    ``source`` is a sentence in the words of the window's menus; ``is_in`` tells whether
    a data set holds any of it. A set that does can still have nothing to ask about
    under some settings.
    """

    what: str
    source: str
    is_in: Callable[[Holdings], bool]

    def lacking(self, holdings: Holdings) -> str:
        """Return a phrase for the data that a data set lacks, "" if it is suitable."""
        return "" if self.is_in(holdings) else f"no {self.what}"
