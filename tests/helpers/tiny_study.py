"""A folder of small radiograph-like images with masks, and runs on it."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from PIL import Image

from viewer.domain.answer import Status
from viewer.domain.exchange import ModelProfile
from viewer.domain.result import Outcome
from viewer.domain.run import Event, RunSpec, Trial
from viewer.models import endpoint
from viewer.services.comparing.sides import Side
from viewer.services.configuring.study_file import make_spec
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.reporting.report_run import report_data
from viewer.services.running.batch_form import BatchForm
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.plan_run import plan_run
from viewer.services.running.run_batch import run_batch
from viewer.services.running.trial_question import TrialQuestion, next_question
from viewer.services.trials.run_context import RunContext
from viewer.services.trials.run_trial import PreparedRequest, run_trial
from viewer.store import trials
from viewer.store.database import Store, open_store
from viewer.store.runs import StoredTrial
from viewer.store.trials import ScoredTrial, Verdict
from viewer.studies.catalog import study_named
from viewer.writers.tables import csv_bytes

D4 = ModelProfile("says-d4", "scripted", {"answer": "D4"})
UNIFORM = ModelProfile("uniform", "uniform")
FEW_RESAMPLES: Final = {"replicates": 20, "paper_replicates": 20}
"""For tests that look at no interval: a bundle's are drawn again in plain Python."""


def write_images(folder: Path, n: int, finding: str = "Edema") -> Path:
    """Write ``n`` PNG images of 120 × 100 with one mask each; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(7)
    for i in range(n):
        pixels = (rng.random((120, 100)) * 80 + 60).astype(np.uint8)
        row, column = (int(v) for v in rng.integers(15, 60, 2))
        mask = np.zeros((120, 100), np.uint8)
        mask[row : row + 30, column : column + 30] = 255
        pixels[mask > 0] += 90
        name = f"patient{i:05d}_frontal"
        Image.fromarray(pixels).save(folder / f"{name}.png")
        Image.fromarray(mask).save(folder / f"{name}.{finding}.png")
    return folder


def server_profile(base_url: str, **settings: object) -> ModelProfile:
    """Return the profile of a scripted or real server on this machine."""
    patient = {"timeout_s": 3600.0}  # a busy machine's reply is late, not missing
    values = {"base_url": base_url, "model": "tiny-vlm", "temperature": 0.0}
    values |= patient | settings
    return ModelProfile("my-server", "openai_api", values)


def everything_is_remote(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no host count as this machine, so that a loopback server needs consent."""
    monkeypatch.setattr(endpoint, "is_loopback", lambda _: False)


def count_every_host_as_remote() -> None:
    """Do the same in a process made for one test, which ends with it."""
    vars(endpoint)["is_loopback"] = lambda _: False


def a_spec(
    models: Sequence[ModelProfile] = (D4,),
    *,
    study: str = "grid_localization",
    dataset: str = "tiny",
    seed: int = 0,
    repeats: int = 1,
    params: Mapping[str, object] | None = None,
    known: Mapping[str, ModelProfile] | None = None,
) -> RunSpec:
    """Return a run's settings: its paper's, but for ``params``, by default 8 × 8."""
    return make_spec(
        study=study,
        dataset=dataset,
        preset=study_named(study).presets()[0],
        seed=seed,
        repeats=repeats,
        models=models,
        overrides={"grids": [8]} if params is None else params,
        known=known,
    )


def planned(store: Store, folder: Path, spec: RunSpec, n: int = 4) -> int:
    """Write and import images, plan the run and return its id."""
    import_dataset(store, "folder", write_images(folder, n), spec.dataset)
    return plan_run(store, spec)


def finish(
    store: Store,
    run: int,
    options: BatchOptions | None = None,
    cancel: threading.Event | None = None,
) -> list[Event]:
    """Drain a batch and return its events."""
    return list(
        run_batch(store, run, options or BatchOptions(), cancel or threading.Event())
    )


def plan_and_finish(store: Store, spec: RunSpec, *, new: bool = False) -> int:
    """Plan a run on data that are registered, ask everything, and return its number."""
    run = plan_run(store, spec, new=new)
    finish(store, run)
    return run


def tables_of(store: Store, run: int) -> dict[str, str]:
    """Return the tables of a run's report by file name, as they are written."""
    tables = report_data(store, run).data.tables
    return {f"{t.name}.csv": csv_bytes(t.header, t.rows).decode() for t in tables}


def prepared_question(context: RunContext, stored: StoredTrial) -> TrialQuestion:
    """Return the first question of a planned trial, ready to be asked."""
    due = next_question(context, stored)
    return replace(due, prepared=due.prepare())


def prepare_trial(context: RunContext, trial: Trial) -> PreparedRequest:
    """Return what a trial's model is asked first."""
    path = run_trial(context, trial)
    next(path)
    prepared = next(path)
    assert isinstance(prepared, PreparedRequest)
    return prepared


SERVER = """
[[model]]
name = "mine"
adapter = "openai_api"
base_url = "http://127.0.0.1:9/v1"
model = "tiny"
price_in = 0.15
price_out = 2
"""


def a_form(**changes: object) -> BatchForm:
    """Return the form of two grids and two models over the tiny data set."""
    form = BatchForm(
        study="grid_localization",
        dataset="tiny",
        preset="gosai2025",
        models=("uniform", "asymmetry"),
        seed=3,
        repeats=2,
        params={"grids": ["8", "4x6"]},
    )
    return replace(form, **changes)  # type: ignore[arg-type]


def finished_run(store_path: Path, folder: Path) -> int:
    """Ask everything of the run and return its number."""
    with open_store(store_path) as store:
        run = planned(store, folder, a_spec([D4, UNIFORM], repeats=3))
        finish(store, run)
    return run


def misjudge(store: Store, run: int) -> ScoredTrial:
    """Store a wrong trial of a run as right, as if its store had been edited."""
    wrong = Status.SCORED_WRONG
    one = next(t for t in trials.scored_trials(store, run) if t.score.status is wrong)
    right = replace(one.score, status=Status.SCORED_CORRECT, outcome=Outcome.FULL)
    assert one.reply_id is not None
    kept = trials.reply_with_id(store, one.reply_id)
    verdict = Verdict(right, "1", one.parsed, "1", (kept,))
    with store.transaction():
        trials.settle(store, [(one.id, verdict)])
    return one


def two_models(store: Store, folder: Path, repeats: int = 10) -> tuple[Side, Side]:
    """Return two models of one run, one of which answers at random."""
    run = planned(store, folder, a_spec([D4, UNIFORM], repeats=repeats))
    finish(store, run)
    return Side(run, "says-d4"), Side(run, "uniform")


def masked_at_d4(folder: Path, n: int = 4) -> Path:
    """Write images whose masks cover most of cell D4 of 8 × 8, and all of F6."""
    write_images(folder, n)
    for path in sorted(folder.glob("*.Edema.png")):
        mask = np.zeros((120, 100), np.uint8)
        mask[47:58, 37:50] = 255
        mask[72:86, 62:76] = 255
        Image.fromarray(mask).save(path)
    return folder


def masked_elsewhere(folder: Path, source: Path) -> Path:
    """Write the same images again with masks far from D4."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.glob("*.png")):
        if path.name.endswith(".Edema.png"):
            mask = np.zeros((120, 100), np.uint8)
            mask[90:105, 60:90] = 255
            Image.fromarray(mask).save(folder / path.name)
        else:
            (folder / path.name).write_bytes(path.read_bytes())
    return folder


def hitting_run(store: Store, folder: Path) -> int:
    """Finish a run in which every answer, D4, is a hit."""
    import_dataset(store, "folder", masked_at_d4(folder), "tiny")
    return plan_and_finish(store, a_spec([D4]))
