"""Scores that control for something are 0 for who only does that thing (X-09).

Simulated adversaries go through the program's own scoring. What is printed is the table
of adversaries and controls.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from tests.helpers.heal_trials import (
    NO,
    UNREAD,
    YES,
    YesNo,
    closed,
    heal_rows,
    probed,
)
from viewer.domain.result import TrialResult
from viewer.metrics.location_prior import gain_over_prior, stratum
from viewer.studies.grounded_vqa.visual import Arm

N, CELLS, LIMIT = 6_000, 64, 0.02
Ints = npt.NDArray[np.int64]
Edited = Callable[[np.random.Generator, bool], tuple[YesNo, YesNo, YesNo]]
"""Answers to donor, own region and same finding; the flag marks hard items."""


def places(
    rng: np.random.Generator,
) -> tuple[list[tuple[int, ...]], Ints, npt.NDArray[np.bool_]]:
    """Return right cells of images, their first cells, and which lie where most do."""
    weights = np.exp(-np.arange(CELLS) / 6)
    first = rng.choice(CELLS - 1, N, p=weights[:-1] / weights[:-1].sum())
    return [(int(one), int(one) + 1) for one in first], first, first < 4


def location_adversaries() -> Iterator[tuple[str, float]]:
    rng = np.random.default_rng(1)
    references, first, easy = places(rng)
    most = np.full(N, int(np.bincount(first).argmax()))
    answers = {
        "always the first cell": np.zeros(N, np.int64),
        "always the most frequent cell": most,
        "any cell": rng.integers(0, CELLS, N),
        "drawn from where findings are": rng.permutation(first),
        "most frequent cell, refuses hard images": np.where(easy, most, -1),
        "refuses all but one in fifty": np.where(rng.random(N) < 0.02, most, -1),
    }
    for name, said in answers.items():
        one = stratum(np.arange(N) // 2, CELLS, said, references)
        yield name, gain_over_prior([[one]]).gain


EDITED: dict[str, Edited] = {
    "no to any paste": lambda _rng, _hard: (NO, NO, NO),
    "always yes, the first option": lambda _rng, _hard: (YES, YES, YES),
    "refuses hard items": lambda _rng, hard: (UNREAD,) * 3 if hard else (YES,) * 3,
    "no to any visible seam, half of the time": lambda rng, _hard: _by_coin(rng, 0.5),
    "no at random": lambda rng, _hard: _by_coin(rng, 0.2),
}


def _by_coin(rng: np.random.Generator, share: float) -> tuple[YesNo, YesNo, YesNo]:
    one, other, third = (NO if rng.random() < share else YES for _ in range(3))
    return one, other, third


def visual_adversaries() -> Iterator[tuple[str, str, float]]:
    for name, edited in EDITED.items():
        rng = np.random.default_rng(2)
        results = []
        for i in range(N):
            said = edited(rng, i % 3 == 0)
            arms = (Arm.DONOR.value, Arm.OWN.value, Arm.SAME.value)
            replies = {arm: (reply,) for arm, reply in zip(arms, said, strict=True)}
            results += probed(f"q{i}", f"p{i // 2}", replies)
        for row in heal_rows("sham_control", results):
            if str(row["test"]).startswith("VPT"):
                yield name, row["test"], float(row["net"])


Words = tuple[str, str, int]
"""Anatomy, finding, and the template."""
Answered = Callable[[np.random.Generator, Words, bool], YesNo]
"""Answers to words; the flag marks hard items. What is to be seen is not told."""
ANATOMIES, FINDINGS = (
    ("Heart", "Aorta", "Lung"),
    ("Edema", "Mass", "Nodule", "Fibrosis"),
)
WORDED: dict[str, Answered] = {
    "always yes": lambda _rng, _words, _hard: YES,
    "no at random": lambda rng, _words, _hard: NO if rng.random() < 0.3 else YES,
    "yes to one finding, no to one anatomy": lambda _rng, words, _hard: (
        YES if words[1] == "Edema" or words[0] != "Heart" else NO
    ),
    "no to rare findings": lambda rng, words, _hard: (
        NO if rng.random() < 0.3 * FINDINGS.index(words[1]) else YES
    ),
    "yes to one wording": lambda _rng, words, _hard: NO if words[2] else YES,
    "from the words, refuses hard items": lambda rng, words, hard: (
        UNREAD if hard and rng.random() < 0.8 else NO if words[0] == "Heart" else YES
    ),
}


def worded(rng: np.random.Generator, answer: Answered) -> list[TrialResult]:
    """Return positive questions, and of those said yes to both kinds of swaps."""
    found = []
    for i in range(N):
        anatomy, finding = (
            of[min(int(rng.exponential(1.2)), len(of) - 1)]
            for of in (ANATOMIES, FINDINGS)
        )
        words, hard = (anatomy, finding, int(rng.integers(3))), i % 3 == 0
        key, patient = f"q{i}", f"p{i // 2}"
        said = answer(rng, words, hard)
        found.append(closed(key, said, patient=patient, words=words))
        others = {
            "tpt-anatomy": (_other(rng, ANATOMIES, anatomy), *words[1:]),
            "tpt-disease": (anatomy, _other(rng, FINDINGS, finding), words[2]),
        }
        for condition, swap in others.items() if said == YES else ():
            name, reply = f"{key}|{condition}", answer(rng, swap, hard)
            found.append(
                closed(name, reply, condition=condition, patient=patient, words=swap)
            )
    return found


def _other(rng: np.random.Generator, names: tuple[str, ...], own: str) -> str:
    others = [name for name in names if name != own]
    return others[int(rng.integers(len(others)))]


def textual_adversaries() -> Iterator[tuple[str, str, float]]:
    for name, answer in WORDED.items():
        results = worded(np.random.default_rng(3), answer)
        for row in heal_rows("table_3_textual", results):
            yield name, f"{row['test']}, net", float(row["net"])


@pytest.mark.proof
@pytest.mark.statement("E002-09", "X-09")
def test_that_who_sees_keeps_the_textual_score() -> None:
    rng = np.random.default_rng(4)
    asked = worded(rng, WORDED["always yes"])
    sees = [
        replace(one, said=NO if one.condition.startswith("tpt") else YES)
        for one in asked
    ]
    nets = [row["net"] for row in heal_rows("table_3_textual", sees)]
    print(f"who sees what is there and what is not: {nets}")
    assert nets == [1.0, 1.0]


@pytest.mark.proof
@pytest.mark.statement("X-04", "X-09", "E002-11")
def test_that_adversaries_come_out_at_nothing_in_every_control() -> None:
    found = [(a, "gain over location prior", x) for a, x in location_adversaries()]
    found += visual_adversaries()
    found += textual_adversaries()
    for adversary, control, value in found:
        print(f"{adversary:42} {control:26} {value:+.3f}")
    assert len(found) == 6 + 2 * len(EDITED) + 2 * len(WORDED)
    assert [one for one in found if not abs(one[2]) <= LIMIT] == []
