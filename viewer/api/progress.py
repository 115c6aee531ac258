"""Progress of a run derived from its events, and a text progress bar."""

import sys
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from viewer.api.data import Progress, Settled

if TYPE_CHECKING:
    from viewer.domain.run import Event, TrialDone

Tell = Callable[[Progress], object]
"""Called with the progress of a run."""
_CELLS: Final = 20
_TENTHS: Final = 10


def text_bar(progress: Progress) -> None:
    """Show progress on standard error.

    A terminal gets one line that is updated, anything else a new line per tenth.
    """
    from viewer.domain.escapes import one_line

    shown = sys.stderr
    is_terminal = shown.isatty()
    if progress.warning:
        shown.write(f"{one_line(progress.warning)}\n")
    if is_terminal:
        shown.write(f"\r\x1b[K{one_line(_line(progress))}")
        shown.write("\n" if progress.ended else "")
    elif progress.trial and _is_tenth(progress):
        shown.write(f"{one_line(_line(progress))}\n")
    shown.flush()


def _is_tenth(progress: Progress) -> bool:
    """Tell whether another tenth of the trials was just completed."""
    before, now = (
        _TENTHS * done // max(1, progress.planned)
        for done in (progress.done - 1, progress.done)
    )
    return now > before


def _line(progress: Progress) -> str:
    part = progress.done / progress.planned if progress.planned else 1.0
    full = int(part * _CELLS)
    bar = "#" * full + "." * (_CELLS - full)
    spent = "" if progress.spent_usd is None else f", {progress.spent_usd:.2f} $"
    note = f", {progress.note}" if progress.note else ""
    counted = f"{progress.done} of {progress.planned}"
    return f"Run {progress.run} [{bar}] {counted}{spent}{note}"


def progress_of(run: int, events: "Generator[Event]") -> Generator[Progress]:
    """Yield the progress that each event of a run's batch reports.

    Closing it closes the batch, which awaits and stores requests in flight.
    """
    with closing(events):
        now = Progress(run, 0, 0)
        for event in events:
            later = _after(replace(now, trial=None, warning=""), event)
            if later is not None:
                now = later
                yield now


def _after(now: Progress, event: "Event") -> Progress | None:
    """Return the progress after an event, None if the event does not change it."""
    from viewer.domain import run as told
    from viewer.services.configuring.money import DOLLAR
    from viewer.services.running.stopping import unanswered_sentence

    match event:
        case told.RunStarted():
            return replace(now, done=event.done, planned=event.planned)
        case told.TrialDone():
            return replace(now, done=now.done + 1, trial=_settled(event), note="")
        case told.ModelLoading() | told.RunWaiting():
            return replace(now, note=event.words)
        case told.TrialRetried():
            return replace(now, note=f"{event.model}: {event.reason}, asked again")
        case told.ModelStopped():
            return replace(now, warning=event.sentence)
        case told.RunSpent():
            return replace(now, spent_usd=event.spent / DOLLAR)
        case told.RunEnded():
            left = event.unanswered
            warning = unanswered_sentence(left) if left else ""
            return replace(now, ended=True, warning=warning, note="")
        case _:
            return None


def _settled(event: "TrialDone") -> Settled:
    score = event.score
    return Settled(
        *(event.trial, event.item, event.condition, event.repeat, event.model),
        *(score.status.value, score.reason, score.answer, event.reused),
        event.latency_ms / 1000,
    )
