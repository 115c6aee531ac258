"""A store whose runs ended at random, and its trials one by one to count by hand."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tests.helpers.small_store import a_dataset, a_spec
from viewer.domain.answer import Status
from viewer.domain.exchange import ModelProfile
from viewer.domain.result import Outcome, Score
from viewer.domain.run import Condition, Trial
from viewer.store import cases, runs, trials
from viewer.store.database import open_store
from viewer.store.trials import Verdict

ENDS = (
    Score(Status.SCORED_CORRECT, "", "D4", 0.75, Outcome.FULL),
    Score(Status.SCORED_CORRECT, "fallback", "D4", 0.25, Outcome.FULL_FALLBACK),
    Score(Status.SCORED_WRONG, "", "D5", 0.25, Outcome.PARTIAL),
    Score(Status.SCORED_WRONG, "", "A1", 0.0, Outcome.MISS),
    Score(Status.UNPARSED),
    Score(Status.AMBIGUOUS),
    Score(Status.REFUSED),
    Score(Status.PROVIDER_ERROR),
)
MODELS = ("model-9", "model-10")
PROFILES = tuple(ModelProfile(m, "scripted", {"answer": "D4"}) for m in MODELS)
DATASETS = ("small", "other")


@dataclass(frozen=True, slots=True)
class Known:
    """A trial as grouping sees it."""

    id: int
    dataset: str
    run: int
    trial: Trial
    score: Score


def _planned(repeats: int) -> list[Trial]:
    return [
        Trial(
            item=f"patient{i}_study1_view1_frontal|{finding}",
            patient=f"patient{i}",
            image=f"patient{i}_study1_view1_frontal",
            view="lateral" if i % 3 == 0 else "frontal",
            finding=finding,
            condition=Condition(f"grid={side}", (("rows", side), ("columns", side))),
            repeat=repeat,
            model=model,
            exclusion="no_gt" if i == 3 else "",
        )
        for i in range(6)
        for finding in ("Edema", "Fracture")
        for side in (8, 16)
        for model in MODELS
        for repeat in range(repeats)
    ]


def random_results(path: Path, seed: int, repeats: int = 1) -> tuple[Known, ...]:
    """Write two runs on two data sets of the same pseudonyms; return every trial."""
    rng = np.random.default_rng(seed)
    with open_store(path) as store:
        known: list[Known] = []
        for name in DATASETS:
            run = runs.create_run(
                store,
                replace(a_spec(name), models=PROFILES),
                cases.add_dataset(store, a_dataset(name, 6)),
                _planned(repeats),
                study_version="1",
                scorer_version="1",
                plan_sha256=name.ljust(64, "0"),
            )
            asked = runs.trials_in(store, run, [Status.PENDING])
            chosen = rng.integers(-2, len(ENDS), len(asked))
            pairs = zip(asked, chosen, strict=True)
            settled = [(t.id, Verdict(ENDS[end], "1")) for t, end in pairs if end >= 0]
            with store.transaction():
                trials.settle(store, settled)
            known += [
                Known(one.id, name, run, one.trial, one.score)
                for one in trials.scored_trials(store, run)
            ]
    return tuple(known)
