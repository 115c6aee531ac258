"""Random trials of two sides in pairs, against brute force."""

import random
from collections import Counter

import pytest

from viewer.domain.answer import Status
from viewer.domain.study_words import PLACING
from viewer.services.comparing.sides import HIT, Pairing, paired
from viewer.services.comparing.statistics import (
    MICRO,
    by_patient,
    group_counts,
    mean_rates,
)
from viewer.store.comparing import TrialLine

_NUMBERS = iter(range(10**9))


def a_line(item: int, condition: str, repeat: int, status: str) -> TrialLine:
    finding = ("Edema", "Atelectasis", "Lung Lesion")[item % 3]
    return TrialLine(
        id=next(_NUMBERS),
        item=f"image{item // 3}|{finding}",
        condition=condition,
        repeat=repeat,
        patient=f"patient{item // 7}",
        image=f"image{item // 3}",
        view="frontal",
        finding=finding,
        status=status,
        answer="",
        outcome="",
        request_sha256="",
        scorer_version="1",
        parser_version="1",
        parsed="",
        reply_id=None,
    )


def some_lines(rng: random.Random, conditions: tuple[str, ...]) -> list[TrialLine]:
    """Return trials of which some items, conditions or repeats are missing."""
    statuses = [status.value for status in Status]
    return [
        a_line(item, condition, repeat, rng.choice(statuses + 6 * [HIT]))
        for item in range(rng.randint(0, 12))
        for condition in conditions
        for repeat in range(2)
        if rng.random() < 0.8
    ]


def all_ids(pairing: Pairing) -> Counter[int]:
    pairs = (*pairing.scored, *pairing.excluded, *pairing.pending)
    alone = (*pairing.only_first, *pairing.only_second)
    return Counter(one.id for one in (*alone, *(line for p in pairs for line in p)))


def pairs_checked(seed: int) -> int:
    """Compare all that is counted of two random sides with brute force; count pairs."""
    rng = random.Random(seed)
    conditions = ("grid=8", "grid=16")[: rng.randint(1, 2)]
    first, second = some_lines(rng, conditions), some_lines(rng, conditions)
    rng.shuffle(second)
    pairing = paired(first, second)
    assert all_ids(pairing) == Counter(one.id for one in (*first, *second))
    unsettled = {Status.EXCLUDED.value, Status.PENDING.value}
    expected = {
        (a.item, a.condition, a.repeat): (a.status == HIT, b.status == HIT)
        for a in first
        for b in second
        if (a.item, a.condition, a.repeat) == (b.item, b.condition, b.repeat)
        and not {a.status, b.status} & unsettled
    }
    if len(conditions) > 1 or {x.condition for x in first} == {
        x.condition for x in second
    }:
        got = {(p.first.item, p.condition, p.first.repeat): p.hits
               for p in pairing.scored}  # fmt: skip
        assert got == expected
    check_groups(pairing)
    return len(expected)


def check_groups(pairing: Pairing) -> None:
    """Compare the counts of each group, and the sums of each patient, with loops."""
    groups = group_counts(pairing.scored, PLACING.task)
    for group in groups:
        mine = [
            pair
            for pair in pairing.scored
            if pair.condition == group.condition
            and group.finding in {MICRO, pair.first.finding}
        ]
        assert set(group.findings) == {pair.first.finding for pair in mine}
        n = Counter(pair.hits for pair in mine)
        table = group.table
        assert (table.both, table.only_first, table.only_second, table.neither) == (
            n[True, True], n[True, False], n[False, True], n[False, False],
        )  # fmt: skip
        assert group.patients == len({pair.first.patient for pair in mine})
        findings = sorted({pair.first.finding for pair in mine})
        totals, trials, apart = by_patient(mine, findings)
        patients = sorted({pair.first.patient for pair in mine})
        for i, patient in enumerate(patients):
            for j, finding in enumerate(findings):
                own = [
                    pair.hits
                    for pair in mine
                    if (pair.first.patient, pair.first.finding) == (patient, finding)
                ]
                assert trials[i, j] == len(own)
                assert totals[i, j] == sum(int(a) - int(b) for a, b in own)
                assert apart[i, j] == sum(a != b for a, b in own)
    for condition in {group.condition for group in groups}:
        rates = [g.rates for g in groups
                 if g.condition == condition and g.finding != MICRO]  # fmt: skip
        for side in (0, 1):
            mean = sum(rate[side] for rate in rates) / len(rates)
            assert mean_rates(groups, condition)[side] == pytest.approx(mean, abs=1e-12)


@pytest.mark.statement("X-01", "E000-21")
def test_that_random_pairs_are_those_of_brute_force() -> None:
    assert sum(pairs_checked(seed) for seed in range(150)) > 150


@pytest.mark.proof
def test_that_ten_thousand_random_pairs_are_those_of_brute_force() -> None:
    assert sum(pairs_checked(seed) for seed in range(10_000)) > 10_000


def test_that_sides_of_one_grid_each_are_paired_though_the_grids_differ() -> None:
    first = [a_line(i, "grid=8", 0, HIT) for i in range(3)]
    second = [a_line(i, "grid=16", 0, "scored_wrong") for i in range(3)]
    pairing = paired(first, second)
    assert [pair.condition for pair in pairing.scored] == ["grid=8 / grid=16"] * 3
    two = [*first, *(a_line(i, "grid=4", 0, HIT) for i in range(3))]
    assert paired(two, second).scored == ()
    assert len(paired(two, second).only_first) == 6
