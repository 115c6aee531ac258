"""The image-dependence card: a model's answers with and without images.

For every study that asks the same questions with an image and under controls. Each
control is paired with the image: both answers are of the same item and repeat, and
intervals and tests are by patient. An item needs its image if a model is right with it
and wrong under a control that hides it, in most repeats.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from math import isnan
from typing import Any, Final

from viewer.domain.figure import FigureHead, RateFigure, RatePanel
from viewer.domain.report import BarSeries
from viewer.metrics.pairing import bounded_mean
from viewer.results.evaluate import evaluate
from viewer.results.frame import Frame, frame_of_rows
from viewer.results.records import comparable
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
SCORED: Final = "scored_dependence"
"""The frame of trials under a control whose verdicts have a score."""
CARD_NAME: Final = "image_dependence"
NEEDING_NAME: Final = "needs_image"
SCORES_NAME: Final = "image_dependence_scores"
ANSWERED_NAME: Final = "answered_under_control"
_CONTROL: Final = (Shown("control", "Control"),)
_ASKED: Final = ("item", "repeat")
_PAIRED: Final = (
    *("n_pairs", "with_image", "under_control", "difference"),
    *("difference_low", "difference_high", "p", "difference_method"),
)


def _rate(name: str) -> Cell:
    names = ("k", "n", name, *INTERVAL)
    return Cell("rate", names, ("correct", *OF_WHOM), {"counted": (True,)})


_DIFFERENCE: Final = Cell(
    "paired difference",
    _PAIRED,
    ("with_image", "correct"),
    {"paired": (True,)},
    options={"cluster": "patient"},
)
_SHOWN_DIFFERENCE: Final = (
    Shown("difference", "Difference", "+.1f", 100),
    Shown("difference_low", "95 % interval", "+.1f", 100, also="difference_high"),
    Shown("p", "p", P_VALUE),
)


def card(by: Sequence[Key] = (), shown: Sequence[str | Shown] = _CONTROL) -> TableSpec:
    """Return the card: a row for each model and control, apart by what is asked."""
    return TableSpec(
        CARD_NAME,
        (Key("model"), *by, Key("condition", "control")),
        (
            *counts(),
            _rate("accuracy"),
            Cell("chance level", ("chance",), ("chance",), {"counted": (True,)}),
            _DIFFERENCE,
            Cell("size", ("n_items",), frame=NEEDS),
            Cell("size", ("n_need_image",), where={"needs": (True,)}, frame=NEEDS),
        ),
        "Image dependence",
        "Accuracy with the image and under each control, of the same questions. The "
        "difference is what the image is worth; its interval and its test are by "
        "patient.",
        frame=DEPENDENCE,
        shown=(
            *(Shown("model", "Model"), *shown, Shown("n_pairs", "Pairs")),
            Shown("with_image", "With the image", PERCENT),
            Shown("under_control", "Under the control", PERCENT),
            Shown("chance", "Chance", PERCENT),
            *_SHOWN_DIFFERENCE,
            Shown("n_need_image", "Need the image", also="n_items", between=" / "),
        ),
    )


def needing(by: Sequence[str] = ()) -> ListSpec:
    """Return the items that need their image, by model and by the control."""
    return ListSpec(
        NEEDING_NAME,
        ("model", *by, "control", "item", "patient", "image", "finding"),
        frame=NEEDS,
        where={"needs": (True,), "hides": (True,)},
    )


def mean_scores(
    by: Sequence[Key],
    shown: Sequence[str | Shown],
    ends: tuple[float, float],
) -> TableSpec:
    """Return mean scores between two ends, with the image and under controls."""
    span = ends[1] - ends[0]
    return TableSpec(
        SCORES_NAME,
        (Key("model"), *by, Key("condition", "control")),
        (
            *counts(("n_planned", "n_failed")),
            replace(
                _DIFFERENCE,
                of=("score_with_image", "score"),
                where={},
                options={**_DIFFERENCE.options, "ends": (-span, span)},
            ),
        ),
        "Image dependence of scores",
        "Mean scores with the image and under each control, of the same questions. "
        "The difference is what the image is worth; its interval and its test are by "
        "patient.",
        frame=SCORED,
        shown=(
            *(Shown("model", "Model"), *shown, Shown("n_pairs", "Pairs")),
            Shown("with_image", "With the image", ".2f"),
            Shown("under_control", "Under the control", ".2f"),
            Shown("difference", "Difference", "+.2f"),
            Shown("difference_low", "95 % interval", "+.2f", also="difference_high"),
            Shown("p", "p", P_VALUE),
        ),
    )


def answered(by: Sequence[Key], shown: Sequence[str | Shown]) -> TableSpec:
    """Return how often tasks are answered at all, where no program grades answers."""
    return TableSpec(
        ANSWERED_NAME,
        (Key("model"), *by, Key("condition", "control")),
        (*counts(("n_planned", "n_failed")), _rate("answered"), _DIFFERENCE),
        "Answers without the image",
        "Share of tasks that are answered and not declined, with the images and under "
        "each control, of the same tasks. No program grades an answer, so this does "
        "not tell how many are right. What is described without any image is made up.",
        frame=DEPENDENCE,
        shown=(
            *(Shown("model", "Model"), *shown, Shown("n_pairs", "Pairs")),
            Shown("with_image", "With the images", PERCENT),
            Shown("under_control", "Under the control", PERCENT),
            *_SHOWN_DIFFERENCE,
        ),
    )


CARD: Final = card()
"""A row for each model and control."""
NEEDING: Final = needing()
"""The items that need their image, by model and by the control that tells it."""
_RATES: Final = TableSpec(
    "rates",
    (Key("model"), Key("condition")),
    (
        _rate("accuracy"),
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
        "item and repeat; Clopper-Pearson by patient, of differences. Failed requests "
        "count as wrong (n_failed); where all of one side failed there is none"
    ),
    "p": "two-sided sign-flip test of the difference, by patient",
    "n_need_image": (
        "items right with the image and wrong under the control, each in most of its "
        "repeats, of n_items that were asked both ways"
    ),
}


def card_frames(
    trials: Frame,
    plain: str,
    controls: Collection[str],
    hiding: Collection[str],
    by: Sequence[str] = (),
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
    by : sequence of str
        Further columns that both answers of a pair agree in.
    """
    compared = comparable(trials, "model", *by, "condition")
    right = dict(_plainly(compared, plain, by, "correct"))
    controlled = compared.where({"condition": (*controls,)})
    with_image = [right.get(key) for key in controlled.each("model", *by, *_ASKED)]
    paired = [
        settled and one is not None
        for settled, one in zip(controlled["comparable"], with_image, strict=True)
    ]
    found = controlled.having(with_image=with_image, paired=paired)
    return {DEPENDENCE: found, NEEDS: _needs(found, hiding, by)}


def score_frame(
    trials: Frame, plain: str, controls: Collection[str], by: Sequence[str]
) -> Frame:
    """Return trials under controls with the ``score`` of the same with the image.

    Questions of a kind that has no score are left out.
    """
    tasks = tuple(dict.fromkeys(trials.complete("score")["task"]))
    compared = comparable(trials, "model", *by, "condition")
    scores = dict(_plainly(compared, plain, by, "score"))
    controlled = compared.where({"condition": (*controls,), "task": tasks})
    before = [
        scores.get(tuple(key)) if settled else None
        for settled, *key in controlled.each("comparable", "model", *by, *_ASKED)
    ]
    return controlled.having(score_with_image=before)


def _plainly(
    trials: Frame, plain: str, by: Sequence[str], column: str
) -> Iterator[tuple[tuple[object, ...], Any]]:
    """Yield what was asked with the image, and a column of it, where comparable."""
    columns = ("condition", "comparable", column, "model", *by, *_ASKED)
    for condition, settled, value, *asked in trials.each(*columns):
        if condition == plain and settled:
            yield tuple(asked), value


@dataclass(frozen=True)
class FigureWords:
    """What a figure says: its number and title, and of what its rates are."""

    number: str = ""
    title: str = "Accuracy with the image and under controls"
    rate: str = "Accuracy"
    chance: str = "chance"


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
    asked = conditions_in(trials, conditions)
    if len(asked) < 2:
        return None
    return panels_figure([card_panel(trials, asked, words)], FigureWords(number))


def scores_figure(
    trials: Frame,
    conditions: Sequence[str],
    words: Callable[[str], str],
    tasks: Mapping[str, str],
) -> RateFigure | None:
    """Return the mean scores 0-1 under each condition as bars; None without any score.

    Parameters
    ----------
    trials : Frame
        A run's trials with their ``task`` and their ``score``, None if they have none.
    conditions : sequence of str
        The condition with the image as it is, then the controls.
    words : callable
        Says what a condition does.
    tasks : mapping
        What the score of each kind of question is, in words.
    """
    scored = trials.where({"counted": (True,)}).complete("score")
    asked = conditions_in(scored, conditions)
    if len(asked) < 2:
        return None
    panels = []
    for task, title in tasks.items():
        own = scored.where({"task": (task,)})
        there = conditions_in(own, asked)
        if there:
            panels.append(_score_panel(own, there, words, title))
    head = FigureHead(
        SCORES_NAME,
        "",
        "Mean scores with the image and under controls",
        "The same questions with the image, and under each control. Whiskers are 95 % "
        "intervals by patient.",
    )
    return RateFigure(
        *(head, tuple(panels), "95 % interval", ""),
        rate_name="Mean score",
        in_order=True,
    )


def _score_panel(
    scored: Frame, asked: Sequence[str], words: Callable[[str], str], title: str
) -> RatePanel:
    """Return the mean scores of one kind of question under the conditions asked."""
    by_patient: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for model, condition, patient, score in scored.each(
        "model", "condition", "patient", "score"
    ):
        by_patient[model, condition][patient].append(score)
    models = tuple(dict.fromkeys(scored["model"]))
    series = (
        _bars(model, [_mean(by_patient[model, one]) for one in asked])
        for model in models
    )
    baselines = ((None,) * len(asked),) * len(models)
    return RatePanel(title, tuple(map(words, asked)), tuple(series), baselines)


def _mean(scores: Mapping[str, Sequence[float]]) -> Mapping[str, Any]:
    """Return a bar: the mean of scores 0-1 by patient, with its interval."""
    found = bounded_mean(scores.values(), (0.0, 1.0))
    names = ("accuracy", "ci_low", "ci_high")
    values = (found.value, found.interval.low, found.interval.high)
    told = (None if isnan(value) else value for value in values)
    return {**dict(zip(names, told, strict=True)), "n": sum(map(len, scores.values()))}


def panels_figure(panels: Sequence[RatePanel], words: FigureWords) -> RateFigure:
    """Return panels of a card as one figure."""
    line = ", the line is chance" if words.chance else ""
    head = FigureHead(
        CARD_NAME,
        words.number,
        words.title,
        "The same questions with the image, and under each control. Whiskers are exact "
        f"95 % intervals by patient{line}.",
    )
    return RateFigure(
        *(head, tuple(panels), "95 % interval", words.chance),
        rate_name=words.rate,
        in_order=True,
    )


def conditions_in(trials: Frame, conditions: Sequence[str]) -> tuple[str, ...]:
    """Return those of some conditions that any trial was asked under."""
    there = set(trials["condition"])
    return tuple(one for one in conditions if one in there)


def card_panel(
    trials: Frame,
    asked: Sequence[str],
    words: Callable[[str], str],
    title: str = "",
) -> RatePanel:
    """Return the rates of one kind of question under the conditions asked."""
    rates = evaluate(_RATES, {TRIALS: trials.where({"condition": (*asked,)})})
    cells = {(str(r["model"]), str(r["condition"])): r for r in rates.records()}
    models = tuple(dict.fromkeys(model for model, _ in cells))
    rows = [[cells.get((model, one), _NOTHING) for one in asked] for model in models]
    return RatePanel(
        title,
        tuple(map(words, asked)),
        tuple(starmap(_bars, zip(models, rows, strict=True))),
        tuple(tuple(row["chance"] for row in own) for own in rows),
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


def _needs(found: Frame, hiding: Collection[str], by: Sequence[str]) -> Frame:
    """Return for each model, control and item whether the item needs its image."""
    header = ("condition", "model", *by, "item", "patient", "image", "finding")
    pairs: dict[tuple[str, ...], list[tuple[bool, bool]]] = defaultdict(list)
    columns = (*header, "paired", "with_image", "correct")
    for *about, paired, before, after in found.each(*columns):
        if paired:
            pairs[tuple(about)].append((before, after))
    rows = (
        (*about, about[0], about[0] in hiding, _is_needed(of))
        for about, of in pairs.items()
    )
    return frame_of_rows((*header, "control", "hides", "needs"), rows)


def _is_needed(pairs: Sequence[tuple[bool, bool]]) -> bool:
    before, after = (sum(pair[side] for pair in pairs) for side in (0, 1))
    return 2 * before > len(pairs) > 2 * after
