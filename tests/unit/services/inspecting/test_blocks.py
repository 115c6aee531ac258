"""The log of the moments in which the window did not answer."""

from pathlib import Path

import pytest

from viewer.services.inspecting import blocks
from viewer.services.inspecting.blocks import (
    Block,
    count_blocks,
    keep_block,
    log_file,
)
from viewer.services.inspecting.listing import doctor_rows
from viewer.settings import Settings

WORKING = Block(0.08, 0.07, ("viewer/ui/a.py:12 paint", "viewer/app.py:3 run"))
WAITING = Block(0.2, 0.004, ("viewer/ui/b.py:1 read",))


def test_that_each_block_is_a_line_of_times_and_places(tmp_path: Path) -> None:
    keep_block(WORKING, tmp_path)
    keep_block(WAITING, tmp_path)
    first, second = log_file(tmp_path).read_text().splitlines()
    assert first.endswith(
        "Z 80 ms, 70 ms of it computing: viewer/ui/a.py:12 paint < viewer/app.py:3 run"
    )
    assert second.endswith("Z 200 ms, 4 ms of it computing: viewer/ui/b.py:1 read")
    assert log_file(tmp_path).stat().st_mode & 0o777 == 0o600


def test_that_waits_are_told_apart_from_computing(tmp_path: Path) -> None:
    assert count_blocks(tmp_path) is None
    for block in (WORKING, WAITING, WAITING):
        keep_block(block, tmp_path)
    with log_file(tmp_path).open("ab") as file:
        file.write(b"damaged \xff\n")
    count = count_blocks(tmp_path)
    assert count is not None
    assert (count.blocks, count.longest_ms) == (3, 200)
    assert (count.own, count.longest_own_ms) == (1, 70)
    assert [block.is_own for block in (WORKING, WAITING)] == [True, False]


def test_that_doctor_counts_them(tmp_path: Path) -> None:
    settings = Settings(tmp_path, tmp_path / "s.sqlite")

    def told() -> str:
        rows = doctor_rows(settings)
        return next(str(row["state"]) for row in rows if row["what"] == "window")

    assert told() == "always answered"
    keep_block(WAITING, tmp_path)
    assert told().startswith("1 block over 50 ms since 2")
    assert told().endswith("the longest 200 ms; 0 of computing, the longest 4 ms")


def test_that_the_log_stays_small_and_no_full_disk_ends_the_watch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "_MOST_BYTES", 200)
    for _ in range(9):
        keep_block(WORKING, tmp_path)
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 1_000
    assert count_blocks(tmp_path) is not None
    keep_block(WORKING, log_file(tmp_path))  # a file stands where the folder would be
