import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import tiny_vlm
from tests.helpers.requests import facts, png_of, request
from tests.helpers.tiny_vlm import local_model
from viewer.domain.exchange import ModelReply, ModelRequest
from viewer.models.transformers_local.adapter import Batcher, TransformersLocal

TOLERANCE = 1e-4
"""Log-probabilities of float32 weights, a batch of several against one alone."""


class Doubler:
    """Doubles numbers, noting how many it was given at once; refuses 13."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.open = threading.Event()
        self.open.set()

    def __call__(self, numbers: Sequence[int]) -> Sequence[int]:
        self.batches.append(list(numbers))
        self.open.wait(300)
        if 13 in numbers:
            raise ArithmeticError
        return [2 * n for n in numbers]

    def wait_for(self, count: int, batcher: Batcher[int, int]) -> None:
        """Wait until so many questions have arrived."""
        while sum(map(len, self.batches)) + len(batcher._waiting) < count:
            time.sleep(0.001)


def test_that_questions_that_wait_are_answered_together_in_their_order() -> None:
    doubler = Doubler()
    doubler.open.clear()
    batcher = Batcher(doubler, 4)
    with ThreadPoolExecutor(10) as pool:
        asked = []
        for n in range(10):
            asked.append(pool.submit(batcher, n))
            doubler.wait_for(len(asked), batcher)
        doubler.open.set()
        answers = [each.result(300) for each in asked]
    assert answers == [2 * n for n in range(10)]
    assert doubler.batches == [[0], [1, 2, 3, 4], [5, 6, 7, 8], [9]]


def test_that_one_questions_failure_is_no_others() -> None:
    doubler = Doubler()
    doubler.open.clear()
    batcher = Batcher(doubler, 8)
    with ThreadPoolExecutor(4) as pool:
        asked = []
        for n in (1, 2, 13, 3):
            asked.append(pool.submit(batcher, n))
            doubler.wait_for(len(asked), batcher)
        doubler.open.set()
        assert [asked[i].result(300) for i in (0, 1, 3)] == [2, 4, 6]
        with pytest.raises(ArithmeticError):
            asked[2].result(300)
    assert doubler.batches == [[1], [2, 13, 3], [2], [13], [3]]


def test_that_nothing_is_answered_while_somebody_is_alone() -> None:
    doubler = Doubler()
    batcher = Batcher(doubler, 2)
    with ThreadPoolExecutor(1) as pool:
        with batcher.alone():
            asked = pool.submit(batcher, 1)
            time.sleep(0.05)
            assert doubler.batches == []
        assert asked.result(300) == 2


def questions(n: int) -> list[ModelRequest]:
    """Return questions of different lengths about different images."""
    rng = np.random.default_rng(1)
    return [
        request(
            facts(),
            text="Where is the nodule? " * (1 + i % 3),
            png=png_of(rng.integers(0, 256, (120, 100 + 40 * i), dtype=np.uint8)),
        )
        for i in range(n)
    ]


def answers(model: TransformersLocal, asked: list[ModelRequest]) -> list[ModelReply]:
    with model.alone() if model.options.together > 1 else ThreadPoolExecutor(1):
        pool = ThreadPoolExecutor(len(asked))
        waiting = [pool.submit(model.generate, one) for one in asked]
        time.sleep(0.1)  # all of them wait, so that they are asked together
    with pool:
        return [model.read(each.result(600)) for each in waiting]


@pytest.mark.parametrize("family", sorted(tiny_vlm.FAMILIES))
def test_that_a_batch_answers_as_each_question_alone(
    family: str, folder_of: Callable[[str], Path]
) -> None:
    asked = questions(4)
    alone = local_model(folder_of(family), max_new_tokens=6)
    together = local_model(folder_of(family), max_new_tokens=6, batch_size=4)
    differences = []
    for one, many in zip(answers(alone, asked), answers(together, asked), strict=True):
        assert many.text == one.text
        assert many.usage == one.usage
        assert many.finish_reason == one.finish_reason
        pairs = zip(one.logprobs, many.logprobs, strict=True)
        differences += [abs(a.logprob - b.logprob) for a, b in pairs]
    print(f"{family}: {max(differences):.1e}")  # noqa: T201 - a figure to read
    assert max(differences) < TOLERANCE
