"""A phantom with drawn questions, and scripted models of known answers about it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tests.helpers.phantom_folders import write_phantom
from tests.helpers.tiny_study import plan_and_finish
from viewer.domain.case import Dataset
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import SizePx
from viewer.domain.run import RunSpec, Trial
from viewer.readers.datasets.catalog import read_dataset
from viewer.services.configuring.study_file import make_spec
from viewer.services.importing.draw_questions import draw_questions
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.synthetic.make_chests import make_chests
from viewer.services.synthetic.scripted_answers import (
    Worded,
    answers_of,
    careless,
    errs_at,
    grounded,
    in_words,
    no_to_edits,
)
from viewer.store.cases import dataset_named
from viewer.store.database import Store
from viewer.studies.grounded_vqa.benchmark import drawn_items
from viewer.studies.grounded_vqa.params import Params
from viewer.studies.grounded_vqa.questions import Question
from viewer.studies.grounded_vqa.study import STUDY

SIZE = SizePx(120, 96)


def is_wrong(question: Question) -> bool:
    """Tell whether the careless model errs."""
    return errs_at(question.key)


SCRIPTS: Mapping[str, Worded] = {
    "grounded": grounded,
    "no-to-edits": no_to_edits,
    "careless": careless,
}


def heal_dataset(store: Store, folder: Path, n: int = 14) -> Dataset:
    """Write and import a phantom, and draw its questions as the data set ``q``."""
    write_phantom(make_chests, folder / "chests", n, 0, SIZE)
    import_dataset(store, "vindr", folder / "chests", "chests")
    draw_questions(store, ["chests"], "q")
    return dataset_named(store, "q")


def questions_dataset(folder: Path, n: int = 3) -> Dataset:
    """Write a phantom, and return its images with questions, unregistered."""
    write_phantom(make_chests, folder, n, 0, SizePx(100, 80))
    dataset = read_dataset("vindr", folder, "q")
    items = drawn_items(dataset, Params(), 0).items
    return replace(dataset, items=items)


def heal_spec(
    models: Sequence[ModelProfile], overrides: Mapping[str, object] | None = None
) -> RunSpec:
    """Return the settings of a run about the questions."""
    return make_spec(
        study="grounded_vqa",
        dataset="q",
        preset="heal2025",
        seed=0,
        repeats=1,
        models=models,
        overrides=overrides or {},
    )


def answers(
    trials: Sequence[Trial], dataset: Dataset, script: Worded
) -> dict[str, object]:
    """Return a script's answer to every step of every trial."""
    return answers_of(trials, dataset.items, in_words(script))


def scripted(
    dataset: Dataset, folder: Path, overrides: Mapping[str, object] | None = None
) -> tuple[ModelProfile, ...]:
    """Return a model of each script."""
    stand_in = ModelProfile("any", "scripted", {"answer": ""})
    trials = STUDY.plan(dataset, heal_spec([stand_in], overrides))
    profiles = []
    for name, script in SCRIPTS.items():
        path = folder / f"{name}.json"
        path.write_text(json.dumps(answers(trials, dataset, script)))
        profiles.append(ModelProfile(name, "scripted", {"answers_file": str(path)}))
    return tuple(profiles)


def heal_run(
    store: Store, folder: Path, overrides: Mapping[str, object] | None = None
) -> int:
    """Run the scripted models on a phantom to the end; return the run."""
    dataset = heal_dataset(store, folder)
    return plan_and_finish(
        store, heal_spec(scripted(dataset, folder, overrides), overrides)
    )
