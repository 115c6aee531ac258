"""What the other patients' references say, for the prior baseline."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from viewer.domain.case import Dataset, DatasetImage
from viewer.domain.run import Condition
from viewer.studies.grid_localization.findings import canonical
from viewer.studies.grid_localization.params import Params
from viewer.studies.grid_localization.plan import Item, items_of
from viewer.studies.grid_localization.reference import grid_of, reference_of

_Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Content:
    """A data set known by its content, so that what is counted can be kept."""

    root_sha256: str
    dataset: Dataset = field(compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class _Totals:
    """Per-cell counts (cells,) of qualifying references: of all, and by patient."""

    total: _Counts
    by_patient: Mapping[str, _Counts]


def reference_counts(
    image: DatasetImage,
    finding: str,
    dataset: Dataset,
    condition: Condition,
    params: Params,
) -> tuple[tuple[int, ...], ...]:
    """Return how often each cell qualifies among the other patients' references.

    The whole data set counts, whatever part of it a run asks about; rows × columns.
    """
    content = _Content(dataset.root_sha256, dataset)
    totals = _totals(content, canonical(finding), str(image.view), condition, params)
    own = totals.by_patient.get(image.patient, 0)
    grid = grid_of(condition, params)
    others = (totals.total - own).reshape(grid.rows, grid.columns)
    return tuple(tuple(int(n) for n in row) for row in others)


@lru_cache(maxsize=1024)
def _totals(
    content: _Content, finding: str, view: str, condition: Condition, params: Params
) -> _Totals:
    grid = grid_of(condition, params)
    by_patient: dict[str, _Counts] = {}
    total = np.zeros(grid.rows * grid.columns, dtype=np.int64)
    for item in _usable_items(content, params):
        if item.mask is not None and (item.finding, item.view) == (finding, view):
            hits = list(reference_of(item.mask, condition, params).hits)
            by_patient.setdefault(item.patient, np.zeros_like(total))[hits] += 1
            total[hits] += 1
    return _Totals(total, by_patient)


@lru_cache(maxsize=8)
def _usable_items(content: _Content, params: Params) -> tuple[Item, ...]:
    items = items_of(content.dataset, params)
    return tuple(item for item in items if not item.exclusion)
