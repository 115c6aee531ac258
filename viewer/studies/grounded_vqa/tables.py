"""The paper's tables and ours, as specifications, at full precision.

Paper and recommended numbers never share a column (X-02). Trials without an answer
count as wrong, and are shown with every rate.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from viewer.results.spec import (
    OF_WHOM,
    P_VALUE,
    Cell,
    Key,
    ListSpec,
    Shown,
    Spec,
    TableSpec,
    Where,
)
from viewer.studies.grounded_vqa.cells import (
    AS_IS,
    CLOSED,
    LABELS,
    OPEN,
    VPT,
    WHO,
    ends_of,
    f1,
    mean_of_shares,
    mean_score,
    share,
    three,
)
from viewer.studies.grounded_vqa.edits import NO, TEXTUAL, VISUAL, YES
from viewer.studies.grounded_vqa.frames import (
    DISAGREEMENTS,
    EDITS,
    PASSES,
    QUESTIONS,
    WORDED,
    curve_name,
)
from viewer.studies.grounded_vqa.params import RelationRule
from viewer.studies.grounded_vqa.published import (
    ACCURACY,
    LLAVA_MED,
    LOBA,
    SIZES,
    SOURCE,
)
from viewer.studies.grounded_vqa.questions import Kind
from viewer.studies.grounded_vqa.shown import (
    ASKED,
    COUNTS,
    IN_BRACKETS,
    OF_F1,
    SCORE_SHOWN,
    TESTED,
    WORDS_SHOWN,
    bounded,
    counts_shown,
    interval,
    number,
    of_pass,
    three_shown,
)
from viewer.studies.grounded_vqa.tables_beside import (
    ATTENTION,
    ATTENTION_OF_ANSWERS,
    BY_ANATOMY,
    DICE,
    ORIGINS,
    OUTSIDE_PASTE,
    side_by_side,
)
from viewer.studies.grounded_vqa.vocabulary import NO_FINDING
from viewer.studies.tables import INTERVAL, counts

_MODEL_WAY: Final = (Key("model"), Key("condition", "way"), Key("note"))


def specs(
    *,
    has_dataset: bool,
    has_boxes: bool,
    extracted: bool = False,
    passes: Sequence[str] = (),
    datasets: Sequence[str] = ("", ""),
) -> list[Spec]:
    """Return the tables of a run, in the order of the page.

    ``passes`` are the columns of the table of passes, ``datasets`` the first two data
    sets that questions are from.
    """
    curves = [ListSpec(curve_name(r), frame=curve_name(r)) for r in RelationRule]
    return [
        *([_benchmark(), ORIGINS] if has_dataset else []),
        *(curves if has_boxes else []),
        ACCURACY_TABLE,
        side_by_side(datasets),
        _CLOSED_SCORES,
        BY_ANATOMY,
        _TABLE_3,
        _TABLE_4,
        OUTSIDE_PASTE,
        _SHAM_CONTROL,
        *(_COMMON, _COMMON_TEXTUAL),
        _ABLATION,
        _GAIN,
        _COST,
        _WEIGHTS,
        ATTENTION,
        ATTENTION_OF_ANSWERS,
        replace(_PASSES, shown=tuple(map(of_pass, passes))),
        *([_DISAGREEMENTS] if extracted else []),
        DICE,
    ]


_BOTH_F1: Final = (
    *f1(("yes_no_f1",), CLOSED, only=(YES,)),
    *f1(("open_f1",), OPEN),
)
_BOTH_F1_SHOWN: Final = (
    bounded("yes_no_f1", "F1, closed"),
    bounded("open_f1", "F1, open"),
)


def _benchmark() -> Spec:
    """Return how many questions there are of each kind, beside the paper's (E002-03).

    What the paper says of its open and closed ones is not told by kind.
    """
    every = sum(SIZES.values())
    return TableSpec(
        "benchmark",
        (Key("source"), Key("kind", values=tuple(kind.value for kind in Kind))),
        (Cell("size", ("n",)), Cell("part", ("share",), against={"kind": None})),
        "Questions by kind",
        "Number of questions of each kind, next to the paper's benchmark.",
        frame=QUESTIONS,
        outer=("source", "kind"),
        every=True,
        below=tuple((SOURCE, form, n, n / every) for form, n in SIZES.items()),
        shown=("source", "kind", Shown("n", "Questions"), number("share", "Share")),
    )


ACCURACY_TABLE: Final = TableSpec(
    "table_2_accuracy",
    (Key("dataset"), *WHO, Key("note")),
    (
        *counts(COUNTS, "yes_no_", {"closed": (True,)}),
        *f1(three("yes_no"), CLOSED, only=(YES,)),
        *counts(COUNTS, "open_", {"closed": (False,)}),
        *f1(three("open"), OPEN),
        *f1(three("open", "_dropped"), OPEN, drop=(NO_FINDING,)),
    ),
    "F1 for closed and open questions",
    "Closed questions by the F1 of Yes, open ones by micro F1 over labels; the last "
    f"three columns leave out the label No finding. {OF_F1}",
    where=AS_IS,
    shown=(
        *(Shown("dataset", "Data set"), *ASKED),
        *counts_shown("yes_no", "Closed (yes or no)"),
        *three_shown("yes_no", "Closed (yes or no)"),
        *counts_shown("open", "Open"),
        *three_shown("open", "Open"),
        *three_shown("open", "Open, without No finding", "_dropped"),
    ),
)
"""Table 2: F1, precision and recall; closed questions are those of Yes."""


def _answers(name: str, answer: str, right: str) -> Cell:
    return Cell(
        "size", (name,), where={**CLOSED, "said": (answer,), "right_answer": (right,)}
    )


_CLOSED_SCORES: Final = TableSpec(
    "closed_scores",
    WHO,
    (
        *(_answers("tp", YES, YES), _answers("fp", YES, NO)),
        *(_answers("fn", NO, YES), _answers("tn", NO, NO)),
        *(_answers("unread_yes", "", YES), _answers("unread_no", "", NO)),
        *f1(("f1_yes", "precision_yes", "recall_yes"), CLOSED, only=(YES,)),
        *f1(("f1_no",), CLOSED, only=(NO,)),
        Cell("macro f1", ("macro_f1",), LABELS, CLOSED, options={"only": (YES, NO)}),
        Cell(
            *("interval of macro f1", ends_of("macro_f1"), (*LABELS, *OF_WHOM), CLOSED),
            options={"only": (YES, NO)},
        ),
        Cell("size", ("n",), where=CLOSED),
        *share("accuracy", CLOSED),
        Cell("chance level", ("chance",), ("chance",), CLOSED),
        *share("specificity", {**CLOSED, "right_answer": (NO,)}),
    ),
    where=AS_IS,
)
"""Every score that a closed F1 may mean, with its counts (E002-07)."""


def _perturbation(name: str, kind: str, tests: tuple[str, ...]) -> TableSpec:
    """Return Tables 3 and 4: of a model's true positives, the share that became No."""
    base: Where = {"positive": (True,)}
    rate = ("score", *INTERVAL)
    return TableSpec(
        name,
        (*_MODEL_WAY, Key("test", values=tests)),
        (
            Cell("size", ("n_true_positives",), where=base),
            Cell("size", ("n_without_edit",), where={**base, "edited": (False,)}),
            Cell("sum", ("n_edits",), ("n_edits",)),
            Cell("sum", ("n_flipped",), ("n_flipped",)),
            Cell("sum", ("n_unread",), ("n_unread",)),
            Cell("pooled rate", rate, ("n_flipped", "n_edits", *OF_WHOM), where=base),
        ),
        f"{kind} perturbation test",
        "As the paper counts it: true positives whose answer became No.",
        frame=EDITS,
        shown=(*TESTED, *SCORE_SHOWN),
    )


_VISUAL: Final = _perturbation("table_4_visual", "Visual", VPT)
_TABLE_4: Final = replace(
    _VISUAL,
    cells=(*_VISUAL.cells, Cell("sum", ("n_rejected",), ("n_rejected",))),
    text="As the paper counts it: true positives whose answer became No. Edited images "
    "that a reader rejected are left out.",
    shown=(*_VISUAL.shown, Shown("n_rejected", "Rejected")),
)
"""Table 4; readers may review its images (E002-10)."""


def _over_words(where: Where | None = None) -> Cell:
    names = (
        *("n_compared", "denied", "word_prior", "net", "net_low", "net_high"),
        "net_method",
    )
    of = ("words", "patient", "swapped", "said")
    return Cell("gain over words", names, of, where or {}, frame=WORDED)


_PAPERS: Final = _perturbation("table_3_textual", "Textual", tuple(TEXTUAL))
_TABLE_3: Final = replace(
    _PAPERS,
    cells=(
        *_PAPERS.cells,
        _over_words(),
        *mean_of_shares("other_words", "sham_share", {"positive": (True,)}),
    ),
    text="As the paper counts it: true positives whose answer became No. Next to it "
    "is what remains after subtracting the model's denials of the same words for "
    "other patients who have the finding there (net): a model that answers from "
    f"the words alone nets nothing. {IN_BRACKETS}",
    shown=(
        *(*TESTED, *SCORE_SHOWN, *WORDS_SHOWN),
        bounded("other_words", "Other words"),
    ),
)
"""Table 3, and the gain over the word prior (recommended; E002-09, X-09).

A question in other words is not a control of a swapped one, for a model that never
looks at the image answers both from what they say; the share that it denies stands
last.
"""
_ON_SHARED: Final = (
    "Models are compared on the true positives that all of them have. A model without "
    "a true positive has no item here, and the others are compared without it."
)
_COMMON_TEXTUAL: Final = TableSpec(
    "common_textual",
    (*_MODEL_WAY, Key("test", values=tuple(TEXTUAL))),
    (_over_words({"shared": (True,)}),),
    "Textual perturbation test on shared true positives",
    _ON_SHARED,
    frame=EDITS,
    needs_several="model",
    shown=(*TESTED, *WORDS_SHOWN),
)


def _net(where: Where) -> Cell:
    names = (
        *("n_items", "flip", "sham_flip", "net", "net_low", "net_high"),
        *("p_value", "method"),
    )
    shares = ("edit_share", "sham_share")
    where = {**where, "comparable": (True,)}
    return Cell(
        "paired difference", names, shares, where, options={"cluster": "patient"}
    )


_SHAM_CONTROL: Final = TableSpec(
    "sham_control",
    (*_MODEL_WAY, Key("test", values=tuple(VISUAL))),
    (_net({"positive": (True,)}),),
    "Visual perturbation minus its shams",
    "A model that says No to any edit nets nothing here. VPT is compared with donors "
    "that have the same finding, and with the image's own region, shifted in grey "
    "until its seam is as visible as the donor's.",
    frame=EDITS,
    where={"controlled": (True,)},
    outer=("test",),
    shown=(
        *(*TESTED, Shown("n_items", "Items")),
        number("flip", "Became No"),
        number("sham_flip", "Sham became No"),
        *(number("net", "Net"), interval("net", "Net 95 % (Clopper-Pearson)")),
        Shown("p_value", "p", P_VALUE),
    ),
)
"""Flips less sham flips, by patient (recommended; E002-11, E002-12)."""
_COMMON: Final = replace(
    _SHAM_CONTROL,
    name="common_true_positives",
    cells=(_net({"shared": (True,)}),),
    title="Visual perturbation minus its shams, on shared true positives",
    text=_ON_SHARED,
    needs_several="model",
)
"""The same on the true positives that all models share, in all ways with any."""
_ABLATION: Final = TableSpec(
    "table_5_ablation",
    (*WHO, Key("note"), Key("localization"), Key("self_prompt")),
    (*mean_score("tpt", tuple(TEXTUAL)), *mean_score("vpt", VPT), *_BOTH_F1),
    "What localization and self-prompting add",
    "A contour or an enlarged region is only drawn: an approximation of LobA. "
    f"{IN_BRACKETS}",
    where=AS_IS,
    needs_several="condition",
    shown=(
        *(*ASKED, "localization", Shown("self_prompt", "Self-prompting")),
        *(bounded("tpt", "TPT"), bounded("vpt", "VPT"), *_BOTH_F1_SHOWN),
    ),
)
"""Table 5; perturbation tests stand where they were asked in that way."""


def _printed_gains() -> Iterator[tuple[object, ...]]:
    """Yield the paper's gains of LobA over the model that it was built on."""
    f1 = {(row.who, row.subject): row.value for row in ACCURACY if row.measure == "F1"}
    for who, subject in f1:
        if who == LOBA:
            before, after = f1[LLAVA_MED, subject], f1[LOBA, subject]
            gain = 100 * (after - before) / before
            note = f"over {LLAVA_MED}"
            yield (SOURCE, LOBA, "loba", note, subject, before, after, gain)


_GAIN: Final = TableSpec(
    "relative_gain",
    (
        *(Key("source"), *WHO, Key("note")),
        Key("questions", values=("Yes/No", "Open")),
    ),
    (
        Cell(
            "gain in f1",
            ("f1_plain", "f1", "gain_percent"),
            LABELS,
            {"counted": (True,)},
            against={"condition": "plain", "note": "", "beside_plain": None},
            options={"drop": (NO,)},
            frame="trials",
        ),
    ),
    "Gain over the plain answers",
    "In per cent of the plain F1, as the paper counts, without an interval: that of "
    "each F1 stands in Table 2. The paper's own gains are on other data.",
    where={"beside_plain": (True,)},
    below=tuple(_printed_gains()),
    shown=(
        *("source", *ASKED, "questions"),
        *(number("f1_plain", "Plain F1"), number("f1", "F1")),
        Shown("gain_percent", "Gain %", "+z.2f"),
    ),
)
"""What pointing a region out adds to F1, relative to the plain answers (E002-19).

The paper's gains are relative ones: .551 to .581 is its "up to 5.44 %". Without the
label No the F1 of closed questions is that of Yes.
"""
_COST: Final = TableSpec(
    "table_6_cost",
    WHO,
    (
        Cell("size", ("n",)),
        Cell("mean", ("seconds_per_100",), ("seconds_per_100",)),
        Cell("largest", ("peak_mib",), ("peak_mib",)),
    ),
    "Time and memory of 100 items",
    "All passes of an item together; memory of models on this machine.",
    where={**AS_IS, "timed": (True,)},
    shown=(
        *("model", Shown("condition", "Condition"), Shown("n", "Items")),
        Shown("seconds_per_100", "Seconds", ".1f"),
        Shown("peak_mib", "Peak memory, MiB", ".0f"),
    ),
)
"""Table 6: seconds and peak memory of 100 items; perturbed ones are not among them."""
_WEIGHTS: Final = TableSpec(
    "table_8_weights",
    (Key("model"), Key("weight")),
    _BOTH_F1,
    "Weight on the region's attention",
    f"F1 by the weight added in the vision tower. {IN_BRACKETS}",
    where={"self_prompt": (True,)},
    shown=(*("model", Shown("weight", "Weight", "g"), *_BOTH_F1_SHOWN),),
)
_PASSES: Final = ListSpec(
    "passes",
    title="Answers of each pass",
    text="A question's answers side by side, with the overlap of its region and the "
    "mask.",
    frame=PASSES,
    most=40,
)


_DISAGREEMENTS: Final = ListSpec(
    "extraction_disagreements",
    title="Where model and dictionary disagree",
    text="Open answers in which the extracting model and the dictionary read "
    "different findings; the model's count, or the dictionary's if that was not "
    "readable.",
    frame=DISAGREEMENTS,
    shown=(
        *("item", "model", Shown("condition", "Condition"), "repeat"),
        *(Shown("extractor", "Model reads"), Shown("dictionary", "Dictionary reads")),
    ),
)
