"""Twice the images, twice the work: counted in calls, for every data-set format."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.many_images import MANY, counted_calls
from viewer.readers.datasets.catalog import formats_of, read_dataset
from viewer.services.importing.import_preview import previewed

FEW, MORE = 20, 80
_MOST_GROWTH = 1.1
"""How much more calls an image may take among four times as many images."""


def _calls(work: Callable[[], object]) -> int:
    with counted_calls() as counts:
        work()
    return counts[0]


@pytest.mark.parametrize("what", MANY)
def test_that_an_image_takes_no_more_calls_among_many(
    what: str, tmp_path: Path
) -> None:
    name, write = MANY[what]
    roots = {n: tmp_path / f"{n}" for n in (1, FEW, MORE)}
    for n, root in roots.items():
        write(root, n)
    works: tuple[Callable[[Path], object], ...] = (
        formats_of,
        lambda root: previewed(read_dataset(name, root, "many")),
    )
    for work in works:
        work(roots[1])  # what is done once in a process is done now
        few, more = (_calls(lambda: work(roots[n])) / n for n in (FEW, MORE))  # noqa: B023
        assert more <= _MOST_GROWTH * few, f"{few:.0f}, then {more:.0f}"
