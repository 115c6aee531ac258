"""Which data sets are suitable for a study, and vice versa."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from viewer.domain.holdings import Wanted
from viewer.store.database import open_store
from viewer.store.holdings import holdings_of_all
from viewer.studies.catalog import studies


@dataclass(frozen=True)
class Suiting:
    """What data sets lack for a study: by study, by data set, the newest first.

    "" means that a set is suitable; ``wanted`` is what each study asks about.
    """

    lacking: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    wanted: Mapping[str, Wanted] = field(default_factory=dict)

    @property
    def datasets(self) -> tuple[str, ...]:
        """Every data set there is, the newest first."""
        return next((tuple(found) for found in self.lacking.values()), ())

    def ordered(self, study: str) -> Mapping[str, str]:
        """Return the data sets, suitable ones first, with what each lacks."""
        found = self.lacking.get(study, {})
        return dict(sorted(found.items(), key=lambda one: bool(one[1])))

    def dataset_for(self, study: str, chosen: str = "") -> str:
        """Return the chosen data set if suitable, else the newest that is, or ""."""
        found = self.lacking.get(study, {})
        suiting = [name for name, lack in found.items() if not lack]
        return chosen if chosen in suiting else next(iter(suiting), "")

    def study_for(self, dataset: str, otherwise: str) -> str:
        """Return the study for a data set, or ``otherwise`` if none is suitable.

        The last suitable one is returned, because studies about items come after the
        one for which any image with a reference is suitable.
        """
        suited = [s for s, lacks in self.lacking.items() if lacks.get(dataset) == ""]
        return suited[-1] if suited else otherwise

    def newest_beside(self, known: Iterable[str]) -> str:
        """Return the newest data set, "" if it is already known."""
        newest = next(iter(self.datasets), "")
        return "" if newest in known else newest

    def how_to_get(self, study: str) -> str:
        """Return a sentence that no data set is suitable, and how to get one."""
        want = self.wanted.get(study)
        if want is None:
            return ""
        there = f"No data set here has {want.what}."
        return (
            f"{there if self.datasets else 'There is no data set yet.'} {want.source} "
            f"On the command line overread phantom --study {study} makes a synthetic "
            "one."
        )


def suiting_of(store: Path) -> Suiting:
    """Return the data that each data set lacks for each study, by quick queries."""
    with open_store(store) as opened:
        holdings = holdings_of_all(opened)
    wanted = {study.name: study.wanted for study in studies()}
    lacking = {
        study: {name: want.lacking(held) for name, held in holdings.items()}
        for study, want in wanted.items()
    }
    return Suiting(lacking, wanted)
