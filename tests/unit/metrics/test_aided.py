"""Effects of advice against counts by hand, and readers of known habits."""

from math import isnan

import numpy as np
import pytest

from viewer.metrics.aided import (
    AidedCase,
    automation_bias,
    gain,
    over_trust,
    under_trust,
)


def read(follows: float, n: int = 400, seed: int = 0) -> list[AidedCase]:
    """Return cases of a reader who follows advice with a probability.

    Half of the advice is wrong, the reader's own answers are right in 60 % of cases,
    and two cases share a patient.
    """
    rng = np.random.default_rng(seed)
    cases = []
    for i in range(n):
        right, first = bool(rng.random() < 0.5), bool(rng.random() < 0.6)
        agreed = right and first
        followed = agreed or bool(rng.random() < follows)
        final = right if followed else first
        cases.append(
            AidedCase(f"p{i // 2}", f"i{i}", right, final, followed, first, agreed)
        )
    return cases


def test_that_a_follower_trusts_all_and_an_independent_reader_nothing() -> None:
    follower, alone = read(1.0), read(0.0)
    assert over_trust(follower).value == 1
    assert over_trust(alone).value == 0
    assert under_trust(follower).value == 0
    assert gain(alone).value == 0
    assert automation_bias(alone).value == 0
    assert automation_bias(follower).value < 0


def test_that_a_half_follower_has_half_within_the_interval() -> None:
    found = over_trust(read(0.5, 2000))
    assert found.interval.low < 0.5 < found.interval.high
    assert found.interval.high - found.interval.low < 0.15


@pytest.mark.parametrize("seed", range(5))
def test_that_every_effect_is_the_count_by_hand(seed: int) -> None:
    cases = read(0.3, 60, seed)
    wrong = [c for c in cases if not c.advice_right]
    new_wrong = [c for c in wrong if not c.agreed]
    helpful = [c for c in cases if c.advice_right and not c.first_right]
    gains = [int(c.final_right) - int(c.first_right or 0) for c in cases]
    harms = [int(c.final_right) - int(c.first_right or 0) for c in wrong]
    assert gain(cases).value == pytest.approx(np.mean(gains))
    assert automation_bias(cases).value == pytest.approx(np.mean(harms))
    followed = np.mean([c.followed for c in new_wrong])
    assert over_trust(cases).value == pytest.approx(followed)
    unused = np.mean([not c.final_right for c in helpful])
    assert under_trust(cases).value == pytest.approx(unused)


def test_that_without_a_first_answer_there_is_no_gain() -> None:
    case = AidedCase("p", "i", advice_right=False, final_right=False, followed=True)
    assert isnan(gain([case]).value)
    assert over_trust([case]).value == 1
