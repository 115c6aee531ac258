"""Counts as sentences say them."""

import pytest

from viewer.domain.counting import counted, size_words


@pytest.mark.parametrize(
    ("n", "words"),
    [(0, "0 cases"), (1, "1 case"), (2, "2 cases"), (1200, "1,200 cases")],
)
def test_that_a_count_is_said_with_its_noun(n: int, words: str) -> None:
    assert counted(n, "case") == words


def test_that_a_noun_may_have_a_plural_of_its_own() -> None:
    assert counted(1, "miss", "misses") == "1 miss"
    assert counted(2, "miss", "misses") == "2 misses"


@pytest.mark.parametrize(
    ("n", "words"),
    [(0, "0 B"), (2_340, "2.3 kB"), (212_400_000, "212 MB"), (1.5e9, "1.5 GB")],
)
def test_that_sizes_are_said_in_the_largest_unit(n: float, words: str) -> None:
    assert size_words(int(n)) == words
