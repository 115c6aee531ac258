"""Every printed interval and p-value, on studies whose truth is known (X-07)."""

import pytest

from tests.helpers.interval_proofs import PROOFS, proved


@pytest.mark.proof
@pytest.mark.statement("X-04", "X-07", "E001-16", "E004-09", "E004-17", "E000-25")
@pytest.mark.parametrize("name", PROOFS)
def test_that_what_is_printed_keeps_what_it_promises(name: str) -> None:
    found = proved(name)
    print(f"\n{found.line(name, PROOFS[name])}")
    assert found.holds(PROOFS[name])
