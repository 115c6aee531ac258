"""Trials grouped by finding and view, summed up for the estimates."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viewer.domain.answer import Status
from viewer.domain.result import TrialResult
from viewer.metrics.skill import Stratum, stratum
from viewer.studies.grid_localization.tally import Tally, is_settled, tally

ALL_VIEWS = "all"
_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, order=True)
class Arm:
    """A model under a condition."""

    condition: str
    model: str


@dataclass(frozen=True, eq=False)
class Group:
    """The trials of one finding, in one view or in all, under one arm.

    ``item_hits`` and ``item_trials`` (items,) count settled trials, ``hit_sets``
    (items,) the qualifying cells of each item; ``strata`` has one entry per view.
    """

    tally: Tally
    item_hits: _Ints
    item_trials: _Ints
    hit_sets: _Ints
    n_cells: int
    strata: tuple[Stratum, ...]


Groups = Mapping[Arm, Mapping[tuple[str, str], Group]]
"""By arm, then by finding and view; view ``all`` joins the views."""


def grouped(results: Sequence[TrialResult]) -> Groups:
    """Group trials; a finding and view without a planned trial has no group."""
    patients = {name: i for i, name in enumerate(sorted({r.patient for r in results}))}
    trials: dict[Arm, dict[tuple[str, str], list[TrialResult]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for result in results:
        arm = Arm(result.condition, result.model)
        trials[arm][result.finding, result.view].append(result)
    return {
        arm: _with_all_views(
            {key: _group(of_key, patients) for key, of_key in by_key.items()}
        )
        for arm, by_key in trials.items()
    }


def joined(groups: Iterable[Group]) -> Group:
    """Return several groups as one."""
    parts = list(groups)
    return Group(
        sum((part.tally for part in parts), Tally()),
        np.concatenate([part.item_hits for part in parts]),
        np.concatenate([part.item_trials for part in parts]),
        np.concatenate([part.hit_sets for part in parts]),
        max(part.n_cells for part in parts),
        tuple(one for part in parts for one in part.strata),
    )


def _with_all_views(
    groups: Mapping[tuple[str, str], Group],
) -> dict[tuple[str, str], Group]:
    by_finding: dict[str, list[Group]] = defaultdict(list)
    for (finding, _), group in sorted(groups.items(), key=lambda pair: pair[0]):
        by_finding[finding].append(group)
    every = {(f, ALL_VIEWS): joined(parts) for f, parts in by_finding.items()}
    return {**groups, **every}


def _group(results: Sequence[TrialResult], patients: Mapping[str, int]) -> Group:
    settled = [result for result in results if is_settled(result)]
    items: dict[str, list[TrialResult]] = defaultdict(list)
    for result in settled:
        items[result.item].append(result)
    by_item = [items[item] for item in sorted(items)]
    return Group(
        tally(results),
        _ints(sum(_is_hit(r) for r in trials) for trials in by_item),
        _ints(len(trials) for trials in by_item),
        _ints(len(trials[0].reference_index) for trials in by_item),
        max((result.n_cells for result in settled), default=0),
        (_stratum(settled, patients),) if settled else (),
    )


def _stratum(settled: Sequence[TrialResult], patients: Mapping[str, int]) -> Stratum:
    return stratum(
        _ints(patients[result.patient] for result in settled),
        max(result.n_cells for result in settled),
        _ints(_answer(result) for result in settled),
        [result.reference_index for result in settled],
    )


def _answer(result: TrialResult) -> int:
    return -1 if result.cell_index is None else result.cell_index


def _is_hit(result: TrialResult) -> bool:
    return result.score.status is Status.SCORED_CORRECT


def _ints(values: Iterable[int]) -> _Ints:
    return np.fromiter(values, dtype=np.int64)
