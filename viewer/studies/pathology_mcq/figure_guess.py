"""Figure 5: what is guessed without looking (Sun 2024, 4.3; E003-17)."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.choice import ExpertChoice
from viewer.domain.figure import FigureHead, RateFigure, RatePanel
from viewer.domain.report import BarSeries, Table
from viewer.domain.result import TrialResult
from viewer.results.evaluate import evaluate
from viewer.results.records import records
from viewer.results.spec import TRIALS, Cell, Key, TableSpec
from viewer.studies.packs import PackInput
from viewer.studies.pathology_mcq.baselines import random_rate
from viewer.studies.pathology_mcq.frames import (
    CHOICES,
    VOTES,
    choice_frame,
    expert_choices,
    vote_frame,
)
from viewer.studies.pathology_mcq.guessing import audit
from viewer.studies.pathology_mcq.params import Arm, Params
from viewer.studies.pathology_mcq.questions import Mcq, mcqs_of
from viewer.studies.pathology_mcq.scopes import OVERALL, Scope
from viewer.studies.pathology_mcq.tables import experts

GUESSABLE, MATCHED = "guessable items", "matching questions"
MISMATCHED: Final = "mismatched questions"
"""The same items with their own questions, and with others'."""
EXPERTS_BAR: Final = "experts, with images"
_NOBODY: Final = (0, None, None)
"""Of who answered nothing: n, accuracy, chance."""
_BARS: Final = TableSpec(
    "figure5",
    (Key("panel"), Key("model", "who")),
    (
        Cell("rate", ("k", "n", "accuracy"), ("correct",), {"counted": (True,)}),
        Cell("chance", ("random",), ("options",)),
    ),
)


def guess_bars(given: PackInput, params: Params) -> Table:
    """Return figure5.csv: each bar of every panel with its counts.

    Left, the items that one half of the models guesses: the other half without the
    image, experts with it on those that they read. The models that selected the items
    would be right on them by construction. Right, the items drawn for it, with their
    own questions, as a next-sentence model is asked them too, and with the questions of
    others.
    """
    mcqs = mcqs_of(given.dataset.items)
    choosers, out = _chosen(given.results, params)
    asked = tuple(_trials(given.results, out, choosers))
    trials = [trial for _, trial in asked]
    frame = records(trials).having(
        panel=[panel for panel, _ in asked],
        options=[len(mcqs[one.item].options) for one in trials],
    )
    experts = expert_choices(given.dataset.items)
    read = {one.item for one in experts} & out
    bars = evaluate(_BARS, {TRIALS: frame})
    questions = [mcqs[key] for key in mcqs if key in read]
    score = _expert_score(experts, questions, params)
    guessed = [row for row in bars.rows if row[0] == GUESSABLE]
    others = [row for row in bars.rows if row[0] != GUESSABLE]
    if score is not None:
        chance = random_rate(questions)
        guessed.append((GUESSABLE, EXPERTS_BAR, None, len(questions), score, chance))
    return Table(bars.name, bars.header, (*guessed, *others))


def _chosen(
    results: Sequence[TrialResult], params: Params
) -> tuple[frozenset[str], frozenset[str]]:
    """Return every second model that guesses, by name, and the items they guess.

    As many of them must be right as of all models, in proportion, rounded up.
    """
    models = sorted({one.model for one in results if one.condition == Arm.TEXT_ONLY})
    choosers = frozenset(models[::2])
    chosen = [one for one in results if one.model in choosers]
    needed = -(-params.guessed_by * len(choosers) // max(len(models), 1))
    return choosers, frozenset(audit(chosen, needed).guessable)


def _trials(
    results: Sequence[TrialResult], out: Collection[str], choosers: Collection[str]
) -> Iterator[tuple[str, TrialResult]]:
    """Yield the trials of each panel; items without another question are in none."""
    asked = [r for r in results if r.score.status is not Status.EXCLUDED]
    blind = [r for r in asked if r.condition == Arm.TEXT_ONLY]
    swapped = [r for r in asked if r.condition == Arm.MISMATCH]
    drawn = {r.item for r in swapped}
    others = [one for one in blind if one.model not in choosers]
    yield from ((GUESSABLE, one) for one in others if one.item in out)
    yield from ((MATCHED, r) for r in blind if r.item in drawn)
    yield from ((MISMATCHED, r) for r in swapped)


def _expert_score(
    choices: Sequence[ExpertChoice], questions: Sequence[Mcq], params: Params
) -> float | None:
    """Return the mean of the groups on the guessable items that they read."""
    every = (Scope("", OVERALL),)
    told = [replace(mcq, split="") for mcq in questions]
    found = evaluate(
        experts(params.expert_pooling),
        {
            CHOICES: choice_frame(choices, told, every),
            VOTES: vote_frame(choices, told, every),
        },
    )
    return _rate(found.rows[-1][3]) if found.rows else None


def guess_figure(bars: Table) -> RateFigure | None:
    """Return Figure 5 of its table, a group for each panel; None without any bar."""
    if not bars.rows:
        return None
    head = FigureHead(
        "guessing",
        "Figure 5",
        "Answers without the image",
        "Items that one half of the models guesses without their image, answered by "
        "the other half; then items drawn at random without their image, with their "
        "own question and with another's. The line is chance.",
    )
    panels = tuple(dict.fromkeys(str(row[0]) for row in bars.rows))
    everyone = tuple(dict.fromkeys(str(row[1]) for row in bars.rows))
    cells = {(row[0], row[1]): row[3:] for row in bars.rows}
    table = [[cells.get((panel, who), _NOBODY) for panel in panels] for who in everyone]
    series = tuple(
        BarSeries(
            who,
            tuple(_rate(rate) for _, rate, _ in row),
            (None,) * len(panels),
            tuple(int(str(n)) for n, _, _ in row),
        )
        for who, row in zip(everyone, table, strict=True)
    )
    chance = tuple(tuple(_rate(random) for *_, random in row) for row in table)
    panel = RatePanel("", panels, series, chance)
    return RateFigure(
        head, (panel,), "", "random choice", rate_name="Accuracy", in_order=True
    )


def _rate(value: object) -> float | None:
    return value if isinstance(value, float) else None
