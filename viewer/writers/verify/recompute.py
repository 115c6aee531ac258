"""A bundle's trials judged again, and its tables recomputed from them."""

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from viewer.writers.verify.archive import Bundle
from viewer.writers.verify.built_in import spec_departures
from viewer.writers.verify.case_frames import case_frames
from viewer.writers.verify.comparing import (
    Report,
    Tell,
    compare_table,
    has_other_columns,
)
from viewer.writers.verify.control_frames import (
    control_frames,
    control_of,
    has_controls,
)
from viewer.writers.verify.estimators import Rows
from viewer.writers.verify.frames import (
    Source,
    item_rows,
    trial_rows,
    variant_of,
    variant_rows,
)
from viewer.writers.verify.grade_frames import (
    grade_frames,
    graded_numbers,
    used_grades,
)
from viewer.writers.verify.heal_frames import heal_frames
from viewer.writers.verify.mcq_frames import mcq_frames
from viewer.writers.verify.place_frames import asked_of, place_frames
from viewer.writers.verify.placing import PlaceCheck
from viewer.writers.verify.question_frames import question_frames
from viewer.writers.verify.specs import UnknownError, Work, table_of
from viewer.writers.verify.trial_check import JudgedFrom, TrialCheck, stored_state
from viewer.writers.verify.verdicts import (
    LEFT_OUT,
    STATUSES,
    Placed,
    Verdict,
    plan_departures,
)

_PLACING = "grid_localization"
_FRAMES = {
    "evidence_diagnosis": case_frames,
    _PLACING: place_frames,
    "grounded_vqa": heal_frames,
    "pathology_mcq": mcq_frames,
    "question_set": question_frames,
    "rubric_reading": grade_frames,
}
"""What makes the frames of this program's own studies."""
_IN_PIXELS = ("point_x", "point_y", "distance_px", "distance_mm")
_WITHOUT_REPLY = frozenset({"pending", "provider_error", LEFT_OUT})
_NAMED_SO = (
    *("item", "patient", "image", "finding", "view", "condition", "repeat", "model"),
    "gold",
)
_FEW = 2_000_000
"""Numbers to draw up to which one process is quicker than several."""


def recompute(bundle: Bundle, found: Report, tell: Tell) -> None:
    """Judge every trial again, and recompute the tables that follow."""
    plan = json.loads(bundle.members["plan.json"])
    places = plan["study"] == _PLACING and not plan["package"]
    images = json.loads(bundle.members["references.json"]) if places else None
    trials = list(bundle.lines("trials.jsonl"))
    replies = tuple(bundle.lines("replies.jsonl"))
    given = json.loads(bundle.members.get("grades.json", b'{"grades": []}'))["grades"]
    finals = graded_numbers(given, plan["params"]["content_order"]) if given else {}
    source = JudgedFrom(plan["params"], replies, plan["package"], images, finals)
    tell(f"{len(trials)} trials are scored again.")
    found.wrong += plan_departures(plan, trials)
    verdicts = [judged_again(source, trial) for trial in trials]
    found.wrong += source.wrong
    tally = source.tally
    found.done.append(
        f"{len(plan['trials'])} planned trials are there once, each with one status; "
        f"{sum(len(trial['steps']) for trial in trials)} replies match the hashes of "
        f"their steps. {tally['plain']} plain answers were parsed again; of "
        f"{tally['held']} in sentences the stored answer was checked against the "
        f"reply; {tally['taken']} were taken as stored."
    )
    if tally["places"]:
        found.done.append(
            f"Taken from the bundle: the stored pixels of {tally['places']} places."
        )
    _report_taken(source, plan, found)
    grades = used_grades(given, verdicts)
    if given:
        found.done.append(f"{len(grades)} grades of readers were counted again.")
    people = json.loads(bundle.members.get("people.json", b"{}"))
    plain = [
        one
        for one in verdicts
        if not (variant_of(one.condition) or control_of(one.condition))
    ]
    planned = verdicts if len(plain) < len(verdicts) else ()
    asked = asked_of(plan, plain) if places else {}
    made_of = Source(plan, plain, grades, people, asked, planned, images or {})
    _compare_tables(bundle, made_of, found, tell)


def _report_taken(source: JudgedFrom, plan: Mapping[str, Any], found: Report) -> None:
    if source.unjudged:
        found.left.append(
            f"The study {plan['study']} has its own scoring: the verdicts of "
            f"{source.unjudged} trials were taken as stored."
        )


def _compare_tables(bundle: Bundle, source: Source, found: Report, tell: Tell) -> None:
    """Compute every table from its specification, and compare it with its file."""
    specs = json.loads(bundle.members["specs.json"])
    package, study = source.plan["package"], source.plan["study"]
    if not package:
        found.wrong += spec_departures(source, specs, bundle.tables)
        found.done.append(
            f"{len(specs)} table specifications are those of the study {study}."
        )
    make = None if package else _FRAMES.get(study)
    made = make(source) if make else {"trials": trial_rows(source.verdicts)}
    frames = {"items": item_rows(source.every), **_beside(source), **made}
    work: Work = partial(_worked, tell=tell)
    is_exact = source.params.get("mask_mode") == "exact"
    integrated = (*_IN_PIXELS, "outside_crop", *(("coverage",) if is_exact else ()))
    told = set()
    for spec in specs:
        name = spec["name"]
        try:
            table = table_of(spec, frames, work)
        except UnknownError as unknown:
            if package and name in bundle.tables:
                found.left.append(f"tables/{name}.csv {_LEFT} ({unknown}): {_HELD}.")
                told.add(name)
            continue
        if not package or not has_other_columns(bundle, table):
            close = (*table.close, *integrated)
            compare_table(bundle, replace(table, close=close), found)
            told.add(name)
    others = [name for name in bundle.tables if package and name not in told]
    found.left += [f"tables/{name}.csv {_LEFT}: {_HELD}." for name in others]


def _beside(source: Source) -> dict[str, Rows]:
    """Return the frames of variants of the prompts, and of controls, if any."""
    if not source.planned:
        return {}
    uncontrolled = [one for one in source.every if not control_of(one.condition)]
    known = has_controls(source) and not source.plan["package"]
    controlled = control_frames(source) if known else {}
    return {"prompt_variants": variant_rows(uncontrolled), **controlled}


_LEFT, _HELD = "could not be computed again", "only its bytes were checked"


def judged_again(source: JudgedFrom, trial: Mapping[str, Any]) -> Verdict:
    """Return the verdict that follows; differences from the record are reported."""
    parsed = json.loads(trial["parsed"]) if trial["parsed"] else {}
    check = TrialCheck(source, trial, parsed)
    _check_state(check)
    (status, reason), answer, placed = stored_state(trial), trial["answer"], Placed()
    if source.images is not None:
        status, reason, answer, placed = PlaceCheck(check).judged()
    elif trial["steps"]:
        status, reason = check.verdict()
    if (status, reason) != stored_state(trial):
        stored, follows = (
            " ".join(filter(None, state))
            for state in (stored_state(trial), (status, reason))
        )
        check.tell(f"it is {stored}, but {follows}")
    numbers = dict(trial["numbers"])
    for name, value in _outgoing(check, numbers):
        check.tell(f"{name} is {numbers[name]:g}, but {value:g}")
    return Verdict(
        **{name: trial[name] for name in _NAMED_SO},
        status=status,
        reason=reason,
        answer=answer,
        request=trial["request_sha256"],
        numbers=numbers,
        parsed=parsed,
        placed=placed,
        listed={
            **trial["strata"],
            **trial["listed"],
            "prompt_sha256": trial["prompt_sha256"],
            "reply": check.last_text(),
        },
    )


def _check_state(check: TrialCheck) -> None:
    trial = check.trial
    if trial["status"] not in STATUSES:
        check.tell(f"'{trial['status']}' is not a status")
    if not trial["steps"] and trial["status"] not in _WITHOUT_REPLY:
        check.tell("it has a verdict without a reply")
    asked = [step["request_sha256"] for step in trial["steps"]]
    if asked and trial["request_sha256"] not in asked:
        check.tell("its request belongs to no step")
    for step in trial["steps"]:
        check.check_hash(step)


def _outgoing(
    check: TrialCheck, numbers: Mapping[str, float]
) -> Iterator[tuple[str, float]]:
    """Yield the named numbers that differ from the stored ones."""
    for name, value in check.numbers().items():
        if name in numbers and numbers[name] != value:
            yield name, value


def _worked(tasks: Sequence[Any], tell: Tell) -> list[Any]:
    """Return the draws of tasks, in several processes if that is faster."""
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
