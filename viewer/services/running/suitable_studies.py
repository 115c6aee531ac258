"""Which data sets suit a study, and which studies suit a data set."""

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

    A phrase of "" is a set that suits; ``wanted`` is what each study asks about.
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
        """Return the chosen data set where it suits, else the newest, "" for none."""
        found = self.lacking.get(study, {})
        suiting = [name for name, lack in found.items() if not lack]
        return chosen if chosen in suiting else next(iter(suiting), "")

    def study_for(self, dataset: str, otherwise: str) -> str:
        """Return the study that a data set is for; ``otherwise`` where it suits none.

        Of several it is the last, because those that ask about items come after the
        one that any image with a reference suits.
        """
        suited = [s for s, lacks in self.lacking.items() if lacks.get(dataset) == ""]
        return suited[-1] if suited else otherwise

    def newest_beside(self, known: Iterable[str]) -> str:
        """Return the newest data set, "" if it is known already."""
        newest = next(iter(self.datasets), "")
        return "" if newest in known else newest

    def how_to_get(self, study: str) -> str:
        """Return that no data set suits a study, and where one is from."""
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
