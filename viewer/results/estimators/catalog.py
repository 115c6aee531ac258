"""The estimators by name: ours, and those of other distributions."""

import functools
from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import Final

from viewer.domain.errors import WrongUseError
from viewer.domain.plugins import (
    Broken,
    Plugin,
    PluginError,
    Plugins,
    check_name,
    load_plugins,
)
from viewer.results.estimators.registry import ESTIMATORS, Estimator, Metric, Seen

INTERFACE: Final = 1
"""The version of `Seen` and `Metric` that a metric of another package is built for.

It changes when a metric that worked would not.
"""
ENTRY_POINTS: Final = "viewer.metrics"


def estimator_named(name: str) -> Estimator | None:
    """Return an estimator, ours before another's; None if the name is unknown."""
    if name in ESTIMATORS:
        return ESTIMATORS[name]
    metric = _others().working.get(name)
    return None if metric is None else functools.partial(_estimate, metric)


def estimator_names() -> tuple[str, ...]:
    """Return the names of all estimators, sorted."""
    return tuple(sorted({*ESTIMATORS, *_others().working}))


def broken_metrics() -> tuple[Broken, ...]:
    """Return the metrics of other packages that cannot be used."""
    return _others().broken


def _estimate(metric: Plugin[Metric], seen: Seen) -> Sequence[object]:
    """Return the value of another package's metric; name it if it fails."""
    try:
        return tuple(metric.value.estimate(seen))
    except Exception as error:
        raise WrongUseError(
            f"The metric '{metric.value.name}' of package {metric.package} failed "
            f"({type(error).__name__}: {error}).",
            "Update or uninstall the package.",
        ) from error


@functools.cache
def _others() -> Plugins[Metric]:
    return load_plugins(entry_points(group=ENTRY_POINTS), "metric", _checked)


def _checked(name: str, metric: object) -> Metric:
    """Return another package's metric, or raise why it is invalid."""
    if not isinstance(metric, Metric):
        raise PluginError("is not a Metric: update or uninstall the package.")
    if metric.interface != INTERFACE:
        raise PluginError(
            f"was built for interface {metric.interface}, and this program offers "
            f"{INTERFACE}: install a version for it."
        )
    check_name(name, metric.name, ESTIMATORS)
    return metric
