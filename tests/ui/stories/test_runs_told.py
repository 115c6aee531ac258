"""Status bar, list, page and notification agree while something goes wrong."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.helpers.run_watch import Said, cancel, lines_of, stall
from tests.stories.test_full_disk import may_mount


@pytest.fixture(autouse=True)
def _application(qapp: object) -> None:
    del qapp


def _agree(said: Sequence[Said]) -> None:
    for now in said:
        words = now.page.partition(". ")[0]
        if words:
            assert now.bar in {"", words}
            assert now.row == f"{words.partition(' · ')[2]} · my-server"


def _first(said: Sequence[Said], words: str) -> Said:
    return next(now for now in said if words in now.bar)


def test_that_a_stalled_server_is_told_within_seconds_and_no_time_left(
    tmp_path: Path,
) -> None:
    said = stall(tmp_path)
    _agree(said)
    stalled = [now for now in said if "stalled for" in now.bar]
    held = [now for now in stalled if "waiting for 4 answers · 16 of 48" in now.bar]
    assert held[-1].counted == 16
    assert not any("left" in now.bar or "per minute" in now.bar for now in stalled)
    assert said[-1].notice == "Run 1 has ended: 48 trials."


def test_that_a_killed_worker_is_told_and_its_run_resumed_from_the_notification(
    tmp_path: Path,
) -> None:
    lines = lines_of("crash", tmp_path)
    ended = next(line for line in lines if "was interrupted" in line)
    bar, row, page, notice = ended.split(" | ")[1:5]
    assert bar == "Run 1 · worker ended at 8 of 48"
    assert row == "worker ended at 8 of 48 · my-server"
    assert page.startswith(f"{bar}. The process that asks the models ended")
    assert notice.startswith("Run 1 was interrupted at 8 of 48 trials.")
    assert "exit code -9" in notice
    assert "done · 48 trials" in lines[-1]


def test_that_a_cancelled_run_counts_what_is_on_its_way_until_it_is_over(
    tmp_path: Path,
) -> None:
    said = cancel(tmp_path)
    _agree(said)
    assert "4 answers on their way" in _first(said, "cancelling for").bar
    assert said[-1].notice == "Run 1 was cancelled at 12 of 48 trials."
    assert said[-1].page == "Run 1 · cancelled · 12 of 48"


def test_that_a_full_disk_ends_a_run_with_a_notification(tmp_path: Path) -> None:
    if not may_mount():
        pytest.skip("needs the right to mount a small disk")
    last = lines_of("full", tmp_path)[-1]
    assert "Run 1 · stopped by an error at" in last
    assert "disk that holds the store is full" in last
