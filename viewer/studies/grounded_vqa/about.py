"""What trials are about that their names do not say: anatomy and data set."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from viewer.domain.case import Dataset
from viewer.domain.item import TASK_MARK
from viewer.domain.result import TrialResult
from viewer.studies.grounded_vqa.arms import is_perturbed
from viewer.studies.grounded_vqa.items import anatomy_of, source_of


@dataclass(frozen=True)
class About:
    """The anatomy and the data set of each question, by its key.

    ``names`` are the data sets in the order of the trials.
    """

    names: tuple[str, ...]
    anatomies: Mapping[str, str] = field(default_factory=dict)
    datasets: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, results: Iterable[TrialResult], name: str, dataset: Dataset | None
    ) -> Self:
        """Return what a data set tells; without one it has the run's ``name`` alone."""
        items = dataset.items if dataset else ()
        datasets = {item.key: source_of(item) or name for item in items}
        asked = (datasets.get(question_name(one), name) for one in results)
        anatomies = {item.key: anatomy_of(item) for item in items}
        return cls(tuple(dict.fromkeys(asked)) or (name,), anatomies, datasets)

    @property
    def first(self) -> str:
        """The name of the first data set."""
        return self.names[0]

    @property
    def second(self) -> str:
        """The name of the second data set, "" if there is only one."""
        return "".join(self.names[1:2])

    def dataset(self, one: TrialResult) -> str:
        """Return the data set that a trial's question is from."""
        return self.datasets.get(question_name(one), self.first)

    def place(self, one: TrialResult) -> int:
        """Return the place of that data set, from 1."""
        return self.names.index(self.dataset(one)) + 1

    def anatomy(self, one: TrialResult) -> str:
        """Return the anatomy that a trial's question is about before any change."""
        return self.anatomies.get(question_name(one), "")


def question_name(one: TrialResult) -> str:
    """Return the question as it is, without what was perturbed."""
    plain = not is_perturbed(one.condition)
    return one.item if plain else one.item.rpartition(TASK_MARK)[0]
