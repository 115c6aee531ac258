"""The image-dependence card: what a model answers with its images and without them.

For every study that asks the same questions with an image and under controls. Each
control is paired with the image: both answers are of the same item and repeat, and
intervals and tests are by patient. An item needs its image where a model is right with
it and wrong under a control that hides it, in most of its repeats.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import starmap
from typing import Any, Final

from viewer.domain.figure import FigureHead, RateFigure, RatePanel
from viewer.domain.report import BarSeries
from viewer.results.evaluate import evaluate
from viewer.results.frame import Frame, frame_of_rows
from viewer.results.spec import (
    OF_WHOM,
    P_VALUE,
    PERCENT,
    TRIALS,
    Cell,
    Key,
    ListSpec,
    Shown,
    Spec,
    TableSpec,
)
from viewer.studies.tables import INTERVAL, counts

DEPENDENCE: Final = "dependence"
"""The frame of trials under a control, each with the verdict with the image."""
NEEDS: Final = "needs"
"""The frame of models, controls and items."""
CARD_NAME: Final = "image_dependence"
NEEDING_NAME: Final = "needs_image"
_PAIRED: Final = (
    *("n_pairs", "with_image", "under_control", "difference"),
    *("difference_low", "difference_high", "p", "difference_method"),
)
CARD: Final = TableSpec(
    CARD_NAME,
    (Key("model"), Key("condition", "control")),
    (
        *counts(),
        Cell(
            "rate",
            ("k", "n", "accuracy", *INTERVAL),
            ("correct", *OF_WHOM),
            {"counted": (True,)},
        ),
        Cell("chance level", ("chance",), ("chance",), {"counted": (True,)}),
        Cell(
            "paired difference",
            _PAIRED,
            ("with_image", "correct"),
            {"paired": (True,)},
            options={"cluster": "patient"},
        ),
        Cell("size", ("n_items",), frame=NEEDS),
        Cell("size", ("n_need_image",), where={"needs": (True,)}, frame=NEEDS),
    ),
    "Image dependence",
    "Accuracy with the image and under each control, of the same questions. The "
    "difference is what the image is worth; its interval and its test are by patient.",
    frame=DEPENDENCE,
    shown=(
        *("model", "control", Shown("n_pairs", "pairs")),
        Shown("with_image", "with the image", PERCENT),
        Shown("under_control", "under the control", PERCENT),
        Shown("chance", "chance", PERCENT),
        Shown("difference", "difference", "+.1f", 100),
        Shown("difference_low", "95 % interval", "+.1f", 100, also="difference_high"),
        Shown("p", "p", P_VALUE),
        Shown("n_need_image", "need the image", counts=("n_need_image", "n_items")),
    ),
)
"""A row for each model and control."""
NEEDING: Final = ListSpec(
    NEEDING_NAME,
    ("model", "control", "item", "patient", "image", "finding"),
    frame=NEEDS,
    where={"needs": (True,), "hides": (True,)},
)
"""The items that need their image, by model and by the control that tells it."""
_RATES: Final = TableSpec(
    "rates",
    (Key("model"), Key("condition")),
    (
        Cell(
            "rate",
            ("k", "n", "accuracy", *INTERVAL),
            ("correct", *OF_WHOM),
            {"counted": (True,)},
        ),
        Cell("chance level", ("chance",), ("chance",), {"counted": (True,)}),
    ),
)
_NOTHING: Final[Mapping[str, Any]] = {
    **dict.fromkeys(_RATES.header, None),
    "n": 0,
}
"""Of a condition that a model was not asked under."""
CARD_SPECS: Final[tuple[Spec, ...]] = (CARD, NEEDING)
DEFINITIONS: Final[Mapping[str, str]] = {
    "with_image": "accuracy with the image, of the trials that are paired",
    "under_control": "accuracy under the control, of the same items and repeats",
    "difference": (
        "accuracy with the image minus that under the control, over pairs of the same "
        "item and repeat; Clopper-Pearson by patient, of differences"
    ),
    "p": "two-sided sign-flip test of the difference, by patient",
    "n_need_image": (
        "items right with the image and wrong under the control, each in most of its "
        "repeats, of n_items that were asked both ways"
    ),
}


def card_frames(
    trials: Frame, plain: str, controls: Collection[str], hiding: Collection[str]
) -> dict[str, Frame]:
    """Return the frames of a card.

    Parameters
    ----------
    trials : Frame
        A run's trials.
    plain : str
        The condition with the image as it is.
    controls : collection of str
        The conditions that are compared with it.
    hiding : collection of str
        Those of them that send no image.
    """
    named = ("model", "item", "repeat")
    columns = ("condition", *named, "counted", "correct")
    right = {
        (model, item, repeat): correct
        for condition, model, item, repeat, counted, correct in trials.each(*columns)
        if condition == plain and counted
    }
    places = (i for i, c in enumerate(trials["condition"]) if c in controls)
    own = trials.take(places)
    with_image = [right.get(key) for key in own.each(*named)]
    paired = [
        counted and one is not None
        for counted, one in zip(own["counted"], with_image, strict=True)
    ]
    found = own.having(with_image=with_image, paired=paired)
    return {DEPENDENCE: found, NEEDS: _needs(found, hiding)}


def card_figure(
    trials: Frame,
    conditions: Sequence[str],
    number: str,
    words: Callable[[str], str],
) -> RateFigure | None:
    """Return the accuracies under each condition as bars; None without any answer.

    Parameters
    ----------
    trials : Frame
        A run's trials.
    conditions : sequence of str
        The condition with the image as it is, then the controls.
    number : str
        What the figure is called.
    words : callable
        Says what a condition does.
    """
    rates = evaluate(_RATES, {TRIALS: trials.where({"condition": (*conditions,)})})
    cells = {(str(r["model"]), str(r["condition"])): r for r in rates.records()}
    models = tuple(dict.fromkeys(model for model, _ in cells))
    asked = tuple(c for c in conditions if any((m, c) in cells for m in models))
    if len(asked) < 2:
        return None
    rows = [[cells.get((model, one), _NOTHING) for one in asked] for model in models]
    head = FigureHead(
        CARD_NAME,
        number,
        "Accuracy with the image and under controls",
        "The same questions with the image, and under each control. Whiskers are exact "
        "95 % intervals by patient, the line is chance.",
    )
    panel = RatePanel(
        "",
        tuple(map(words, asked)),
        tuple(starmap(_bars, zip(models, rows, strict=True))),
        tuple(tuple(row["chance"] for row in own) for own in rows),
    )
    return RateFigure(
        head, (panel,), "95 % interval", "chance", rate_name="Accuracy", in_order=True
    )


def _bars(model: str, rows: Sequence[Mapping[str, Any]]) -> BarSeries:
    return BarSeries(
        model,
        tuple(row["accuracy"] for row in rows),
        (None,) * len(rows),
        tuple(row["n"] for row in rows),
        tuple(
            None if row["ci_low"] is None else (row["ci_low"], row["ci_high"])
            for row in rows
        ),
    )


def _needs(found: Frame, hiding: Collection[str]) -> Frame:
    """Return for each model, control and item whether the item needs its image."""
    header = ("model", "condition", "item", "patient", "image", "finding")
    pairs: dict[tuple[str, ...], list[tuple[bool, bool]]] = defaultdict(list)
    columns = (*header, "paired", "with_image", "correct")
    for *about, paired, before, after in found.each(*columns):
        if paired:
            pairs[tuple(about)].append((before, after))
    rows = (
        (*about, about[1], about[1] in hiding, _is_needed(of))
        for about, of in pairs.items()
    )
    return frame_of_rows((*header, "control", "hides", "needs"), rows)


def _is_needed(pairs: Sequence[tuple[bool, bool]]) -> bool:
    before, after = (sum(pair[side] for pair in pairs) for side in (0, 1))
    return 2 * before > len(pairs) >= 2 * after
