"""What the image-dependence card says of a blind and of a sighted model is true.

Both answer a simulated benchmark of questions with four options again and again. The
blind one answers what the words let it know, which a patient's questions have in
common, with the image and without; the sighted one is mostly right with the image and
draws an option without it. What is printed is how often 95 % intervals hold that.
With two questions a patient it is as often as they say; where some patients have more
than others it is a little more often, never less.
"""

import json
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest

from viewer.results.evaluate import evaluate
from viewer.results.frame import Frame
from viewer.results.records import frame_of_trials
from viewer.studies.image_dependence import CARD, card_frames

Floats = npt.NDArray[np.float64]
SIMULATIONS, PATIENTS = 1_000, 200
CHANCE, WORDS, SIGHT = 0.25, 0.6, 0.9
CORRELATION = 0.3
"""Of the blind model's answers about one patient."""
OPTIONS = json.dumps({"options": ["a", "b", "c", "d"], "right": 0})
NAMES = ("blind: difference 0", "sighted: chance", "sighted: difference 0.65")
ENDED = ("scored_wrong", "scored_correct")


def trials(
    rng: np.random.Generator,
    most: int,
    known: Callable[[int], tuple[Floats, Floats]],
) -> Frame:
    """Return a run whose questions are right with some chances, with image and without.

    Patients have two questions, or one to ``most``; ``known`` gives the chances of one
    patient's.
    """
    rows: dict[str, list[str]] = {
        name: [] for name in ("item", "patient", "condition", "status")
    }
    least = 2 if most == 2 else 1
    for patient, n in enumerate(rng.integers(least, most + 1, PATIENTS).tolist()):
        for condition, chances in zip(("image", "no_image"), known(n), strict=True):
            for place, right in enumerate((rng.random(n) < chances).tolist()):
                rows["item"].append(f"{patient}-{place}")
                rows["patient"].append(f"{patient}")
                rows["condition"].append(condition)
                rows["status"].append(ENDED[right])
    size = len(rows["item"])
    same = {"image": "", "finding": "", "view": "", "model": "m", "gold": OPTIONS}
    told: dict[str, Sequence[object]] = {n: [of] * size for n, of in same.items()}
    columns = {**rows, **told, "repeat": [0] * size}
    return frame_of_trials(columns, [()] * size)


def card(frame: Frame) -> dict[str, float]:
    """Return the only row of the card."""
    made = card_frames(frame, "image", ("no_image",), ("no_image",))
    (row,) = evaluate(CARD, made).records()
    return row


def of_blind(rng: np.random.Generator, most: int) -> Frame:
    """Return the answers of a model that answers the words alone."""
    scale = (1 - CORRELATION) / CORRELATION

    def known(n: int) -> tuple[Floats, Floats]:
        words = np.full(n, rng.beta(WORDS * scale, (1 - WORDS) * scale))
        return words, words

    return trials(rng, most, known)


def of_sighted(rng: np.random.Generator, most: int) -> Frame:
    """Return the answers of a model that needs the image."""
    return trials(rng, most, lambda n: (np.full(n, SIGHT), np.full(n, CHANCE)))


def holds(row: dict[str, float], low: str, high: str, truth: float) -> bool:
    return row[low] <= truth <= row[high]


@pytest.mark.proof
@pytest.mark.parametrize(("most", "limit"), [(2, 0.965), (5, 0.98)])
def test_that_intervals_hold_that_the_blind_lose_nothing_and_the_sighted_all(
    most: int, limit: float, capsys: pytest.CaptureFixture[str]
) -> None:
    held = np.zeros((3, SIMULATIONS), np.bool_)
    for i in range(SIMULATIONS):
        rng = np.random.default_rng(i)
        blind, sighted = card(of_blind(rng, most)), card(of_sighted(rng, most))
        ends = ("difference_low", "difference_high")
        held[:, i] = (
            holds(blind, *ends, 0.0),
            holds(sighted, "ci_low", "ci_high", CHANCE),
            holds(sighted, *ends, SIGHT - CHANCE),
        )
    shares = held.mean(axis=1)
    with capsys.disabled():
        for name, share in zip(NAMES, shares, strict=True):
            print(f"\n{most} a patient, {name:<26}{100 * share:.1f} %", end="")
    assert shares.min() >= 0.935
    assert shares.max() <= limit
