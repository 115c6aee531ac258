"""Published values beside a run's own, in a fixed table (X-05, X-06)."""

from collections.abc import Mapping, Sequence
from typing import Final

from viewer.domain.case import Dataset
from viewer.domain.exchange import ModelProfile
from viewer.domain.finding_names import concept
from viewer.domain.run import RunSpec
from viewer.metrics.printed import matches_printed
from viewer.results.frame import Frame, frame_of_rows
from viewer.results.spec import ListSpec, Shown
from viewer.studies.grid_localization.asked import MACRO
from viewer.studies.grid_localization.dataset_counts import is_whole, published_split
from viewer.studies.grid_localization.params import Params, read_params
from viewer.studies.grid_localization.published import (
    GPT_4,
    GPT_5,
    MEAN,
    MEDGEMMA,
    RANDOM,
    ROWS,
    SOURCE,
    TEST_PAIRS,
    Measure,
    Published,
)
from viewer.studies.grid_localization.rates import Record
from viewer.studies.tables import ALL_VIEWS

PUBLISHED: Final = "published"
_TABLE: Final = (
    *("source", "table", "measure", "finding", "who", "value", "decimals"),
    *("n_claimed", "badge", "check", "model", "this_run", "n", "matches"),
)
PUBLISHED_TABLE: Final = ListSpec(
    PUBLISHED,
    _TABLE,
    "Published values and their checks",
    f"{SOURCE}, CheXlocalize test set, 8 × 8 grid. For reference only; no run changes "
    "them. The badge says whether some number of hits out of the claimed trials "
    "rounds to the value. The CNN's figures are means of bootstrap replicates, and "
    "human and CNN hits are points in the mask, so they are not comparable with the "
    "rate above. A run matches within half of the last printed decimal, and is "
    "compared only if its data set has as many pairs as the paper's.",
    PUBLISHED,
    shown=(
        *(
            Shown(column, header, ".1f", group="Paper")
            for column, header in {
                "finding": "Finding",
                "measure": "Measure",
                "who": "Who",
                "value": "Printed %",
                "badge": "Badge",
                "check": "Check",
                "table": "Where",
            }.items()
        ),
        Shown("model", "Model of this run", group="This run"),
        Shown("this_run", "This run %", ".1f", 100, group="This run"),
        Shown("matches", "Matches", group="This run"),
    ),
)
_GRID = "grid=8"
_IDENTITIES: Mapping[str, str] = {
    GPT_4: "gpt-4o-2024-05-13",
    GPT_5: "gpt-5",
    MEDGEMMA: "medgemma-27b-it",
}
"""What the name that a server knows a model by holds, for each of the paper's."""
_TOLD: Final = "paper_model"
"""The setting that names the paper's model, of which GPT-4 is one of a date."""


def published_frame(
    rates: Sequence[Record], models: Sequence[ModelProfile], repeats: int
) -> Frame:
    """Return each published row with the run's row of the same model and finding.

    ``repeats`` is how often each item was asked. ``matches`` is empty where the run's
    trials are not as many as the paper's, so that a comparison would mean nothing.
    Nothing is shown with an unfinished run.
    """
    ours = {
        (concept(row["finding"]), row["model"]): row
        for row in rates
        if row["view"] == ALL_VIEWS and row["condition"] == _GRID
    }
    printed = () if any(row["n_pending"] for row in rates) else ROWS
    rows = ((*_printed(one), *_beside(one, ours, models, repeats)) for one in printed)
    return frame_of_rows(_TABLE, rows)


def _printed(one: Published) -> tuple[object, ...]:
    return (
        *(one.source, one.table, str(one.measure), one.finding, one.who, one.value),
        *(one.decimals, one.n_claimed, str(one.badge), one.check),
    )


def who_is(profile: ModelProfile) -> str | None:
    """Return the paper's model that a profile asks or is said to be, else None."""
    if told := profile.settings.get(_TOLD):
        return next(who for who in _IDENTITIES if who.startswith(str(told)))
    asked = str(profile.settings.get("model", "")).casefold().replace(":", "-")
    name = asked.rsplit("/", 1)[-1]
    for who, identity in _IDENTITIES.items():
        if name == identity or (who == MEDGEMMA and name.startswith(identity)):
            return who
    return None


def _beside(
    published: Published,
    ours: Mapping[tuple[str, str], Record],
    models: Sequence[ModelProfile],
    repeats: int,
) -> tuple[object, ...]:
    finding = MACRO if published.finding == MEAN else published.finding
    model = _model(published, models)
    row = ours.get((finding, model)) if model else None
    if published.measure is not Measure.HIT_RATE or row is None:
        return (None,) * 4
    random = published.who == RANDOM
    rate = row["random_baseline"] if random else row["hit_rate"]
    matches = None
    if rate is not None and _is_as_large(finding, row["model"], ours, repeats):
        matches = matches_printed(rate, published.value, published.decimals)
    return None if random else row["model"], rate, row["n"], matches


def _model(published: Published, models: Sequence[ModelProfile]) -> str | None:
    """Return the run's model for a published row; any model for a random cell."""
    if published.who == RANDOM:
        return models[0].name if models else None
    return next((m.name for m in models if who_is(m) == published.who), None)


def _is_as_large(
    finding: str, model: str, ours: Mapping[tuple[str, str], Record], repeats: int
) -> bool:
    """Tell whether as many pairs were planned as the paper's test set has.

    A mean needs all nine findings. Pairs without a mask are planned and excluded.
    """
    wanted = TEST_PAIRS if finding == MACRO else {finding: TEST_PAIRS[finding]}
    rows = {f: ours.get((f, model)) for f in wanted}
    return all(r and r["n_planned"] == wanted[f] * repeats for f, r in rows.items())


_RULE: Final = (
    *("findings", "views", "fit_mode", "side", "mask_mode", "hit_threshold"),
    *("outside_crop", "examples"),
)
"""The settings that decide what is asked about and what is a hit."""


def unlike_paper(dataset: Dataset, spec: RunSpec, *, incomplete: bool) -> str:
    """Return why a run's rates are not comparable with the paper's, "" if they are."""
    if incomplete:
        return "the run is not complete"
    if published_split(dataset) != "test" or not is_whole(dataset):
        return "the images are not those of CheXlocalize's test set"
    if spec.limit is not None:
        return f"only the first {spec.limit} were asked"
    mine, theirs = read_params(spec.preset, spec.params), Params()
    other = [n for n in _RULE if getattr(mine, n) != getattr(theirs, n)]
    names = ", ".join(name.replace("_", " ") for name in other)
    return f"different from the paper's: {names}" if other else ""
