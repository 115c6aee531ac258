"""Members of a collection are written in order, many of them on every core."""

import os

import pytest

from viewer.domain.errors import WrongUseError
from viewer.services.synthetic.folder import write_each


def with_process(index: int) -> tuple[int, int]:
    """Return a member's number, and which process made it."""
    return index, os.getpid()


def only_three(index: int) -> int:
    """Return a member's number, if it is one of the first three."""
    if index > 2:
        raise WrongUseError(f"{index} is too many.", "Ask for three.")
    return index


@pytest.mark.parametrize(("n", "is_here"), [(3, True), (24, False)])
def test_that_members_come_in_order_wherever_they_are_made(
    n: int, *, is_here: bool
) -> None:
    told: list[tuple[int, int]] = []
    made = write_each(with_process, n, lambda *done: told.append(done))
    assert [index for index, _ in made] == [*range(n)]
    assert (os.getpid() in {process for _, process in made}) is is_here
    assert told == [(done, n) for done in range(1, n + 1)]


@pytest.mark.parametrize("n", [5, 24])
def test_that_the_first_failure_ends_it(n: int) -> None:
    told: list[int] = []
    with pytest.raises(WrongUseError, match="3 is too many"):
        write_each(only_three, n, lambda done, _: told.append(done))
    assert told == [1, 2, 3]
