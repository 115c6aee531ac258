"""The study file and the scripted models of a generated collection.

With them a collection can be asked, scored and reported without any other model.
"""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from viewer.domain.case import Dataset
from viewer.domain.exchange import ModelProfile
from viewer.readers.datasets.catalog import read_dataset
from viewer.services.configuring.study_file import make_spec
from viewer.services.synthetic.case_preparer import prepares_cases
from viewer.services.synthetic.phantom.reader_grades import MODELS, PLAIN
from viewer.services.synthetic.phantom.task_proposals import PROPOSER
from viewer.services.synthetic.question_maker import makes_questions
from viewer.services.synthetic.scripted_answers import (
    Script,
    answers_of,
    answers_the_words,
    chooses_wrongly,
    does_not_look,
    errs_on_tiles,
    grounded,
    in_words,
    judges,
    looks_at_radiographs,
    looks_at_tiles,
    no_to_edits,
    notices_half,
    takes_shortcuts,
    weighs_evidence,
)
from viewer.studies.catalog import pack_named, study_named
from viewer.studies.grounded_vqa.benchmark import drawn_items
from viewer.studies.grounded_vqa.params import read_params
from viewer.writers.files import write_atomically
from viewer.writers.toml import toml_bytes

FILE: Final = "study.toml"
ANSWERS: Final = "answers"
Table = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Kit:
    """What a collection needs in addition for a paper's pack.

    ``scripts`` are the models by name, None if the answers are there already.
    ``settings`` are those of every model, ``params`` the study's parameters in addition
    to the pack's, ``helpers`` the models in a role. ``file`` is the study file's name,
    ``ending`` the suffix of the data set's name after the folder's; ``besides`` are
    further uses of the same collection.
    """

    format: str
    paper: str
    scripts: Mapping[str, Script | None]
    settings: Table = field(default_factory=dict)
    params: Table = field(default_factory=dict)
    helpers: Mapping[str, Script] = field(default_factory=dict)
    draws_questions: bool = False
    file: str = FILE
    ending: str = ""
    besides: tuple["Kit", ...] = ()

    @property
    def study(self) -> str:
        """The study of the paper's pack."""
        return pack_named(self.paper).study

    @property
    def preset(self) -> str:
        """The preset with the paper's settings."""
        return study_named(self.study).defaults.preset

    @property
    def asked(self) -> dict[str, object]:
        """Every parameter in the study file."""
        return {**study_named(self.study).defaults.params, **self.params}

    def dataset(self, out: Path) -> str:
        """Return the name of the data set to ask about."""
        return f"{out.absolute().name}{self.ending}"


KITS: Mapping[str, Kit] = {
    "rubric_reading": Kit(
        "report-studies",
        "rexecution2025",
        dict.fromkeys(MODELS),
        params={"single_view_models": PLAIN, "no_box_models": PLAIN},
        besides=(
            Kit(
                "report-studies",
                "rexecution2025",
                {PROPOSER: None},
                params={"work": "curation"},
                file="curation.toml",
            ),
        ),
    ),
    "grounded_vqa": Kit(
        "vindr",
        "heal2025",
        {
            "knows": in_words(grounded),
            "errs": in_words(notices_half),
            "denies": in_words(no_to_edits),
        },
        draws_questions=True,
        ending="-questions",
    ),
    "pathology_mcq": Kit(
        "pathmmu",
        "pathmmu2024",
        {"knows": looks_at_tiles, "errs": errs_on_tiles, "blind": does_not_look},
        besides=(
            Kit(
                "captioned-tiles",
                "pathmmu2024",
                {"maker": makes_questions},
                params={"work": "building", "arms": ["image"]},
                file="building.toml",
                ending="-captions",
            ),
        ),
    ),
    "evidence_diagnosis": Kit(
        "medsyn",
        "medsyn2026",
        {"knows": weighs_evidence, "errs": chooses_wrongly},
        settings={"interpretable": True},
        params={"judge": "judge", "model_classes": "knows=Large, errs=Small"},
        helpers={"judge": judges},
        besides=(
            Kit(
                "medsyn",
                "medsyn2026",
                {"prepares": prepares_cases},
                params={
                    "tasks": ["extraction", "summaries", "distractors"],
                    "arms": ["raw"],
                    "sensitivity": False,
                    "rapt": False,
                },
                file="prepare.toml",
            ),
        ),
    ),
    "question_set": Kit(
        "question-set",
        "question_set",
        {
            "sighted": looks_at_radiographs,
            "shortcuts": takes_shortcuts,
            "blind": answers_the_words,
        },
    ),
}
"""What each study's collection is completed with."""


def write_kit(kit: Kit, out: Path) -> None:
    """Write a collection's study file, and the answers of its models.

    Raises
    ------
    WrongUseError
        If nothing can be asked about the collection, or a file cannot be written.
    """
    asked = {**kit.scripts, **kit.helpers}
    scripts = {name: script for name, script in asked.items() if script}
    for name, answers in _answers(kit, out, scripts).items():
        write_atomically(out / _file(name), _json(answers))
    write_atomically(out / kit.file, toml_bytes(_table(kit, out)))
    for other in kit.besides:
        write_kit(other, out)


def next_commands(kit: Kit, out: Path) -> tuple[str, ...]:
    """Return the commands that import a collection, ask its models, and report."""
    folder, name = shlex.quote(str(out)), shlex.quote(out.absolute().name)
    drawn = shlex.quote(kit.dataset(out))
    draw = (f"overread questions {name} --name {drawn}",) * kit.draws_questions
    return (
        f"overread import {kit.format} {folder}",
        *draw,
        f"overread run {shlex.quote(str(out / kit.file))}",
        f"overread pack {kit.paper} --run last --out {shlex.quote(f'{out}-pack')}",
    )


def _answers(
    kit: Kit, out: Path, scripts: Mapping[str, Script]
) -> dict[str, dict[str, object]]:
    """Return each model's answers to everything that a run asks."""
    if not scripts:
        return {}
    dataset = _dataset(kit, out)
    stand_in = ModelProfile("any", "scripted", {"answer": ""})
    judge = ModelProfile("judge", "scripted", {"answer": ""})
    spec = make_spec(
        study=kit.study,
        dataset=dataset.name,
        preset=kit.preset,
        seed=0,
        repeats=1,
        models=(stand_in,),
        overrides=kit.asked,
        known={judge.name: judge},
    )
    trials = study_named(kit.study).plan(dataset, spec)
    return {
        name: answers_of(trials, dataset.items, script)
        for name, script in scripts.items()
    }


def _dataset(kit: Kit, out: Path) -> Dataset:
    """Return a collection as it will be imported, with its questions."""
    dataset = read_dataset(kit.format, out, kit.dataset(out))
    if not kit.draws_questions:
        return dataset
    items = drawn_items(dataset, read_params(kit.preset, {}), 0).items
    return replace(dataset, items=items)


def _table(kit: Kit, out: Path) -> Table:
    names = list(kit.scripts)
    models = [{**_model(name), **kit.settings} for name in names]
    return {
        "study": kit.study,
        "dataset": kit.dataset(out),
        "preset": kit.preset,
        "models": names,
        **({"params": kit.asked} if kit.asked else {}),
        "model": [*models, *map(_model, kit.helpers)],
    }


def _model(name: str) -> dict[str, object]:
    return {"name": name, "adapter": "scripted", "answers_file": _file(name)}


def _file(model: str) -> str:
    return f"{ANSWERS}/{model}.json"


def _json(answers: Mapping[str, object]) -> bytes:
    return json.dumps(answers, indent=1, ensure_ascii=False).encode() + b"\n"
