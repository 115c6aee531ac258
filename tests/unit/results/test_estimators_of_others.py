"""Metrics of other distributions among the estimators, and those that are none."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from types import SimpleNamespace
from typing import Any, cast

import pytest

from viewer.domain.errors import WrongUseError
from viewer.results.estimators import catalog
from viewer.results.estimators.registry import ESTIMATORS, Metric, Seen

SEEN = cast("Seen", SimpleNamespace(of=("coverage",)))


def _first(seen: Any) -> list[object]:  # noqa: ANN401 - a stand-in of the rows
    return [seen.of[0]]


def _fails(_seen: object) -> list[object]:
    raise ZeroDivisionError("no rows")


THEIRS = Metric("theirs", 1, _first)
FAILING = Metric("failing", 1, _fails)
OLD = Metric("old", 0, _first)
NOTHING = 1


@pytest.fixture(autouse=True)
def offered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Offer four metrics, of which two can be used."""
    names = {"theirs": "THEIRS", "failing": "FAILING", "old": "OLD", "odd": "NOTHING"}
    points = EntryPoints(
        EntryPoint(name, f"{__name__}:{of}", catalog.ENTRY_POINTS)
        for name, of in names.items()
    )
    monkeypatch.setattr(
        catalog, "entry_points", lambda group: points.select(group=group)
    )
    catalog._others.cache_clear()
    yield
    catalog._others.cache_clear()


def test_that_a_metric_of_another_distribution_is_an_estimator() -> None:
    theirs = catalog.estimator_named("theirs")
    assert theirs is not None
    assert theirs(SEEN) == ("coverage",)
    assert {*catalog.estimator_names()} == {*ESTIMATORS, "theirs", "failing"}
    assert catalog.estimator_named("nobody's") is None
    assert catalog.estimator_named("rate") is ESTIMATORS["rate"]


def test_that_one_that_fails_is_named() -> None:
    failing = catalog.estimator_named("failing")
    assert failing is not None
    with pytest.raises(WrongUseError, match=r"'failing' .* failed \(ZeroDivisionError"):
        failing(SEEN)


def test_that_what_cannot_be_used_says_why() -> None:
    why = {one.name: one.why for one in catalog.broken_metrics()}
    assert "was built for interface 0, and this program offers 1" in why["old"]
    assert "is not a Metric" in why["odd"]
