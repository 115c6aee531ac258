"""Baselines: what chance and the other patients alone would answer."""

import json
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from tests.helpers.requests import facts, request
from viewer.domain.exchange import Facts, ModelProfile, ReplyKind
from viewer.domain.grid import Grid, LetterAxis
from viewer.models.catalog import adapter_for


def answer(name: str, about: Facts) -> str:
    adapter = adapter_for(ModelProfile(name, name))
    return adapter.read(adapter.generate(request(about, png=b"png"))).text


def test_that_uniform_is_uniform_over_items_and_repeats() -> None:
    counts = Counter(
        answer("uniform", facts(item=f"p{i}|Edema", repeat=r))
        for i in range(64)
        for r in range(50)
    )
    assert len(counts) == 64
    assert chisquare(list(counts.values())).pvalue > 1e-4


def test_that_uniform_depends_on_run_seed_item_and_repeat_alone() -> None:
    base = answer("uniform", facts())
    assert base == answer("uniform", facts(view="lateral", finding="Edema"))
    others = [
        {answer("uniform", facts(seed=s)) for s in range(20)},
        {answer("uniform", facts(repeat=r)) for r in range(20)},
        {answer("uniform", facts(item=f"i{i}|Edema")) for i in range(20)},
    ]
    assert all(len(cells) > 5 for cells in others)


def test_that_uniform_keeps_within_an_oblong_grid() -> None:
    grid = Grid(3, 26, LetterAxis.COLUMN)
    labels = {grid.label(cell) for cell in grid.cells()}
    seen = {
        answer("uniform", facts(rows=3, columns=26, letters="column", repeat=r))
        for r in range(1000)
    }
    assert seen == labels


def test_that_prior_takes_the_first_of_the_most_frequent_cells() -> None:
    counts = np.zeros((8, 8), int)
    counts[5, 1] = counts[3, 6] = 4
    counts[0, 0] = 3
    table = tuple(tuple(int(n) for n in row) for row in counts)
    assert answer("frequent_cell", facts(reference_counts=table)) == "D7"


@pytest.mark.parametrize("counts", [None, ((0,) * 10,) * 8])
def test_that_prior_without_other_patients_says_so_and_takes_the_middle(
    counts: tuple[tuple[int, ...], ...] | None,
) -> None:
    adapter = adapter_for(ModelProfile("frequent_cell", "frequent_cell"))
    about = facts(rows=8, columns=10, reference_counts=counts)
    reply = adapter.read(adapter.generate(request(about)))
    assert reply.text == "E6"
    assert "No other patient" in reply.note


def test_that_a_baseline_replies_in_plain_json() -> None:
    raw = adapter_for(ModelProfile("uniform", "uniform")).generate(request())
    assert raw.kind is ReplyKind.PLAIN
    assert set(json.loads(raw.body)) == {"text", "note"}
