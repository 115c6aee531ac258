"""Scores that control for something are 0 for who only does that thing (X-09).

Simulated adversaries go through the program's own scoring. Swapped questions (TPT) are
not among them: their sham, other words, does not control for answers from the words.
What is printed is the table of adversaries and controls.
"""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pytest

from tests.helpers.heal_trials import NO, UNREAD, YES, YesNo, heal_rows, probed
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


@pytest.mark.proof
@pytest.mark.statement("X-04", "X-09", "E002-11")
def test_that_adversaries_come_out_at_nothing_in_every_control() -> None:
    found = [(a, "gain over location prior", x) for a, x in location_adversaries()]
    found += visual_adversaries()
    for adversary, control, value in found:
        print(f"{adversary:42} {control:26} {value:+.3f}")
    assert len(found) == 6 + 2 * len(EDITED)
    assert [one for one in found if not abs(one[2]) <= LIMIT] == []
