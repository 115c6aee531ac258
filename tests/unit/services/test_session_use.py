from pathlib import Path

import pytest

from tests.helpers.tiny_study import D4, a_spec, finish, planned
from viewer.services.session_use import session_use, size_words
from viewer.store.database import open_store


@pytest.mark.parametrize(
    ("n", "words"),
    [(0, "0 B"), (2_340, "2.3 kB"), (212_400_000, "212 MB"), (1.5e9, "1.5 GB")],
)
def test_that_sizes_are_said_in_the_largest_unit(n: float, words: str) -> None:
    assert size_words(int(n)) == words


def test_that_a_session_counts_what_left_since_it_began(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    with open_store(store) as opened:
        finish(opened, planned(opened, tmp_path / "d", a_spec([D4])))
    begun = session_use(store)
    assert (begun.requests, begun.cost_microusd) == (0, 0)
    with open_store(store) as opened:
        more = a_spec([D4], dataset="more", params={"grids": [4]})
        finish(opened, planned(opened, tmp_path / "e", more))
        attempts = opened.rows("SELECT count(*) FROM attempt")[0][0]
        sizes = [row[0] for row in opened.rows("SELECT length(bytes) FROM blob")]
    now = session_use(store, begun)
    assert 0 < now.requests < attempts
    assert now.cache_bytes == sum(sizes) > begun.cache_bytes
    assert session_use(store, now) == now
    assert now.words.startswith(f"{now.requests} requests $0.00 · cache ")
