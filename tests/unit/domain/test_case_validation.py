"""What readers found of a case before it is used."""

from dataclasses import replace

import pytest

from tests.unit.domain.test_evidence import CASE
from viewer.domain.case_validation import (
    ANONYMISATION,
    VALIDATIONS,
    CaseValidation,
    validations_of,
)
from viewer.domain.errors import WrongUseError
from viewer.domain.physician import Alignment

SUITABLE = CaseValidation("case-1", "Dr A", (), True, (Alignment.OK,) * 3)
UNSUITABLE = CaseValidation(
    "case-1",
    "Dr B",
    ("e2",),
    False,
    (Alignment.OK, Alignment.OK, Alignment.NOT_GROUNDED),
    (1, 4),
)


def test_that_every_reason_to_exclude_a_case_is_named() -> None:
    assert SUITABLE.problems(CASE) == ()
    assert UNSUITABLE.problems(CASE) == (
        "e2 cannot be interpreted",
        "the evidence does not confirm the diagnosis",
        "e3 is not_grounded",
        f"not ticked: {ANONYMISATION[0]}",
        f"not ticked: {ANONYMISATION[3]}",
    )


def test_that_validations_come_back_from_the_reference_of_an_item() -> None:
    item = CASE.item()
    assert validations_of(item) == ()
    both = [SUITABLE.as_json(), UNSUITABLE.as_json()]
    assert "case" not in both[0]
    kept = replace(item, reference={**item.reference, VALIDATIONS: both})
    assert validations_of(kept) == (SUITABLE, UNSUITABLE)
    broken = replace(item, reference={VALIDATIONS: [{"reader": "Dr A"}]})
    with pytest.raises(WrongUseError, match="what readers found"):
        validations_of(broken)
