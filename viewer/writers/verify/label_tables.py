"""The rows of HEAL-MedVQA's tables that follow from trials, worked out once more."""

from collections.abc import Iterable, Sequence

from viewer.writers.verify.item_tables import (
    Verdicts,
    count_cells,
    share_of,
    verdicts_by_arm,
)
from viewer.writers.verify.judging import Row
from viewer.writers.verify.sums import wilson_bounds
from viewer.writers.verify.verdicts import LEFT_OUT, ItemVerdict

_EDITS = {
    "TPT anatomy": ("tpt-anatomy", "tpt-sham"),
    "TPT disease": ("tpt-disease", "tpt-sham"),
    "VPT": ("vpt", "vpt-sham-own", "vpt-sham-same"),
}
"""The condition of each test, and its shams."""


def closed_rows(verdicts: Verdicts) -> list[Row]:
    """Return closed_scores.csv: every score that a closed F1 may mean."""
    rows: list[Row] = []
    for model, condition, own in _answering(verdicts):
        tp, fp, fn, tn, lost_yes, lost_no = _confusion(own)
        yes, no = _f1_of(tp, fp, fn + lost_yes), _f1_of(tn, fn, fp + lost_no)
        both = yes[0] is not None and no[0] is not None
        macro = (yes[0] + no[0]) / 2 if both else None  # type: ignore[operator]
        items = tp + fp + fn + tn + lost_yes + lost_no
        rows.append(
            (
                *(model, condition, tp, fp, fn, tn, lost_yes, lost_no, *yes, no[0]),
                *(macro, share_of(tp + tn, items), share_of(tn, tn + fp + lost_no)),
            )
        )
    return rows


def heal_accuracy_rows(verdicts: Verdicts, dataset: str) -> list[Row]:
    """Return table_2_accuracy.csv: precision, recall and F1 of both kinds."""
    rows: list[Row] = []
    for model, condition, own in _answering(verdicts):
        way = condition.partition("/")[2] or condition
        note = "LobA-approximation" if way in ("contour", "crop") else ""
        closed = [one for one in own if _is_closed(one)]
        opened = [one for one in own if not _is_closed(one)]
        tp, fp, fn, _, lost, _ = _confusion(own)
        rows.append(
            (
                *(dataset, model, condition, note, *count_cells(closed)[:5]),
                *(*_f1_of(tp, fp, fn + lost), *count_cells(opened)[:5]),
                *_f1_of(*_label_sums(opened, named=True)),
                *_f1_of(*_label_sums(opened, named=False)),
            )
        )
    return rows


def _answering(verdicts: Verdicts) -> Iterable[tuple[str, str, Verdicts]]:
    """Return the arms that ask the question as it is, with or without a region."""
    return [
        arm
        for arm in verdicts_by_arm(verdicts)
        if arm[1] in ("plain", "contour", "crop") or arm[1].startswith("loba-")
    ]


def _is_closed(one: ItemVerdict) -> bool:
    return one.view in ("positive", "hallucinated")


def _confusion(verdicts: Verdicts) -> tuple[int, int, int, int, int, int]:
    """Return TP, FP, FN and TN of yes, and what was not read of either."""
    pairs = [
        (one.said.get("yes"), one.view == "positive")
        for one in verdicts
        if _is_closed(one) and one.counted
    ]
    read = [pairs.count(p) for p in ((True, True), (True, False), (False, True))]
    rest = [pairs.count(p) for p in ((False, False), (None, True), (None, False))]
    return read[0], read[1], read[2], rest[0], rest[1], rest[2]


def _label_sums(verdicts: Verdicts, *, named: bool) -> tuple[int, int, int]:
    """Return TP, FP and FN over labels; ``named`` counts that there is no finding."""
    sums = [0, 0, 0]
    for one in verdicts:
        if not one.counted:
            continue
        none = {one.gold["none"]} if named else set()
        wanted, found = set(one.gold["labels"]) or none, set[str]()
        if "labels" in one.said:
            found = set(one.said["labels"]) or none
        for i, some in enumerate((wanted & found, found - wanted, wanted - found)):
            sums[i] += len(some)
    return sums[0], sums[1], sums[2]


def _f1_of(tp: int, fp: int, fn: int) -> tuple[float | None, ...]:
    """Return F1, precision and recall, None where the denominator is 0."""
    f1 = share_of(2 * tp, 2 * tp + fp + fn)
    return f1, share_of(tp, tp + fp), share_of(tp, tp + fn)


def flip_rows(verdicts: Verdicts, tests: Sequence[str]) -> list[Row]:
    """Return tables 3 and 4: of true positives, the share of edits answered No."""
    ways: dict[tuple[str, str], list[ItemVerdict]] = {}
    for one in verdicts:
        ways.setdefault((one.model, _way_of(one.condition)), []).append(one)
    rows: list[Row] = []
    for (model, way), own in ways.items():
        note = "LobA-approximation" if way in ("contour", "crop") else ""
        for test in tests:
            edit, *shams = _EDITS[test]
            if any(_test_of(one.condition) == edit for one in own):
                rows.append((model, way, note, test, *_flips(own, edit, shams)))
    return rows


def _flips(own: Verdicts, edit: str, shams: Sequence[str]) -> Row:
    """Return true positives, those without an edit, edits, and what became of them."""
    positive = {
        _question_of(one)
        for one in own
        if one.counted and (_was_followed(one) or _is_base_yes(one))
    }
    edits: dict[str, list[object]] = {}
    for one in own:
        test, key = _test_of(one.condition), _question_of(one)
        if key in positive and test in (edit, *shams) and one.status != "pending":
            kept = edits.setdefault(key, [])
            if test == edit and one.status != LEFT_OUT:
                kept.append(one.said.get("yes"))
    said = [yes for kept in edits.values() for yes in kept]
    flipped = said.count(False)
    bounds = wilson_bounds(flipped, len(said)) if said else (None, None)
    return (
        *(len(edits), sum(not kept for kept in edits.values()), len(said), flipped),
        *(said.count(None), share_of(flipped, len(said)), *bounds),
    )


def _test_of(condition: str) -> str:
    return condition.partition("/")[0]


def _way_of(condition: str) -> str:
    test, _, way = condition.partition("/")
    return way or ("plain" if _is_edit(condition) else test)


def _is_edit(condition: str) -> bool:
    return _test_of(condition).startswith(("tpt-", "vpt"))


def _was_followed(one: ItemVerdict) -> bool:
    return _is_edit(one.condition) and one.status != "provider_error"


def _is_base_yes(one: ItemVerdict) -> bool:
    return one.view == "positive" and one.is_right


def _question_of(one: ItemVerdict) -> str:
    """Return the question behind a trial, and its repeat."""
    name = one.item.rpartition("|")[0] if _is_edit(one.condition) else one.item
    return f"{name} {one.repeat}"
