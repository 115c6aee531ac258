"""The study's tables as specifications; paper and recommended never mix (X-02)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from viewer.domain.choice import letter_of
from viewer.results.spec import (
    OF_WHOM,
    PERCENT,
    Cell,
    Key,
    ListSpec,
    Shown,
    Spec,
    TableSpec,
    Where,
)
from viewer.studies.image_dependence import CARD_SPECS
from viewer.studies.pathology_mcq.arms import PLAIN
from viewer.studies.pathology_mcq.baselines import frequent_option
from viewer.studies.pathology_mcq.frames import (
    ANSWERS,
    CHANGES,
    CHOICES,
    CLEAN,
    GUESSES,
    OFFICIAL,
    OVER_KINDS,
    REVIEWS,
    SIZES,
    VOTES,
)
from viewer.studies.pathology_mcq.params import (
    KINDS,
    Arm,
    FrequentFrom,
    Params,
    Pooling,
)
from viewer.studies.pathology_mcq.questions import Mcq
from viewer.studies.pathology_mcq.scopes import OVERALL, TINY, subsets_of
from viewer.studies.tables import INTERVAL, counts

BASELINES: Final = "baselines"
EXPERTS_WHOLE: Final = "experts_whole"
"""Tables that stand in no file: the paper's are laid out from them."""
_COUNTED: Final[Where] = {"counted": (True,)}
_RATE: Final = Cell(
    "rate", ("k", "n", "accuracy", *INTERVAL), ("correct", *OF_WHOM), _COUNTED
)
"""An accuracy with its interval: items on one image are not independent (X-07)."""
_COLUMN: Final = (Key("model"), Key("condition"), Key("part"), Key("subset"))


def specs(params: Params, mcqs: Sequence[Mcq]) -> list[Spec]:
    """Return the tables of a run about questions of a data set."""
    return [
        accuracy_paper(params, mcqs),
        RECOMMENDED,
        OFFICIAL_TABLE,
        OFFICIAL_ITEMS,
        CORRUPTION,
        NOISE,
        GUESS_TABLE,
        guess_audit(mcqs),
        experts(params.expert_pooling),
        ListSpec("reviews", frame=REVIEWS),
        ListSpec("sizes", frame=SIZES),
        *CARD_SPECS,
    ]


def accuracy_paper(params: Params, mcqs: Sequence[Mcq]) -> TableSpec:
    """Return accuracies as the paper has them, with its two baselines.

    ``mcqs`` are all of the data set: the validation split tells the frequent letter
    whether or not it was asked.
    """
    return TableSpec(
        "accuracy_paper",
        _COLUMN,
        (
            *counts(),
            _RATE,
            *_chance(params, mcqs, _COUNTED),
        ),
        "Accuracy",
        "Accuracy in per cent with the image, as in the paper, next to chance. In "
        "brackets: 95 % intervals by image.",
        frame=ANSWERS,
        shown=(
            *("model", "part", "subset", Shown("k", "k"), Shown("n", "n")),
            replace(_percent("accuracy"), limits=INTERVAL[:2]),
            *(_percent(name) for name in ("random", "frequent")),
        ),
        printed={"condition": (PLAIN,)},
    )


def _percent(column: str) -> Shown:
    return Shown(column, column.capitalize(), PERCENT, none="")


def baselines(params: Params, mcqs: Sequence[Mcq]) -> TableSpec:
    """Return chance and frequent choice for the questions asked."""
    return TableSpec(BASELINES, _COLUMN[2:], _chance(params, mcqs, {}))


def _chance(params: Params, mcqs: Sequence[Mcq], where: Where) -> tuple[Cell, ...]:
    """Return what chance and always the same letter come to (E003-03, X-08)."""
    options: dict[str, object] = {}
    if params.frequent_from is FrequentFrom.VAL:
        most = frequent_option([mcq for mcq in mcqs if mcq.split == "val"])
        options["answer"] = None if most is None else letter_of(most)
    names = ("frequent", "frequent_letter")
    return (
        Cell("chance", ("random",), ("options",), where),
        Cell("constant answer", names, ("letter",), where, options=options),
    )


_CHANCE: Final = Cell("chance level", ("chance",), ("chance",), _COUNTED)
RECOMMENDED: Final = TableSpec(
    "accuracy_recommended",
    _COLUMN,
    (
        *counts(),
        _RATE,
        Cell("share", ("answered_rate",), ("correct",), {"answered": (True,)}),
        _CHANCE,
    ),
    frame=ANSWERS,
)
"""Accuracies of every condition, and of the answers alone."""
OFFICIAL_TABLE: Final = TableSpec(
    "official",
    (Key("model"), Key("condition")),
    (
        Cell("sum", ("typed_k",), ("typed_correct",)),
        Cell("size", ("typed_n",)),
        Cell("sum", ("official_k",), ("official_correct",)),
        Cell("sum", ("official_n",), ("official_counted",)),
        Cell("sum", ("official_at_random",), ("at_random",)),
        Cell("size", ("official_dropped",), where={"official_counted": (0,)}),
        Cell(
            "difference in points",
            ("difference_points",),
            ("official_correct", "official_counted", "typed_correct", "one"),
        ),
        Cell("size", ("differing",), where={"differs": (True,)}),
        Cell("chance level", ("chance",), ("chance",)),
    ),
    "Official-compatible reading",
    "The replies as read by the authors' script, which answers unreadable ones at "
    "random and leaves out failed ones.",
    frame=OFFICIAL,
    shown=(
        *("model", Shown("condition", "Condition")),
        Shown("typed_k", "k / n", also="typed_n", between=" / ", group="This program"),
        *(
            replace(one, group="The authors' script")
            for one in (
                Shown("official_k", "k / n", also="official_n", between=" / "),
                Shown("official_at_random", "At random"),
                Shown("official_dropped", "Left out"),
            )
        ),
        Shown("difference_points", "Difference, points", "+.1f"),
        *(Shown("differing", "Read otherwise"), Shown("chance", "Chance %", PERCENT)),
    ),
)
"""Both accuracies of the same replies, and what chance and dropping did (E003-05)."""
OFFICIAL_ITEMS: Final = ListSpec(
    "official_items",
    ("model", "condition", "item", "typed", "official", "why"),
    frame=OFFICIAL,
    where={"differs": (True,)},
)
_CHANGE: Final = ("clean", "accuracy", "change", "direction", "n_pairs", "chance")


def _change(names: tuple[str, ...], by: tuple[str, ...]) -> tuple[Cell, ...]:
    """Return a mean of rates and its change, and the intervals of both."""
    change = Cell(
        "change of rates",
        names,
        ("correct", "chance"),
        _COUNTED,
        against={"shown": CLEAN},
        options={"by": by, "pair": "pair"},
        frame=CHANGES,
    )
    ends = (f"{name}_{end}" for name in names[1:3] for end in ("low", "high", "method"))
    intervals, of = "intervals of changed rates", ("correct", *OF_WHOM)
    return change, replace(change, estimator=intervals, names=tuple(ends), of=of)


CORRUPTION: Final = TableSpec(
    "corruption",
    (Key("model"), Key("shown", "corruption", values=(*KINDS, OVER_KINDS))),
    _change(_CHANGE, ("kind", "level")),
    frame=CHANGES,
    where={"part": (TINY,), "subset": (OVERALL,)},
    outer=("model", "shown"),
    every=True,
)
"""The mean over levels by kind, that over kinds, and what each changes (Table 2).

Clean and corrupted are of the same items; ``n_pairs`` counts an item at every level.
"""
NOISE: Final = TableSpec(
    "noise",
    (Key("model"), Key("part"), Key("subset")),
    _change(("clean", "noise", *_CHANGE[2:]), ()),
    frame=CHANGES,
    where={"shown": (Arm.NOISE.value,)},
)
"""Accuracy with noise for images, beside that with images (Table 3)."""
GUESS_TABLE: Final = ListSpec(
    "guesses",
    ("item", "subset", "split", "asked", "guessed", "models", "guessable"),
    frame=GUESSES,
)


def guess_audit(mcqs: Sequence[Mcq]) -> Spec:
    """Return how many are guessable, how many are kept, and how many are unknown.

    ``share`` is that of items with a known result; the paper found over 60 % before
    removing them (Sun 2024, 3.2).
    """
    told: Where = {"told": (True,)}
    return TableSpec(
        "guess_audit",
        (Key("subset", total=OVERALL, values=subsets_of(mcqs)),),
        (
            Cell("size", ("asked",)),
            Cell("size", ("guessable",), where={"out": (True,)}),
            Cell("size", ("kept",), where={**told, "out": (False,)}),
            Cell("size", ("not_told",), where={"told": (False,)}),
            Cell("share", ("share",), ("out",), told),
            Cell("interval", INTERVAL, ("out", *OF_WHOM), told),
            Cell("first", ("guessed_by", "models"), ("guessed_by", "of_models")),
        ),
        frame=GUESSES,
        sets=((), ("subset",)),
    )


def experts(pooling: Pooling) -> TableSpec:
    """Return each group's score in each part and subset, and the mean of the groups.

    Averaged: the mean over the members of each one's accuracy on what they answered.
    By majority: the accuracy of the option that most members chose (E003-11).
    """
    frame = CHOICES if pooling is Pooling.AVERAGE else VOTES
    by = ("group", "reader") if pooling is Pooling.AVERAGE else ("group",)
    return TableSpec(
        "experts",
        (Key("part"), Key("subset"), Key("group", total="mean", ascending=True)),
        (
            Cell(
                "nested mean of rates",
                ("score",),
                ("correct",),
                options={"by": by},
                frame=frame,
            ),
            Cell("distinct", ("members",), ("reader",), blank="group"),
            Cell("distinct", ("answered",), ("item",), blank="group"),
            Cell("first", ("items",), ("items",), blank="group"),
        ),
        frame=CHOICES,
        outer=("subset", "part"),
        sets=(("group",), ()),
    )


def experts_whole(pooling: Pooling) -> TableSpec:
    """Return the groups' mean where each of them read the whole column."""
    return replace(
        experts(pooling), name=EXPERTS_WHOLE, where={"whole": (True,)}, sets=((),)
    )
