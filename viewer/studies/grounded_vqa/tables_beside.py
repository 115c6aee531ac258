"""Tables of two data sets side by side, and of anatomies and findings."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from viewer.results.spec import OF_WHOM, Cell, Key, Shown, TableSpec
from viewer.studies.grounded_vqa.arms import PLAIN
from viewer.studies.grounded_vqa.attending import INSIDE, ON_IMAGE
from viewer.studies.grounded_vqa.cells import (
    AS_IS,
    CLOSED,
    OPEN,
    VPT,
    WHO,
    f1,
    mean_score,
    three,
)
from viewer.studies.grounded_vqa.edits import TEXTUAL, YES
from viewer.studies.grounded_vqa.frames import EDITS
from viewer.studies.grounded_vqa.remaining import OUTSIDE
from viewer.studies.grounded_vqa.shown import ASKED, beside, interval, number
from viewer.studies.tables import INTERVAL

_SCORES: Final = {
    "tpt_anatomy": tuple(TEXTUAL)[:1],
    "tpt_disease": tuple(TEXTUAL)[1:],
    "vpt": VPT,
}
_PLACES: Final = ("first", "second")


def side_by_side(datasets: Sequence[str]) -> TableSpec:
    """Return Tables 2 to 4 with a group of columns for each of two data sets."""
    return TableSpec(
        "side_by_side",
        (*map(Key, _PLACES), *WHO, Key("note")),
        tuple(cell for n in (1, 2) for cell in _of_place(n)),
        "Data sets side by side",
        "F1, precision and recall, and both perturbation tests, as the paper counts "
        "them, for the questions of each data set.",
        where=AS_IS,
        needs_several="dataset",
        shown=(*ASKED, *(s for pair in enumerate(datasets) for s in beside(*pair))),
    )


def _of_place(place: int) -> Iterator[Cell]:
    name, where = _PLACES[place - 1], {"place": (place,)}
    yield f1(three(f"{name}_yes_no"), {**CLOSED, **where}, only=(YES,))
    yield f1(three(f"{name}_open"), {**OPEN, **where})
    for score, tests in _SCORES.items():
        yield replace(mean_score(f"{name}_{score}", tests), where=where)


_COUNTED: Final = {"counted": (True,)}
OUTSIDE_PASTE: Final = TableSpec(
    "vpt_outside_paste",
    (Key("model"), Key("way"), Key("note")),
    (
        Cell("size", ("n_edits",), where=_COUNTED),
        Cell("mean", ("mean_outside",), (OUTSIDE,), _COUNTED),
        Cell("largest", ("most_outside",), (OUTSIDE,), _COUNTED),
        *(
            cell
            for name, remains in (("covered", False), ("remaining", True))
            for where in ({**_COUNTED, "remains": (remains,)},)
            for cell in (
                Cell("size", (f"n_{name}",), where=where),
                Cell("share", (f"score_{name}",), ("correct",), where),
            )
        ),
    ),
    "What remains of the finding outside the pasted region",
    "Share of the finding's boxes that another image's region leaves in sight, and how "
    "many answers became No where it covers them whole, and where something remains.",
    where={"told_outside": (True,)},
    shown=(
        *("model", Shown("way", "Condition"), "note", Shown("n_edits", "Edits")),
        number("mean_outside", "Outside, mean"),
        *(number("most_outside", "Outside, most"), Shown("n_covered", "Covered whole")),
        *(number("score_covered", "VPT"), Shown("n_remaining", "Something remains")),
        number("score_remaining", "VPT"),
    ),
)
"""Where a Yes after the paste may be right, for the finding is still in sight."""
ATTENTION_OF_ANSWERS: Final = TableSpec(
    "attention_of_answers",
    WHO,
    (
        Cell("size", ("n",)),
        *(Cell("mean", (name,), (name,)) for name in (ON_IMAGE, INSIDE)),
    ),
    "Where models looked as they answered",
    "From the last token of the prompt, the share of attention on the image, and of "
    "that the share inside the anatomy asked about.",
    where={**AS_IS, "told_attention": (True,)},
    shown=(
        *("model", Shown("condition", "Condition"), Shown("n", "Items")),
        *(number(ON_IMAGE, "On the image"), number(INSIDE, "In the anatomy")),
    ),
)
"""Attention of plain answers beside that of highlighted ones (E002-17)."""


def _edits_and_score(name: str, tests: tuple[str, ...]) -> tuple[Cell, Cell]:
    edits = Cell("sum", (f"{name}_edits",), ("n_edits",), {"test": tests}, frame=EDITS)
    return edits, mean_score(name, tests)


BY_ANATOMY: Final = TableSpec(
    "by_anatomy_and_finding",
    (
        *(*WHO, Key("note")),
        *(Key("anatomy", ascending=True), Key("finding", ascending=True)),
    ),
    (
        Cell(
            "rate",
            ("k", "n", "accuracy", *INTERVAL),
            ("correct", *OF_WHOM),
            {"counted": (True,)},
        ),
        Cell("chance level", ("chance",), ("chance",), {"counted": (True,)}),
        *_edits_and_score("tpt", tuple(TEXTUAL)),
        *_edits_and_score("vpt", VPT),
    ),
    "Accuracy and perturbation tests by anatomy and finding",
    "Questions about each finding in each anatomy; open ones ask about any finding. "
    "TPT is the mean of its two swaps. Answers without a region pointed out; "
    "by_anatomy_and_finding.csv has the others.",
    where={**AS_IS, "told_anatomy": (True,)},
    shown=(
        *("model", "anatomy", "finding", Shown("n", "Questions"), Shown("k", "Right")),
        *(number("accuracy", "Accuracy"), interval("ci", "95 % (Clopper-Pearson)")),
        *(number("chance", "Chance"), Shown("tpt_edits", "Swaps")),
        *(number("tpt", "TPT"), Shown("vpt_edits", "Pasted"), number("vpt", "VPT")),
    ),
    printed={"condition": (PLAIN,)},
)
"""Where a model is right, and where it looks."""
