"""Tables of data sets side by side, of anatomies, of attention and of regions."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from viewer.results.spec import OF_WHOM, Cell, Key, ListSpec, Shown, TableSpec
from viewer.studies.grounded_vqa.arms import PLAIN
from viewer.studies.grounded_vqa.attending import IN_TOWER, INSIDE, ON_IMAGE
from viewer.studies.grounded_vqa.cells import (
    AS_IS,
    CLOSED,
    OPEN,
    VPT,
    WHO,
    f1,
    mean_of_shares,
    mean_score,
    share,
    three,
)
from viewer.studies.grounded_vqa.edits import TEXTUAL, YES
from viewer.studies.grounded_vqa.frames import EDITS, MASK_ORIGINS
from viewer.studies.grounded_vqa.remaining import OUTSIDE
from viewer.studies.grounded_vqa.shown import (
    ASKED,
    ATTENTION_SHOWN,
    IN_BRACKETS,
    OF_F1,
    beside,
    bounded,
    interval,
    number,
)
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
        f"them, for the questions of each data set. {OF_F1}",
        where=AS_IS,
        needs_several="dataset",
        shown=(*ASKED, *(s for pair in enumerate(datasets) for s in beside(*pair))),
    )


def _of_place(place: int) -> Iterator[Cell]:
    name, where = _PLACES[place - 1], {"place": (place,)}
    yield from f1(three(f"{name}_yes_no"), {**CLOSED, **where}, only=(YES,))
    yield from f1(three(f"{name}_open"), {**OPEN, **where})
    for score, tests in _SCORES.items():
        yield from mean_score(f"{name}_{score}", tests, where)


_COUNTED: Final = {"counted": (True,)}
OUTSIDE_PASTE: Final = TableSpec(
    "vpt_outside_paste",
    (Key("model"), Key("way"), Key("note")),
    (
        Cell("size", ("n_edits",), where=_COUNTED),
        *mean_of_shares("mean_outside", OUTSIDE, _COUNTED),
        Cell("largest", ("most_outside",), (OUTSIDE,), _COUNTED),
        *(
            cell
            for name, remains in (("covered", False), ("remaining", True))
            for where in ({**_COUNTED, "remains": (remains,)},)
            for cell in (
                Cell("size", (f"n_{name}",), where=where),
                *share(f"score_{name}", where),
            )
        ),
    ),
    "What remains of the finding outside the pasted region",
    "Share of the finding's boxes that another image's region leaves in sight, and how "
    "many answers became No where it covers them whole, and where something remains. "
    f"{IN_BRACKETS}",
    where={"told_outside": (True,), "rejected": (False,)},
    shown=(
        *("model", Shown("way", "Condition"), "note", Shown("n_edits", "Edits")),
        bounded("mean_outside", "Outside, mean"),
        *(number("most_outside", "Outside, most"), Shown("n_covered", "Covered whole")),
        *(bounded("score_covered", "VPT"), Shown("n_remaining", "Something remains")),
        bounded("score_remaining", "VPT"),
    ),
)
"""Where a Yes after the paste may be right, for the finding is still in sight."""
ATTENTION: Final = TableSpec(
    "attention",
    WHO,
    (
        Cell("size", ("n",)),
        *chain.from_iterable(
            mean_of_shares(name, name) for name in (IN_TOWER, ON_IMAGE, INSIDE)
        ),
    ),
    "Where attention went",
    "In the vision tower, to the region; from the last token, to the image. "
    f"{IN_BRACKETS}",
    where={"self_prompt": (True,), "told_tower": (True,)},
    shown=ATTENTION_SHOWN,
)
ATTENTION_OF_ANSWERS: Final = TableSpec(
    "attention_of_answers",
    WHO,
    (
        Cell("size", ("n",)),
        *(cell for name in (ON_IMAGE, INSIDE) for cell in mean_of_shares(name, name)),
    ),
    "Where models looked as they answered",
    "From the last token of the prompt, the share of attention on the image, and of "
    f"that the share inside the anatomy asked about. {IN_BRACKETS}",
    where={**AS_IS, "told_attention": (True,)},
    shown=(
        *("model", Shown("condition", "Condition"), Shown("n", "Items")),
        *(bounded(ON_IMAGE, "On the image"), bounded(INSIDE, "In the anatomy")),
    ),
)
"""Attention of plain answers beside that of highlighted ones (E002-17)."""


def _edits_and_score(name: str, tests: tuple[str, ...]) -> Iterator[Cell]:
    yield Cell("sum", (f"{name}_edits",), ("n_edits",), {"test": tests}, frame=EDITS)
    yield from mean_score(name, tests)


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
    f"by_anatomy_and_finding.csv has the others. {IN_BRACKETS}",
    where={**AS_IS, "told_anatomy": (True,)},
    shown=(
        *("model", "anatomy", "finding", Shown("n", "Questions"), Shown("k", "Right")),
        *(number("accuracy", "Accuracy"), interval("ci", "95 % (Clopper-Pearson)")),
        *(number("chance", "Chance"), Shown("tpt_edits", "Swaps")),
        *(bounded("tpt", "TPT"), Shown("vpt_edits", "Pasted"), bounded("vpt", "VPT")),
    ),
    printed={"condition": (PLAIN,)},
)
"""Where a model is right, and where it looks."""
ORIGINS: Final = ListSpec(
    MASK_ORIGINS,
    title="Where masks and regions come from",
    text="Images with a mask of each anatomy and who or what made it, as the setting "
    "masks_by says; and the region that is pointed out to a model.",
    frame=MASK_ORIGINS,
    shown=("what", "images", Shown("made_by", "Made by")),
)
"""Whether truth is drawn or a model's own (E002-18)."""
DICE: Final = TableSpec(
    "figure_7_dice",
    (*WHO, Key("dice_from", ascending=True)),
    (
        Cell("size", ("n",)),
        Cell("part", ("share",), against={"dice_from": None}),
        Cell("sum", ("k",), ("correct",)),
        Cell("share", ("accuracy",), ("correct",)),
        Cell("interval", INTERVAL, ("correct", *OF_WHOM)),
        Cell("chance level", ("chance",), ("chance",)),
    ),
    "Correct answers by the region's Dice",
    "Overlap of a located region with the anatomy's mask, in tenths.",
    where={**AS_IS, "told_dice": (True,)},
    shown=(
        *("model", Shown("condition", "Condition")),
        Shown("dice_from", "Dice from", ".1f"),
        *(Shown("n", "Questions"), number("share", "Share"), Shown("k", "Right")),
        *(number("accuracy", "Accuracy"), number("chance", "Chance")),
        interval("ci", "95 % (Clopper-Pearson)"),
    ),
)
"""Figure 7: the share of right answers by Dice of the located region."""
