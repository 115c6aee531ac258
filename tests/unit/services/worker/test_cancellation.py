import pytest

from viewer.domain.errors import WrongUseError
from viewer.services.worker.cancellation import Cancellations


def test_that_work_is_stopped_by_its_name_and_no_other() -> None:
    stops = Cancellations("loaded")
    with stops.doing("a") as first, stops.doing("b") as second:
        assert stops.stop("a")
        assert (first.is_set(), second.is_set()) == (True, False)
    assert not stops.stop("a")
    with stops.doing("a") as again:
        assert not again.is_set()


def test_that_a_stop_before_the_work_began_stops_it() -> None:
    stops = Cancellations("loaded")
    stops.expect("a")
    assert stops.stop("a")
    with stops.doing("a") as flag:
        assert flag.is_set()


def test_that_the_same_work_goes_on_once() -> None:
    stops = Cancellations("loaded")
    with (
        stops.doing("a"),
        pytest.raises(WrongUseError, match="'a' is already being loaded"),
        stops.doing("a"),
    ):
        pass
    with stops.doing("a"):
        pass


def test_that_the_end_stops_what_goes_on_and_what_comes() -> None:
    stops = Cancellations("loaded")
    with stops.doing("a") as now:
        stops.end()
        assert now.is_set()
    with stops.doing("b") as later:
        assert later.is_set()
