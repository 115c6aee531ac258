"""The paper's tables from a run's trials, at full precision.

Paper and recommended numbers never share a column (X-02). Trials without an answer
count as wrong, and stand beside every rate.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.report import Table
from viewer.domain.result import TrialResult
from viewer.metrics.efficiency import per_hundred
from viewer.studies.grounded_vqa.arms import LOBA, PLAIN
from viewer.studies.grounded_vqa.cells import (
    NOT_COUNTED,
    Cell,
    by_way,
    cells,
    is_answer,
    labels,
    note_of,
    number,
    yes_no,
)
from viewer.studies.grounded_vqa.params import Params
from viewer.studies.grounded_vqa.perturbation_tables import mean_score
from viewer.studies.grounded_vqa.published import SIZES, SOURCE
from viewer.studies.grounded_vqa.questions import Benchmark, Kind
from viewer.studies.grounded_vqa.score import (
    ClosedScores,
    EmptyTruth,
    LabelScores,
    closed_scores,
    micro,
)
from viewer.studies.grounded_vqa.vocabulary import canonical
from viewer.studies.tables import rates_of

_CLOSED_KINDS: Final = (Kind.POSITIVE.value, Kind.HALLUCINATED.value)
_TEXTUAL: Final = ("TPT anatomy", "TPT disease")
_VISUAL: Final = ("VPT",)
_COUNTS: Final = ("n_planned", "n_scored", "n_failed", "n_refused", "n_unparsed")
Truths = Mapping[str, tuple[str, ...]]
"""The labels of each open item."""


def benchmark_table(benchmark: Benchmark, dataset: str) -> Table:
    """Return how many questions there are of each kind, beside the paper's (E002-03).

    What the paper says of its open and closed ones is not told by kind.
    """
    whole = len(benchmark.questions)
    own = ((dataset, k.value, n, n / whole) for k, n in benchmark.counts.items())
    all_of_it = sum(SIZES.values())
    printed = ((SOURCE, form, n, n / all_of_it) for form, n in SIZES.items())
    header = ("source", "kind", "n", "share")
    return Table("benchmark", header, (*own, *printed))


def accuracy_table(
    results: Sequence[TrialResult], truths: Truths, dataset: str
) -> Table:
    """Return Table 2: F1, precision and recall of closed and open questions.

    Closed ones are those of Yes, open ones micro over (item, label) with the label No
    finding, and without it in the columns after.
    """
    header = (
        *("dataset", "model", "condition", "note", *_counted("yes_no")),
        *("yes_no_f1", "yes_no_precision", "yes_no_recall", *_counted("open")),
        *("open_f1", "open_precision", "open_recall"),
        *("open_f1_dropped", "open_precision_dropped", "open_recall_dropped"),
    )
    rows = tuple(
        (
            *(dataset, cell.model, cell.condition, note_of(cell.condition)),
            *_closed_numbers(cell),
            *_open_numbers(cell, truths),
        )
        for cell in cells(results)
        if is_answer(cell.condition)
    )
    return Table("table_2_accuracy", header, rows)


def closed_table(results: Sequence[TrialResult]) -> Table:
    """Return every score that a closed F1 may mean, with its counts (E002-07)."""
    header = (
        *("model", "condition", "tp", "fp", "fn", "tn", "unread_yes", "unread_no"),
        *("f1_yes", "precision_yes", "recall_yes", "f1_no", "macro_f1", "accuracy"),
        "specificity",
    )
    rows = tuple(
        (cell.model, cell.condition, *_every_closed(_closed(cell)))
        for cell in cells(results)
        if is_answer(cell.condition)
    )
    return Table("closed_scores", header, rows)


def cost_table(results: Sequence[TrialResult]) -> Table:
    """Return Table 6: seconds and peak memory of 100 items.

    Memory is told of models that run here. Perturbed questions are not among them.
    """
    header = ("model", "condition", "n", "seconds_per_100", "peak_mib")
    rows = []
    for cell in cells([r for r in results if is_answer(r.condition)]):
        told = [r.score for r in cell.results if r.score.number("latency_ms")]
        peaks = [score.number("peak_mib") for score in told]
        cost = per_hundred(
            [score.number("latency_ms") or 0.0 for score in told],
            [None if peak is None else round(peak * 2**20) for peak in peaks],
        )
        if cost:
            rows.append(
                (cell.model, cell.condition, cost.n, cost.seconds, cost.peak_mib)
            )
    return Table("table_6_cost", header, tuple(rows))


def weight_table(results: Sequence[TrialResult], truths: Truths) -> Table:
    """Return Table 8: F1 by the weight added to the region's attention."""
    header = ("model", "weight", "yes_no_f1", "open_f1")
    rows = tuple(
        (
            *(cell.model, float(cell.condition.removeprefix(LOBA))),
            *(number(_closed(cell).yes.f1), number(_open(cell, truths).f1)),
        )
        for cell in cells(results)
        if cell.condition.startswith(LOBA)
    )
    return Table("table_8_weights", header, rows)


def ablation_table(results: Sequence[TrialResult], truths: Truths) -> Table:
    """Return Table 5: what localization and self-prompting each add.

    Perturbation tests stand where they were asked in that way.
    """
    header = (
        *("model", "condition", "note", "localization", "self_prompt"),
        *("tpt", "vpt", "yes_no_f1", "open_f1"),
    )
    ways = {(one.model, one.condition): one.results for one in by_way(results)}
    rows = tuple(
        (
            *(cell.model, cell.condition, note_of(cell.condition)),
            *(cell.condition != PLAIN, cell.condition.startswith(LOBA)),
            mean_score(ways[cell.model, cell.condition], _TEXTUAL),
            mean_score(ways[cell.model, cell.condition], _VISUAL),
            *(number(_closed(cell).yes.f1), number(_open(cell, truths).f1)),
        )
        for cell in cells(results)
        if is_answer(cell.condition)
    )
    several = len({row[1] for row in rows}) > 1
    return Table("table_5_ablation", header, rows if several else ())


def passes_table(results: Sequence[TrialResult]) -> Table:
    """Return each question's answers side by side: plain, and with its region shown.

    Beside them how the located region meets the anatomy's mask (E002-16).
    """
    shown = [r for r in results if is_answer(r.condition)]
    conditions = tuple(dict.fromkeys(r.condition for r in shown))
    by_key = {(r.item, r.model, r.repeat, r.condition): r for r in shown}
    keys = dict.fromkeys((r.item, r.model, r.repeat) for r in shown)
    if len(conditions) < 2:
        return Table("passes", (), ())
    rows = []
    for key in keys:
        of = [by_key.get((*key, condition)) for condition in conditions]
        told = (r.score.number("dice") for r in of if r)
        dice = next((d for d in told if d is not None), None)
        rows.append((*key, *(r.score.answer if r else "" for r in of), dice))
    header = ("item", "model", "repeat", *(f"answer_{c}" for c in conditions), "dice")
    return Table("passes", header, tuple(rows))


def dice_table(results: Sequence[TrialResult], bins: int = 10) -> Table:
    """Return Figure 7: the share of right answers by Dice of the located region.

    Answers to perturbed questions are not among them.
    """
    rows = []
    for cell in cells([r for r in results if is_answer(r.condition)]):
        told = [
            (r, d) for r in cell.results if (d := r.score.number("dice")) is not None
        ]
        for i in range(bins):
            inside = [r for r, d in told if min(int(d * bins), bins - 1) == i]
            k = sum(r.score.status is Status.SCORED_CORRECT for r in inside)
            if inside:
                share = len(inside) / len(told)
                what = (cell.model, cell.condition, i / bins, len(inside), share)
                rows.append((*what, k, k / len(inside)))
    header = ("model", "condition", "dice_from", "n", "share", "k", "accuracy")
    return Table("figure_7_dice", header, tuple(rows))


def _counted(name: str) -> tuple[str, ...]:
    return tuple(f"{name}_{count}" for count in _COUNTS)


def _kept(cell: Cell, *, closed: bool) -> tuple[TrialResult, ...]:
    return tuple(r for r in cell.results if (r.view in _CLOSED_KINDS) is closed)


def _settled(results: Iterable[TrialResult]) -> Iterator[TrialResult]:
    return (r for r in results if r.score.status not in NOT_COUNTED)


def _closed(cell: Cell) -> ClosedScores:
    return closed_scores(
        [
            (yes_no(result), result.view == Kind.POSITIVE.value)
            for result in _settled(_kept(cell, closed=True))
        ]
    )


def _open(
    cell: Cell, truths: Truths, empty: EmptyTruth = EmptyTruth.LABEL
) -> LabelScores:
    settled = _settled(_kept(cell, closed=False))
    return micro(((labels(r), truths.get(r.item, ())) for r in settled), empty)


def _closed_numbers(cell: Cell) -> Iterator[object]:
    yield from rates_of(_kept(cell, closed=True))[: len(_COUNTS)]
    yield from _f1(_closed(cell).yes)


def _open_numbers(cell: Cell, truths: Truths) -> Iterator[object]:
    yield from rates_of(_kept(cell, closed=False))[: len(_COUNTS)]
    for empty in EmptyTruth:
        yield from _f1(_open(cell, truths, empty))


def _f1(found: LabelScores) -> tuple[float | None, ...]:
    return tuple(map(number, (found.f1, found.precision, found.recall)))


def _every_closed(found: ClosedScores) -> Iterator[object]:
    yield from (found.tp, found.fp, found.fn, found.tn)
    yield from (found.unread_yes, found.unread_no)
    yield from _f1(found.yes)
    rest = (found.no.f1, found.macro_f1, found.accuracy, found.specificity)
    yield from map(number, rest)


def truths_of(labels: Mapping[str, Sequence[str]], params: Params) -> Truths:
    """Return the truths of open items in the words that replies are read as."""
    return {
        key: tuple(dict.fromkeys(canonical(one, params.findings) for one in of))
        for key, of in labels.items()
    }
