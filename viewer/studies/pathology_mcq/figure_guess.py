"""Figure 5: what is guessed without looking (Sun 2024, 4.3; E003-17)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from viewer.domain.choice import ExpertChoice
from viewer.domain.figure import FigureHead, RateFigure, RatePanel
from viewer.domain.report import BarSeries, Table
from viewer.domain.result import TrialResult
from viewer.studies.pathology_mcq.accuracy import RATES, rates_of
from viewer.studies.pathology_mcq.baselines import random_rate
from viewer.studies.pathology_mcq.experts import expert_score, group_scores
from viewer.studies.pathology_mcq.guessing import Audit
from viewer.studies.pathology_mcq.params import Arm, Params
from viewer.studies.pathology_mcq.questions import Mcq

GUESSABLE, MATCHED = "guessable items", "matching questions"
MISMATCHED: Final = "mismatched questions"
"""The same items with their own questions, and with others'."""
EXPERTS_BAR: Final = "experts, with images"
_NOBODY: Final = (0, None, None)
"""Of who answered nothing: n, accuracy, chance."""
_HEADER: Final = ("panel", "who", "k", "n", "accuracy", "random")


def guess_bars(
    results: Sequence[TrialResult],
    found: Audit,
    mcqs: Mapping[str, Mcq],
    experts: Sequence[ExpertChoice],
    params: Params,
) -> Table:
    """Return figure5.csv: each bar of every panel with its counts.

    Left, the items that are guessable: models without the image, experts with it on
    those that they read.
    Right, the items drawn for it, with their own questions, as a next-sentence model
    is asked them too, and with the questions of others.
    """
    out = set(found.guessable)
    blind = [r for r in results if r.condition == Arm.TEXT_ONLY]
    swapped = [r for r in results if r.condition == Arm.MISMATCH]
    drawn = {r.item for r in swapped}
    read = {one.item for one in experts}
    own = [mcqs[key] for key in found.guessable if key in read]
    score = expert_score(group_scores(experts, own, params.expert_pooling))
    rows = list(_rows(GUESSABLE, [r for r in blind if r.item in out], mcqs))
    if score is not None:
        rows.append((GUESSABLE, EXPERTS_BAR, None, len(own), score, random_rate(own)))
    rows += _rows(MATCHED, [r for r in blind if r.item in drawn], mcqs)
    rows += _rows(MISMATCHED, swapped, mcqs)
    return Table("figure5", _HEADER, tuple(rows))


def guess_figure(bars: Table) -> RateFigure | None:
    """Return Figure 5 of its table, a group for each panel; None without any bar."""
    if not bars.rows:
        return None
    head = FigureHead(
        "guessing",
        "Figure 5",
        "Answers without looking",
        "Items that enough models guess without their image; then items drawn at "
        "random without their image, under their own question and under another's. "
        "The line is chance.",
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


def _rows(
    panel: str, results: Sequence[TrialResult], mcqs: Mapping[str, Mcq]
) -> Iterator[tuple[object, ...]]:
    for model in dict.fromkeys(one.model for one in results):
        own = [one for one in results if one.model == model]
        row = dict(zip(RATES, rates_of(own), strict=True))
        keys = dict.fromkeys(one.item for one in own)
        counted = (row["k"], row["n"], row["hit_rate"])
        yield (panel, model, *counted, random_rate([mcqs[key] for key in keys]))


def _rate(value: object) -> float | None:
    return value if isinstance(value, float) else None
