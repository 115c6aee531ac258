"""A summary of a data set's contents, and what a study requires of them."""

from collections.abc import Callable, Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Holdings:
    """A summary of a data set's contents.

    ``places`` is True if any image has a mask or boxes of a finding; ``facts`` are the
    distinct sets of names of its items' facts.
    """

    places: bool = False
    facts: tuple[frozenset[str], ...] = ()

    def has_item(self, *names: str, without: Collection[str] = ()) -> bool:
        """Tell whether any item has all these facts and none of the excluded ones."""
        wanted, unwanted = frozenset(names), frozenset(without)
        return any(wanted <= have and not unwanted & have for have in self.facts)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a study needs, as a plural noun, and how to get it.

    ``source`` is a sentence in the words of the window's menus; ``is_in`` tells whether
    a data set has any of it. Even then a study may have nothing to ask under some
    settings.
    """

    what: str
    source: str
    is_in: Callable[[Holdings], bool]

    def lacking(self, holdings: Holdings) -> str:
        """Return a phrase for the data that a data set lacks, "" if it has all."""
        return "" if self.is_in(holdings) else f"no {self.what}"
