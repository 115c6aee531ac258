"""How long the frame of a run's trials takes; printed, never asserted."""

import time
from pathlib import Path

from tests.helpers.big_store import answered_store
from viewer.services.reporting.records import records
from viewer.store.database import open_store

TRIALS = 100_000


def test_the_frame_of_a_hundred_thousand_trials(tmp_path: Path) -> None:
    answered_store(tmp_path / "s.sqlite", TRIALS)
    with open_store(tmp_path / "s.sqlite") as store:
        start = time.process_time()
        found = records(store, 1)
        framed = time.process_time()
        with_replies = records(store, 1, replies=True)
        told = time.process_time()
    assert len(found) == len(with_replies) == TRIALS
    assert all(found["gold"])
    print(
        f"\n{framed - start:.2f} s of one core for the frame of {TRIALS:,} trials "
        f"(budget 1 s), {told - framed:.2f} s with the text of each reply"
    )
