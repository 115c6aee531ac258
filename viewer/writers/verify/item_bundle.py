"""The bundle of a study about items: its plan, its trials and its tables."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from viewer.writers.verify.archive import Bundle
from viewer.writers.verify.case_tables import (
    arm_rows,
    diagnosis_rows,
    judged_rows,
    open_rows,
    position_rows,
    strata_rows,
)
from viewer.writers.verify.choice_tables import (
    accuracy_interval_rows,
    accuracy_rows,
    corruption_rows,
    noise_rows,
    official_rows,
)
from viewer.writers.verify.comparing import (
    Report,
    Tell,
    Worked,
    compare_table,
    has_other_columns,
    read_csv,
)
from viewer.writers.verify.item_tables import (
    COUNT_COLUMNS,
    ITEM_COLUMNS,
    RATE_COLUMNS,
    grade_mean_rows,
    graded_verdicts,
    group_rows,
    number_names,
    output_rows,
    verdict_rows,
)
from viewer.writers.verify.label_tables import (
    closed_rows,
    flip_rows,
    heal_accuracy_rows,
)
from viewer.writers.verify.trial_check import JudgedFrom
from viewer.writers.verify.verdicts import ItemVerdict, plan_departures
from viewer.writers.verify.worded import judged_again

_FIVE = COUNT_COLUMNS[:5]
_ARMS = {
    "table_03": ("raw", "expert"),
    "table_04": ("raw", "remove_text", "random_text"),
    "table_06": ("raw", "refined"),
}
_CELLS = (
    *("k", "n", "n_planned", "n_failed", "n_refused", "n_unparsed"),
    *("n_excluded", "n_pending"),
)
_MEASURES = {
    "table_1": ("content", "language"),
    "table_2": ("process", "execution", "synthesis"),
}
_FLIPS = {"table_3_textual": ("TPT anatomy", "TPT disease"), "table_4_visual": ("VPT",)}
_KEY = ("model", "condition", "part", "subset")
_WILSON = ("wilson_low", "wilson_high")


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
    if "grades.json" in bundle.members:
        grades = json.loads(bundle.members["grades.json"])["grades"]
        verdicts = graded_verdicts(verdicts, grades, plan["params"])
        found.done.append(f"{len(grades)} grades of readers were counted again.")
    _tell_taken(source, plan, found)
    _compare(bundle, plan, verdicts, found)


def _tell_taken(source: JudgedFrom, plan: Mapping[str, Any], found: Report) -> None:
    if source.unjudged:
        found.left.append(
            f"How the study {plan['study']} judges is its own: the verdicts of "
            f"{source.unjudged} trials were taken as they stand."
        )


def _compare(
    bundle: Bundle,
    plan: Mapping[str, Any],
    verdicts: Sequence[ItemVerdict],
    found: Report,
) -> None:
    """Hold every table that can be worked out against its trials."""
    named = {*bundle.tables, *bundle.manifest["recomputed_tables"]}
    worked = [*_shared_tables(bundle, verdicts), *_own_tables(verdicts, plan)]
    if plan["package"]:
        worked = [one for one in worked if not has_other_columns(bundle, one)]
    else:
        named |= {"items", "results"}
    for table in worked:
        if table.name in named:
            compare_table(bundle, table, found)
    done = {table.name for table in worked}
    found.left += [
        f"tables/{name}.csv could not be worked out again: its bytes alone were held."
        for name in bundle.tables
        if name not in done and (plan["package"] or name in _KNOWN)
    ]


def _shared_tables(bundle: Bundle, verdicts: Sequence[ItemVerdict]) -> Iterator[Worked]:
    names = number_names(verdicts)
    header = (*ITEM_COLUMNS, *names)
    yield Worked("items", header, verdict_rows(verdicts), names)
    printed = next(iter(read_csv(bundle.members.get("tables/results.csv", b""))), [])
    means = [f"mean_{name}" for name in names]
    shown = means if set(means) & set(printed) else []
    rows = group_rows(verdicts, names if shown else ())
    key = ("finding", "view", "condition", "model")
    yield Worked("results", (*key, *RATE_COLUMNS, *shown), rows, means)


def _own_tables(
    verdicts: Sequence[ItemVerdict], plan: Mapping[str, Any]
) -> Iterator[Worked]:
    """Yield the tables that the study says follow from trials."""
    wanted = set(plan["worked_tables"])
    for names, tables in _GROUPS:
        if names & wanted:
            yield from tables(verdicts, plan)


def _grade_tables(
    verdicts: Sequence[ItemVerdict], plan: Mapping[str, Any]
) -> Iterator[Worked]:
    means = ("metric", "model", "n", "mean", "sd", "p_adjusted")
    for name, measures in _MEASURES.items():
        rows = grade_mean_rows(verdicts, plan["models"], measures)
        yield Worked(name, means, rows, ("mean", "sd"))
    header = (
        *("model", "n_planned", "n_delivered", "n_token_limit", "n_refused"),
        *("n_unparsed", "n_failed", "n_excluded", "n_pending"),
        *("n_with_boxes", "n_annotated_images", "n_boxes"),
    )
    yield Worked("outputs", header, output_rows(verdicts))


def _choice_tables(
    every: Sequence[ItemVerdict], plan: Mapping[str, Any]
) -> Iterator[Worked]:
    verdicts = [one for one in every if "options" in one.gold]
    rates = (*_KEY, *COUNT_COLUMNS, "k", "n", "accuracy")
    chance = ("random", "frequent", "frequent_letter")
    yield Worked("accuracy_paper", (*rates, *chance), accuracy_rows(verdicts))
    bounds = (*_WILSON, "image_low", "image_high", "answered_rate")
    rows = accuracy_interval_rows(verdicts)
    yield Worked("accuracy_recommended", (*rates, *bounds), rows)
    header = (
        *("model", "condition", "typed_k", "typed_n", "official_k", "official_n"),
        *("official_at_random", "official_dropped", "difference_points", "differing"),
    )
    seed = plan["params"]["official_seed"]
    yield Worked("official", header, official_rows(verdicts, seed))
    change = ("accuracy", "change", "direction")
    kinds = ("model", "corruption", "clean", *change)
    yield Worked("corruption", kinds, corruption_rows(verdicts))
    noise = ("model", "part", "subset", "clean", "noise", *change[1:])
    yield Worked("noise", noise, noise_rows(verdicts))


def _label_tables(
    verdicts: Sequence[ItemVerdict], plan: Mapping[str, Any]
) -> Iterator[Worked]:
    header = (
        *("model", "condition", "tp", "fp", "fn", "tn", "unread_yes", "unread_no"),
        *("f1_yes", "precision_yes", "recall_yes", "f1_no", "macro_f1", "accuracy"),
        "specificity",
    )
    yield Worked("closed_scores", header, closed_rows(verdicts))
    both = (
        *("dataset", "model", "condition", "note", *(f"yes_no_{c}" for c in _FIVE)),
        *(f"yes_no_{rate}" for rate in ("f1", "precision", "recall")),
        *(f"open_{count}" for count in _FIVE),
        *(f"open_{rate}" for rate in ("f1", "precision", "recall")),
        *(f"open_{rate}_dropped" for rate in ("f1", "precision", "recall")),
    )
    rows = heal_accuracy_rows(verdicts, plan["dataset"])
    yield Worked("table_2_accuracy", both, rows)
    flips = (
        *("model", "way", "note", "test"),
        *("n_true_positives", "n_without_edit", "n_edits"),
        *("n_flipped", "n_unread", "score", *_WILSON),
    )
    for name, tests in _FLIPS.items():
        yield Worked(name, flips, flip_rows(verdicts, tests))


def _case_tables(
    every: Sequence[ItemVerdict], plan: Mapping[str, Any]
) -> Iterator[Worked]:
    verdicts = [one for one in every if "arm" in one.gold]
    yield from _tables_of_all(verdicts)
    yield from _tables_of_each(verdicts, plan["params"]["small_cases"])


def _tables_of_all(verdicts: Sequence[ItemVerdict]) -> Iterator[Worked]:
    models = list(dict.fromkeys(one.model for one in verdicts))
    header, scores = ["model"], ["model"]
    for subset in ("en", "zh", "all"):
        for task in ("ddx", "fdx"):
            header += [f"{task}_{subset}", *(f"{task}_{subset}_{c}" for c in _CELLS)]
        header += [f"rank_{subset}", f"gap_pp_{subset}"]
        scores += [f"{name}_{subset}" for name in ("score", "n_judged", "n_planned")]
        scores += [f"top_{top}_{subset}" for top in (1, 3, 5, 10)]
    yield Worked("table_02", header, diagnosis_rows(verdicts), (), models)
    yield Worked("table_08", scores, judged_rows(verdicts), scores)
    letters = [f"gold_{x}{end}" for x in "ABCD" for end in ("", "_k", "_n")]
    agreed = ("n_orders_planned", "n_complete", "same", "same_right")
    header = ["model", *letters, "spread", *agreed]
    yield Worked("positions", header, position_rows(verdicts))


def _tables_of_each(verdicts: Sequence[ItemVerdict], small: int) -> Iterator[Worked]:
    """Yield the tables that are of one language, English ones as the paper has them."""
    models = list(dict.fromkeys(one.model for one in verdicts))
    scores = ("model", "score", "n_judged", "n_planned")
    changes = ("delta_pp", "gained", "lost", "p_mcnemar")
    strata = ("model", "stratum", "fdx", *_CELLS, "warning")
    for language, end in (("en", ""), ("zh", "_zh")):
        rows = open_rows(verdicts, language)
        yield Worked(f"table_09{end}", scores, rows, ("score",))
        for name, arms in _ARMS.items():
            header = ("model", "arm", "fdx", *_CELLS, *changes)
            yield Worked(f"{name}{end}", header, arm_rows(verdicts, arms, language))
        for name, of in (("table_10", "specialty"), ("table_11", "group")):
            rows = strata_rows(verdicts, of, small, language)
            yield Worked(f"{name}{end}", strata, rows, (), models)


_GROUPS = (
    (
        frozenset(
            {
                *("accuracy_paper", "accuracy_recommended", "official"),
                *("corruption", "noise"),
            }
        ),
        _choice_tables,
    ),
    (frozenset({"closed_scores", "table_2_accuracy", *_FLIPS}), _label_tables),
    (frozenset({"outputs", *_MEASURES}), _grade_tables),
    (
        frozenset(
            {
                *("table_02", "table_08", "positions", "table_09", "table_09_zh"),
                *(f"{name}{end}" for name in _ARMS for end in ("", "_zh")),
                *("table_10", "table_10_zh", "table_11", "table_11_zh"),
            }
        ),
        _case_tables,
    ),
)
"""Tables beside trials and rates, by what works them out; a plan names its own."""
_KNOWN = frozenset().union(*(names for names, _ in _GROUPS))
