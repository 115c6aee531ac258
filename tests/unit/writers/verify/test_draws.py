"""The verifier's random numbers and sums against NumPy, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viewer.metrics.seeding import generator
from viewer.writers.verify.draws import drawn_rows, named_entropy, seed_words
from viewer.writers.verify.sums import (
    deviation,
    pairwise_sum,
)


@given(st.lists(st.integers(0, 2**70), max_size=12))
def test_that_seeds_are_those_of_seed_sequence(entropy: list[int]) -> None:
    wanted = np.random.SeedSequence(entropy).generate_state(8, np.uint32)
    assert seed_words(entropy, 8) == wanted.tolist()


@settings(max_examples=30, deadline=None)
@given(
    st.integers(-(2**40), 2**40),
    st.text(max_size=12),
    st.integers(1, 400),
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
)
def test_that_draws_are_those_of_numpy_block_after_block(
    seed: int, name: str, n: int, blocks: list[int]
) -> None:
    rng = generator(seed, "gain", name)
    wanted = [rng.integers(0, n, size=(rows, n)).tolist() for rows in blocks]
    drawn = list(drawn_rows(named_entropy(seed, "gain", name), n, sum(blocks)))
    assert drawn == [row for part in wanted for row in part]


@pytest.mark.parametrize("n", [*range(1, 40), 127, 128, 129, 1000, 10_000, 10_007])
def test_that_sums_and_deviations_are_numpy_s_to_the_last_bit(n: int) -> None:
    rng = np.random.default_rng(n)
    for scale in (1.0, 1e-9, 1e6):
        values = rng.random(n) * scale
        listed = values.tolist()
        assert pairwise_sum(listed) == float(values.sum())
        assert pairwise_sum(listed) == float(values[None].sum(axis=1)[0])
        if n > 1:
            assert deviation(listed) == float(np.std(values, ddof=1))
