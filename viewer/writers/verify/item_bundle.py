"""The bundle of a study about items: its plan, its trials and its tables."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
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
from viewer.writers.verify.estimators import Rows
from viewer.writers.verify.frames import Source, trial_rows
from viewer.writers.verify.grade_frames import (
    grade_frames,
    graded_verdicts,
    used_grades,
)
from viewer.writers.verify.heal_frames import heal_frames
from viewer.writers.verify.mcq_frames import mcq_frames
from viewer.writers.verify.specs import UnknownError, Work, in_turn, table_of
from viewer.writers.verify.trial_check import JudgedFrom
from viewer.writers.verify.verdicts import plan_departures
from viewer.writers.verify.worded import judged_again

_FRAMES = {
    "evidence_diagnosis": case_frames,
    "grounded_vqa": heal_frames,
    "pathology_mcq": mcq_frames,
    "rubric_reading": grade_frames,
}
"""What makes the frames of this program's own studies."""


def recompute_items(
    bundle: Bundle, plan: Mapping[str, Any], found: Report, tell: Tell
) -> None:
    """Judge every trial again, and work the tables out again that follow."""
    trials = list(bundle.lines("trials.jsonl"))
    replies = tuple(bundle.lines("replies.jsonl"))
    source = JudgedFrom(plan["params"], replies, plan["package"])
    tell(f"{len(trials)} trials are judged again.")
    found.wrong += plan_departures(plan, trials)
    verdicts = [judged_again(source, trial) for trial in trials]
    found.wrong += source.wrong
    tally = source.tally
    found.done.append(
        f"{len(plan['trials'])} planned trials are there once, each with one status; "
        f"{sum(len(trial['steps']) for trial in trials)} replies hold against the "
        f"hashes of their steps. {tally['plain']} plain answers were read again, of "
        f"{tally['held']} in sentences the stored reading was held against the reply, "
        f"{tally['taken']} were taken as they stand."
    )
    _tell_taken(source, plan, found)
    grades: Sequence[Mapping[str, Any]] = ()
    if "grades.json" in bundle.members:
        given = json.loads(bundle.members["grades.json"])["grades"]
        grades = used_grades(given, verdicts)
        order = plan["params"]["content_order"]
        verdicts = graded_verdicts(verdicts, grades, order)
        found.done.append(f"{len(grades)} grades of readers were counted again.")
    people = json.loads(bundle.members.get("people.json", b"{}"))
    own = Source(plan, verdicts, grades, people)
    make = None if plan["package"] else _FRAMES.get(plan["study"])
    frames = make(own) if make else {"trials": trial_rows(verdicts)}
    compare_tables(bundle, own, frames, found)


def _tell_taken(source: JudgedFrom, plan: Mapping[str, Any], found: Report) -> None:
    if source.unjudged:
        found.left.append(
            f"How the study {plan['study']} judges is its own: the verdicts of "
            f"{source.unjudged} trials were taken as they stand."
        )


def compare_tables(
    bundle: Bundle,
    source: Source,
    frames: Mapping[str, Rows],
    found: Report,
    work: Work = in_turn,
) -> None:
    """Work every table out from its specification, and hold it against its file."""
    specs = json.loads(bundle.members["specs.json"])
    package, study = source.plan["package"], source.plan["study"]
    if not package:
        found.wrong += spec_departures(source, specs, bundle.tables)
        found.done.append(
            f"{len(specs)} specifications of tables are those of the study {study}."
        )
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
            close = (*table.close, *source.close)
            compare_table(bundle, replace(table, close=close), found)
            told.add(name)
    others = [name for name in bundle.tables if package and name not in told]
    found.left += [f"tables/{name}.csv {_LEFT}: {_HELD}." for name in others]


_LEFT, _HELD = "could not be worked out again", "its bytes alone were held"
