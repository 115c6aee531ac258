"""Who the patients are: the same every time, and with enough of every finding."""

from collections import Counter

import pytest

from viewer.services.synthetic.phantom.patient import Finding, make_patient


def test_that_a_patient_is_the_same_every_time() -> None:
    assert make_patient(3, 7) == make_patient(3, 7)
    assert make_patient(3, 7) != make_patient(3, 8)
    assert make_patient(3, 7).build != make_patient(4, 7).build


@pytest.mark.parametrize("seed", range(6))
def test_that_fifty_patients_have_each_finding_five_times(seed: int) -> None:
    patients = [make_patient(seed, i) for i in range(50)]
    counts = Counter(f for p in patients for f in p.findings)
    assert all(counts[finding] >= 5 for finding in Finding)
    assert 1 <= sum(not p.findings for p in patients) <= 20


def test_that_each_part_has_random_numbers_of_its_own() -> None:
    patient = make_patient(0, 0)
    again = patient.stream("gas").random()
    assert patient.stream("gas").random() == again
    assert patient.stream("film frontal").random() != again


def test_that_the_right_dome_is_the_higher_one() -> None:
    builds = [make_patient(0, i).build for i in range(30)]
    assert all(b.right_dome > b.left_dome for b in builds)
