"""A run's trials as one frame, the basis of pages, exports and bundles."""

import gc
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from viewer.domain.errors import ProviderError
from viewer.domain.exchange import RawReply
from viewer.domain.item import Item, item_of
from viewer.domain.report import Table
from viewer.domain.run import Trial
from viewer.domain.study_words import OfTrial
from viewer.models.reading import read_reply
from viewer.results.frame import Frame, frame_of
from viewer.results.item_columns import Origin, names_of
from viewer.results.records import frame_of_trials
from viewer.services.reporting.grading import score_changed_grades
from viewer.services.sessions import datasets
from viewer.services.trials.run_context import RunContext
from viewer.store import runs, trials
from viewer.store.database import Store
from viewer.store.runs import condition_of
from viewer.store.trial_columns import Columns, trial_columns
from viewer.studies.tables import items_table

_CONVERTED: Final[Mapping[str, tuple[str, int]]] = {
    "seconds": ("latency_ms", 1_000),
    "cost_usd": ("cost_microusd", 1_000_000),
}
"""The stored column of a column in another unit, and how many of it make one."""
_AS_STORED: Final = tuple(
    name for name in names_of(Origin.STORED, Origin.COPIED) if name not in _CONVERTED
)
_READ: Final = tuple(
    dict.fromkeys(
        (*trials.SCORED, *_AS_STORED, *(stored for stored, _ in _CONVERTED.values()))
    )
)
_QUESTION: Final = ("item", "patient", "image", "view", "finding", "model")
_BESIDE: Final = ("parsed", "reply_id", "condition_params")
"""Stored columns of the frame that are none of ``items``."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """A stored run: its settings, every trial, and each trial's right answer.

    ``columns`` are all that verdicts and frames of trials need; ``golds`` are JSON, ""
    if no program can tell. ``outside_crop`` is the fraction of each trial's reference
    mask that the crop cuts off, 0-1, None without a mask.
    """

    context: RunContext
    columns: Columns
    golds: tuple[str, ...]
    outside_crop: tuple[float | None, ...]


def recorded(store: Store, run: int) -> Recorded:
    """Return a run's trials in the order planned; an unknown run raises."""
    score_changed_grades(store)
    with without_collections():
        columns = trial_columns(store, run, _READ)
        spec = runs.run_spec(store, run)
        context = RunContext(spec, datasets.dataset_of_run(store, run))
        return Recorded(context, columns, *_truths(context, columns))


def records(store: Store, run: int, *, replies: bool = False) -> Frame:
    """Return every trial of a run, in the order planned; an unknown run raises.

    ``finding`` and ``view`` also have columns under the study's own names, as do
    further strata such as an anatomy. ``answer`` is written as in tables;
    ``condition_params``, ``parsed`` and ``gold`` are JSON, "" if there is none. Tokens,
    ``seconds`` and ``cost_usd`` are totals over all replies behind an answer, None if
    unknown. ``correct`` and other columns derived from the status, and the named
    numbers, are those of :func:`frame_of_trials`. With ``replies`` there is a column
    ``reply`` with their text, of an answer of several steps the last of the trial's own
    model; it takes longer.
    """
    with without_collections():
        return frame_of_recorded(store, run, recorded(store, run), replies=replies)


def items_of_run(store: Store, run: int) -> Table:
    """Return the table ``items`` of a run's report; an unknown run raises."""
    run_trials = recorded(store, run)
    trials_of_run = frame_of_recorded(store, run, run_trials)
    return items_table(run_trials.context.study.words, trials_of_run)[1]


@contextmanager
def without_collections() -> Iterator[None]:
    """Pause the garbage collector of cycles; rows of trials create none.

    It would scan hundreds of thousands of new rows several times, for a tenth to a
    third of the time that they take.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def frame_of_recorded(
    store: Store, run: int, of: Recorded, *, replies: bool = True
) -> Frame:
    """Return the frame of trials that are read already, as :func:`records` does."""
    stored_columns = of.columns
    with without_collections():
        columns = {
            **_strata(of.context, stored_columns),
            **{name: stored_columns[name] for name in (*_AS_STORED, *_BESIDE)},
            **{
                name: _in_units(stored_columns[stored], per_unit)
                for name, (stored, per_unit) in _CONVERTED.items()
            },
            "gold": of.golds,
            "outside_crop": of.outside_crop,
        }
        if replies:
            texts = {
                one.id: reply_text(one.raw) for one in trials.replies_of(store, run)
            }
            columns["reply"] = [
                texts.get(one, "") for one in stored_columns["reply_id"]
            ]
        return frame_of_trials(
            columns, list(map(trials.numbers_of, stored_columns["numbers"]))
        )


def some_records(
    store: Store, run: int, names: Sequence[str], model: str = ""
) -> Frame:
    """Return stored columns of the trials of a run, or of one model of it.

    They are those of :func:`records`, in which no gold is computed for them.
    """
    score_changed_grades(store)
    return frame_of(trial_columns(store, run, names, model))


def _strata(context: RunContext, columns: Columns) -> dict[str, Sequence[object]]:
    """Return the strata of trials under the study's own names."""
    words, items = context.study.words, columns["item"]
    of_items = (
        dict(_of_items(context, items, stratum)) for stratum in words.strata.values()
    )
    strata = ([of[item] for item in items] for of in of_items)
    asked = (_of_trials(context, columns, told) for told in words.asked.values())
    values = (columns["finding"], columns["view"], *strata, *asked)
    return dict(zip(words.columns, values, strict=True))


def _of_items(
    context: RunContext, names: Iterable[str], stratum: Callable[[Item], str]
) -> Iterator[tuple[str, str]]:
    for name in dict.fromkeys(names):
        yield name, stratum(item_of(context.items, name))


def _of_trials(context: RunContext, columns: Columns, stratum: OfTrial) -> list[str]:
    """Return a stratum of each trial, computed once for all models and repeats."""
    pairs = tuple(zip(columns["item"], columns["condition"], strict=True))
    known = {
        (name, condition): stratum(item_of(context.items, name), name, condition)
        for name, condition in dict.fromkeys(pairs)
    }
    return [known[pair] for pair in pairs]


def _in_units(counts: Sequence[int | None], per_unit: int) -> list[float | None]:
    return [None if one is None else one / per_unit for one in counts]


def _truths(
    context: RunContext, columns: Columns
) -> tuple[tuple[str, ...], tuple[float | None, ...]]:
    """Return each trial's right answer, and how much of its mask the crop cuts off.

    The answer is JSON, "" if no program can tell. It is computed once per item and
    condition; per model only if readers grade, who may not be shown the same for all
    models. What the crop cuts off (E000-08) is the same under every condition; it is
    asked for beside the first answer, while the mask's reference is still cached.
    """
    names = ["item", "condition", *(["model"] * context.study.words.graded)]
    questions = list(zip(*(columns[name] for name in names), strict=True))
    rows = {question: row for row, question in enumerate(questions)}
    places = context.study.words.places
    golds: dict[tuple[object, ...], str] = {}
    outside: dict[tuple[str, str], float | None] = {}
    for question, row in rows.items():
        trial = _trial_at(columns, row)
        golds[question] = _gold_text(context, trial)
        mask = trial.image, trial.finding
        if places and mask not in outside:
            reference = context.reference(trial)
            outside[mask] = reference.fraction_outside if reference else None
    masks = zip(columns["image"], columns["finding"], strict=True)
    return tuple(map(golds.__getitem__, questions)), tuple(map(outside.get, masks))


def _gold_text(context: RunContext, trial: Trial) -> str:
    gold = context.gold(trial)
    return json.dumps(gold, sort_keys=True, ensure_ascii=False) if gold else ""


def _trial_at(columns: Columns, row: int) -> Trial:
    of = {name: columns[name][row] for name in _QUESTION}
    condition = condition_of(
        columns["condition"][row], columns["condition_params"][row]
    )
    return Trial(**of, condition=condition, repeat=0)


def reply_text(raw: RawReply) -> str:
    """Return the text of a reply, or its body if that cannot be read."""
    try:
        return read_reply(raw).text
    except ProviderError:
        return raw.body.decode("utf-8", "replace")
