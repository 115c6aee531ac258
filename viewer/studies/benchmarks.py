"""What each paper prints, with the checks of it (X-05, M-09), by study."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Final

from viewer.domain.report import Table
from viewer.studies.consistency import (
    Check,
    CountCheck,
    flagged,
    published_table,
)
from viewer.studies.published import PublishedValue


@dataclass(frozen=True)
class Benchmark:
    """The published rows of one study's paper, and every check of them."""

    study: str
    rows: tuple[PublishedValue, ...]
    checks: tuple[Check, ...]

    @property
    def flagged(self) -> tuple[Check, ...]:
        """The checks that found a problem."""
        return tuple(flagged(self.checks))

    @property
    def table(self) -> Table:
        """Every row with its badge, reason and tolerance."""
        return published_table(self.rows, self.checks)


def benchmark_of(study: str) -> Benchmark:
    """Return the published rows of a study's paper; a KeyError for none."""
    rows, checks = _READERS[study]()
    return Benchmark(study, tuple(rows), tuple(checks))


def benchmarks() -> Iterator[Benchmark]:
    """Yield those of every study, in the papers' order."""
    return (benchmark_of(study) for study in _READERS)


_Read = Callable[[], tuple[Sequence[PublishedValue], Sequence[Check]]]


def _grid() -> tuple[Sequence[PublishedValue], Sequence[Check]]:
    rows: Sequence[PublishedValue] = _module("grid_localization.published").ROWS
    return rows, [CountCheck(row) for row in rows if row.n_claimed is not None]


def _rubric() -> tuple[Sequence[PublishedValue], Sequence[Check]]:
    checks = _module("rubric_reading.consistency").CHECKS
    return _module("rubric_reading.published").ROWS, checks


def _vqa() -> tuple[Sequence[PublishedValue], Sequence[Check]]:
    checks = _module("grounded_vqa.consistency").CHECKS
    return _module("grounded_vqa.published").ROWS, checks


def _mcq() -> tuple[Sequence[PublishedValue], Sequence[Check]]:
    checks = _module("pathology_mcq.consistency").checks()
    return _module("pathology_mcq.published").every_row(), checks


def _diagnosis() -> tuple[Sequence[PublishedValue], Sequence[Check]]:
    checks = _module("evidence_diagnosis.consistency").checks()
    return _module("evidence_diagnosis.published").rows(), checks


def _module(name: str) -> ModuleType:
    return import_module(f"viewer.studies.{name}")


_READERS: Final[Mapping[str, _Read]] = {
    "grid_localization": _grid,
    "rubric_reading": _rubric,
    "grounded_vqa": _vqa,
    "pathology_mcq": _mcq,
    "evidence_diagnosis": _diagnosis,
}
