"""The bundle of the study that places findings: its trials and its tables."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

from viewer.writers.verify.archive import Bundle
from viewer.writers.verify.comparing import Report, Tell
from viewer.writers.verify.frames import Source
from viewer.writers.verify.item_bundle import compare_tables
from viewer.writers.verify.judging import judge_of
from viewer.writers.verify.place_frames import asked_of, place_frames

_FEW = 2_000_000
"""Numbers to draw up to which one process is quicker than several."""


def recompute_places(
    bundle: Bundle, plan: Mapping[str, Any], found: Report, tell: Tell
) -> None:
    """Judge every trial again, and work the tables out again that follow."""
    judge, trials = judge_of(bundle), list(bundle.lines("trials.jsonl"))
    tell(f"{len(trials)} trials are judged again.")
    judged = [judge.trial(trial) for trial in trials]
    found.done.append(
        f"{judge.read} raw replies were read again. Of {judge.worded} worded ones the "
        f"stored reading was used, of {judge.placed} places the stored pixels, of "
        f"{judge.masks} masks the stored cell."
    )
    asked = asked_of(plan, judged)
    images = (trial["image"] for trial in trials)
    frames = place_frames(judge, list(zip(judged, images, strict=True)), asked)
    close = ("coverage",) if judge.params["mask_mode"] == "exact" else ()
    source = Source(plan, (), asked=asked, close=close)
    compare_tables(bundle, source, frames, found, partial(_worked, tell=tell))


def _worked(tasks: Sequence[Any], tell: Tell) -> list[Any]:
    """Return what tasks draw, in several processes where it pays."""
    started, shown = time.monotonic(), 0.0
    done: list[Any] = []
    for result in _results(tasks):
        done.append(result)
        now = time.monotonic() - started
        if now - shown > 2 and len(done) < len(tasks):
            shown = now
            left = now / len(done) * (len(tasks) - len(done))
            tell(f"Resampling: {len(done)} of {len(tasks)}, about {left:.0f} s left.")
    return done


def _results(tasks: Sequence[Any]) -> Iterator[Any]:
    if sum(task.size for task in tasks) <= _FEW or (os.cpu_count() or 1) < 2:
        yield from map(_result, tasks)
        return
    with ProcessPoolExecutor() as pool:
        yield from pool.map(_result, tasks)


def _result(task: Any) -> Any:  # noqa: ANN401 - each task makes its own
    return task.work()
