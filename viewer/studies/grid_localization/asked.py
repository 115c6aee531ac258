"""What a run asked, in the order of its tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from viewer.domain.case import NAMED_VIEWS
from viewer.domain.grid import grids_in_words
from viewer.domain.run import RunSpec
from viewer.studies.grid_localization.absent import present
from viewer.studies.grid_localization.params import Params
from viewer.studies.grid_localization.placed import PlacedTrial
from viewer.studies.grid_localization.plan import conditions, is_varied
from viewer.studies.protocol import ABSENT_SUFFIX
from viewer.studies.tables import ALL_VIEWS

MACRO: Final = "(macro)"
"""The finding of rows that are means over findings."""


@dataclass(frozen=True)
class Asked:
    """The findings, views, grids and models of a run, expected ones first.

    ``often`` is True if an item was asked more than once, ``measured`` if an answer may
    be other than a cell; the absent-finding arm is ignored.
    """

    params: Params
    seed: int
    findings: tuple[str, ...]
    views: tuple[str, ...]
    conditions: tuple[str, ...]
    models: tuple[str, ...]
    often: bool
    measured: bool

    @property
    def own(self) -> tuple[str, ...]:
        """The conditions that an ablation does not vary."""
        return tuple(name for name in self.conditions if not is_varied(name))

    @property
    def grids(self) -> dict[object, str]:
        """Each condition's grid without the word, as narrow columns have it."""
        return {name: name.removeprefix("grid=") for name in self.conditions}

    @property
    def draws(self) -> dict[str, int]:
        """The options of estimators that resample patients."""
        return {"replicates": self.params.replicates, "seed": self.seed}


def asked(results: Sequence[PlacedTrial], params: Params, spec: RunSpec) -> Asked:
    """Return the findings, views, grids and models that a run asked."""
    grids = (one.condition.removesuffix(ABSENT_SUFFIX) for one in results)
    there = present(results)
    return Asked(
        params,
        spec.seed,
        in_order(params.findings, (one.finding for one in results)),
        (*in_order(NAMED_VIEWS, (one.view for one in results)), ALL_VIEWS),
        in_order([one.name for one in conditions(params)], grids),
        in_order([one.name for one in spec.models], (one.model for one in results)),
        any(one.repeat for one in there),
        any(one.placed.measures for one in there),
    )


def in_order(first: Sequence[str], present: Iterable[str]) -> tuple[str, ...]:
    """Return the values that occur: expected ones in order, then the others."""
    there = set(present)
    expected = tuple(name for name in first if name in there)
    return (*expected, *sorted(there - set(first)))


def spoken(condition: str) -> str:
    """Return a condition's display name: ``grid=8``, or ``8``, is an 8 × 8 grid."""
    return grids_in_words(f"grid={condition.removeprefix('grid=')}")
