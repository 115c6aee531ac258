"""The common base of studies with presets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from viewer.domain.answer import Status
from viewer.domain.case import Dataset
from viewer.domain.report import ReportData
from viewer.domain.result import TrialResult
from viewer.domain.run import RunSpec
from viewer.results.evaluate import evaluate_all
from viewer.results.records import number_names, records
from viewer.results.spec import TRIALS
from viewer.studies.benchmarks import Benchmark
from viewer.studies.packs import Pack
from viewer.studies.places import Examples, Places
from viewer.studies.protocol import NO_CONTEXT, ReportContext
from viewer.studies.tables import results_spec

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

P = TypeVar("P", bound="DataclassInstance")


@dataclass(frozen=True)
class StudyDefaults:
    """A paper's settings: a preset, and further parameters of its pack."""

    preset: str
    params: Mapping[str, object] = field(default_factory=dict)


class PresetStudy(Generic[P]):
    """A study whose settings come from named presets.

    By default it has no pack, no published numbers and no tables of its own.

    Parameters
    ----------
    read : callable
        Its ``read_params``: a preset and overrides in, its frozen Params out.
    titles : mapping
        The display name of each preset, the paper's first.
    defaults : mapping, optional
        Parameters of the paper's pack in addition to the first preset.
    """

    pack: Pack | None = None

    def __init__(
        self,
        read: Callable[[str, Mapping[str, object]], P],
        titles: Mapping[str, str],
        defaults: Mapping[str, object] | None = None,
    ) -> None:
        self._read = read
        self._titles = titles
        self.defaults = StudyDefaults(next(iter(titles)), defaults or {})

    def benchmark(self) -> Benchmark | None:
        """Return the paper's printed values, None if there are none."""
        return None

    def notices(self, params: P) -> tuple[str, ...]:  # noqa: ARG002 - of no interest here
        """Return no sentence."""
        return ()

    def roles(self, params: P) -> Mapping[str, str]:  # noqa: ARG002 - of no interest here
        """Return nothing: no other model takes part."""
        return {}

    def report(
        self,
        results: Sequence[TrialResult],
        spec: RunSpec,  # noqa: ARG002 - of no interest here
        context: ReportContext = NO_CONTEXT,  # noqa: ARG002 - of no interest here
    ) -> ReportData:
        """Return the table of rates that every study about items has."""
        specs = (results_spec(number_names(results)),)
        return ReportData(
            evaluate_all(specs, {TRIALS: records(results)}),
            figures=(),
            metric_definitions={"hit_rate": "right answers"},
            incomplete=any(one.score.status is Status.PENDING for one in results),
            specs=specs,
        )

    def places(self, params: P) -> Places | None:  # noqa: ARG002 - of no interest here
        """Return None: answers are in words."""
        return None

    def examples(self, params: P) -> Examples | None:  # noqa: ARG002 - of no interest here
        """Return None: no example is shown."""
        return None

    def missing_findings(self, dataset: Dataset, params: P) -> str:  # noqa: ARG002 - of no interest here
        """Return "": whatever is there is asked about."""
        return ""

    def read_params(self, preset: str, overrides: dict[str, object]) -> P:
        """Return Params of a preset with overrides; a bad one raises WrongUseError."""
        return self._read(preset, overrides)

    def presets(self) -> tuple[str, ...]:
        """Return the names of the presets, the paper's first."""
        return tuple(self._titles)

    def preset_title(self, preset: str) -> str:
        """Return the title of a preset; an unknown one raises KeyError."""
        return self._titles[preset]
