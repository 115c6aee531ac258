"""Verdicts and micro scores, against scikit-learn and the specification's fixture."""

import warnings
from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    precision_score,
    recall_score,
)
from sklearn.preprocessing import MultiLabelBinarizer

from tests.helpers.heal_trials import NO, UNREAD, YES, YesNo, closed, heal_rows, opened
from tests.helpers.tabled import Row, estimate
from viewer.domain.answer import LabelsAnswer, Status, Unparsed
from viewer.domain.result import TrialResult
from viewer.results.frame import Frame
from viewer.studies.grounded_vqa.about import About
from viewer.studies.grounded_vqa.frames import trial_frame
from viewer.studies.grounded_vqa.score import score_closed, score_open

LABELS = ("found", "true")
COUNTS = ("tp", "fp", "fn")
Truth = tuple[str, ...]


def _opened(
    answers: Iterable[LabelsAnswer | Unparsed], truths: Iterable[Truth]
) -> tuple[list[TrialResult], dict[str, Truth]]:
    """Return open questions that were answered, and what is right by item."""
    pairs = list(zip(answers, truths, strict=True))
    found = [opened(f"q{i}", said, truth) for i, (said, truth) in enumerate(pairs)]
    return found, {one.item: pairs[i][1] for i, one in enumerate(found)}


def _open_row(
    answers: Iterable[LabelsAnswer | Unparsed], truths: Iterable[Truth]
) -> Row:
    (row,) = heal_rows("table_2_accuracy", *_opened(answers, truths))
    return row


@pytest.mark.statement("E002-07")
def test_that_the_fixture_of_appendix_a3_is_exact() -> None:
    truths = [("pneumonia", "effusion"), (), ("nodule",), ()]
    named = [("pneumonia",), (), ("nodule", "fibrosis"), ("nodule",)]
    answers = list(map(LabelsAnswer, named))
    row = _open_row(answers, truths)
    results, _ = _opened(answers, truths)
    counts = [sum(one.score.number(n) or 0 for one in results) for n in COUNTS]
    assert counts == [3, 2, 2]
    with_label = [row[f"open_{of}"] for of in ("precision", "recall", "f1")]
    assert with_label == [0.6, 0.6, 0.6]
    assert row["open_precision_dropped"] == 2 / (2 + 2)
    assert row["open_recall_dropped"] == pytest.approx(2 / (2 + 1), abs=1e-15)
    assert row["open_f1_dropped"] == pytest.approx(4 / (4 + 2 + 1), abs=1e-15)


def _agrees_on_labels(rng: np.random.Generator) -> None:
    names = [f"finding {i}" for i in range(int(rng.integers(1, 6)))]
    n = int(rng.integers(1, 8))

    def draw() -> list[Truth]:
        return [tuple(x for x in names if rng.random() < 0.4) for _ in range(n)]

    truths, answers = draw(), draw()
    results, by_item = _opened(map(LabelsAnswer, answers), truths)
    frame = trial_frame(results, About(("q",)), by_item)
    for alone, drop in ((("No finding",), ()), ((), ("No finding",))):
        binarizer = MultiLabelBinarizer(classes=[*names, "No finding"])
        true = binarizer.fit_transform([t or alone for t in truths])
        found = binarizer.transform([a or alone for a in answers])
        ours = estimate("f1", frame, of=LABELS, drop=drop)
        scores = (f1_score, precision_score, recall_score)
        theirs = [s(true, found, average="micro", zero_division=np.nan) for s in scores]
        assert ours == pytest.approx(theirs, abs=1e-12, nan_ok=True)


def _agrees_on_closed(rng: np.random.Generator) -> None:
    n = int(rng.integers(1, 12))
    truths = [bool(x) for x in rng.random(n) < 0.5]
    answers = [(YES, NO, UNREAD)[int(i)] for i in rng.integers(0, 3, n)]
    frame = _closed_frame(answers, truths)
    words = {YES: "Yes", NO: "No", UNREAD: "unread"}
    true = ["Yes" if t else "No" for t in truths]
    found = [words[a] for a in answers]
    both = ["Yes", "No"]
    scores = (f1_score, precision_score, recall_score)
    theirs = np.array(
        [
            s(true, found, labels=both, average=None, zero_division=np.nan)
            for s in scores
        ]
    )
    for place, label in enumerate(both):
        ours = estimate("f1", frame, of=LABELS, only=(label,))
        assert ours == pytest.approx(theirs[:, place], abs=1e-12, nan_ok=True)
    (macro,) = estimate("macro f1", frame, of=LABELS, only=both)
    assert macro == pytest.approx(np.mean(theirs[0]), abs=1e-12, nan_ok=True)
    (accuracy,) = estimate("share", frame, of=("correct",))
    assert accuracy == pytest.approx(accuracy_score(true, found), abs=1e-12)
    (specificity,) = estimate(
        "share", frame.where({"right_answer": ("No",)}), of=("correct",)
    )
    assert specificity == pytest.approx(theirs[2, 1], abs=1e-12, nan_ok=True)


def _closed_frame(answers: Sequence[YesNo], truths: Sequence[bool]) -> Frame:
    pairs = zip(answers, truths, strict=True)
    return trial_frame(
        [closed("q", said, yes=yes) for said, yes in pairs], About(("q",)), {}
    )


@pytest.mark.statement("E002-07")
def test_that_micro_scores_agree_with_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(20):
            _agrees_on_labels(rng)
            _agrees_on_closed(rng)
    assert rng.random() < 1


@pytest.mark.proof
@pytest.mark.statement("E002-07")
def test_that_micro_scores_agree_with_scikit_learn_on_ten_thousand_cases() -> None:
    rng = np.random.default_rng(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(10_000):
            _agrees_on_labels(rng)
            _agrees_on_closed(rng)
    assert rng.random() < 1


@pytest.mark.statement("E002-07")
def test_that_closed_questions_have_every_score_the_paper_may_mean() -> None:
    positive: tuple[YesNo, ...] = (*6 * (YES,), NO, UNREAD)
    hallucinated: tuple[YesNo, ...] = (*9 * (NO,), *2 * (YES,), UNREAD)
    results = [
        *(closed("q", said) for said in positive),
        *(closed("q", said, yes=False) for said in hallucinated),
    ]
    (row,) = heal_rows("closed_scores", results)
    counts = [row[name] for name in (*COUNTS, "tn", "unread_yes", "unread_no")]
    assert counts == [6, 2, 1, 9, 1, 1]
    assert row["precision_yes"] == row["recall_yes"] == row["f1_yes"] == 6 / 8
    assert row["f1_no"] == 18 / 22
    assert row["accuracy"] == 15 / 20
    assert row["specificity"] == 9 / 12
    assert row["macro_f1"] == pytest.approx((12 / 16 + 18 / 22) / 2, abs=1e-15)


def test_that_nothing_has_no_score_rather_than_zero() -> None:
    open_alone = [opened("q", LabelsAnswer(()), ())]
    (row,) = heal_rows("closed_scores", open_alone)
    counts = [row[name] for name in (*COUNTS, "tn", "unread_yes", "unread_no")]
    assert counts == [0] * 6
    assert (row["accuracy"], row["specificity"], row["macro_f1"]) == (None,) * 3
    (accuracy,) = heal_rows("table_2_accuracy", [closed("q", YES)])
    assert (accuracy["open_f1"], accuracy["open_f1_dropped"]) == (None, None)


def test_that_a_reply_that_could_not_be_read_misses_every_label() -> None:
    two, none = _open_row([UNREAD], [("a", "b")]), _open_row([UNREAD], [()])
    assert (two["open_recall"], two["open_f1"], two["open_precision"]) == (0, 0, None)
    assert (none["open_recall"], none["open_recall_dropped"]) == (0.0, None)
    beside = _open_row([UNREAD, LabelsAnswer(("c",))], [("a", "b"), ("c",)])
    assert beside["open_recall"] == beside["open_recall_dropped"] == 1 / 3


def test_that_each_reply_has_a_verdict() -> None:
    right, wrong = score_closed(NO, yes=False), score_closed(YES, yes=False)
    unread = score_closed(UNREAD, yes=True)
    assert (right.status, right.answer) == (Status.SCORED_CORRECT, "No")
    assert (wrong.status, wrong.answer) == (Status.SCORED_WRONG, "Yes")
    assert (unread.status, unread.reason) == (Status.UNPARSED, "no_yes_or_no")
    all_named = score_open(LabelsAnswer(("b", "a")), ("a", "b"))
    one_more = score_open(LabelsAnswer(("a", "b")), ("a",))
    normal = score_open(LabelsAnswer(()), ())
    open_unread = score_open(UNREAD, ("a",))
    assert (all_named.status, all_named.answer) == (Status.SCORED_CORRECT, "b, a")
    assert one_more.status is Status.SCORED_WRONG
    assert one_more.numbers == (("tp", 1.0), ("fp", 1.0), ("fn", 0.0))
    assert (normal.status, normal.answer) == (Status.SCORED_CORRECT, "No finding")
    assert open_unread.status is Status.UNPARSED
