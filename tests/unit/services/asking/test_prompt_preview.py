"""The question that the prompt editor shows is the one that a model is then asked."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.study_samples import item_run
from tests.helpers.tiny_study import D4, a_spec, finish, planned
from viewer.domain.errors import WrongUseError
from viewer.services.asking.prompt_preview import PromptPreviews
from viewer.store import runs, trials
from viewer.store.database import open_store
from viewer.studies.catalog import study_named
from viewer.studies.prompts import HasPrompts

OWN = {"gosai2025_user": "Point at the {finding}."}
OF_ITEMS = {
    "evidence_diagnosis": ("overread_fdx_v1_en", "{case} {options} Which?"),
    "grounded_vqa": ("closed_1", "Is there {disease} in the {anatomy}?"),
    "pathology_mcq": ("llava", "{question} {options} Letter?"),
}


def test_that_what_is_previewed_is_what_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    spec = a_spec([D4], params={"prompts": OWN})
    with open_store(path) as store:
        run = planned(store, tmp_path / "d", spec, 2)
        finish(store, run)
        (first, _) = trials.scored_trials(store, run)
        sent = trials.sent_request(store, first.request_sha256)
    found = PromptPreviews(path, replace(spec, params={})).question(
        OWN, "gosai2025_user", None
    )
    assert found.has_prompt
    assert (found.position, found.n_cases) == (0, 2)
    hashes = tuple(hashlib.sha256(png).hexdigest() for png in found.images)
    assert hashes == tuple(sent.images)
    assert found.text[-1] == ("user", "Point at the Edema.")
    messages = json.loads(json.dumps(sent.document))["messages"]
    parts = [p for m in messages for p in m["parts"]]
    assert [words for _, words in found.text] == [
        p["text"] for p in parts if "text" in p
    ]


@pytest.mark.parametrize("study", OF_ITEMS)
def test_that_a_case_is_found_whose_question_has_the_prompt(
    tmp_path: Path, study: str
) -> None:
    name, text = OF_ITEMS[study]
    with open_store(tmp_path / "s.sqlite") as store:
        run = item_run(store, tmp_path / "d", study, asked=False)
        spec = runs.run_spec(store, run)
    previews = PromptPreviews(tmp_path / "s.sqlite", spec)
    found = previews.question({name: text}, name, None)
    assert found.has_prompt
    assert (
        found.text[-1][1].strip().endswith(text.rpartition(" ")[2].format(anatomy=""))
    )
    again = previews.question({name: text}, name, found.position + found.n_cases)
    assert again == found


def test_that_a_prompt_of_a_later_question_is_said_to_be_in_no_first_one(
    tmp_path: Path,
) -> None:
    study = study_named("evidence_diagnosis")
    assert isinstance(study, HasPrompts)
    judge = next(name for name in study.known_prompts.known if "judge" in name)
    with open_store(tmp_path / "s.sqlite") as store:
        run = item_run(store, tmp_path / "d", study.name, asked=False)
        spec = runs.run_spec(store, run)
    found = PromptPreviews(tmp_path / "s.sqlite", spec).question({}, judge, None)
    assert not found.has_prompt
    assert found.position == 0


def test_that_without_anything_to_ask_about_the_reason_is_said(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with open_store(path) as store:
        planned(store, tmp_path / "d", a_spec([D4]), 1)
    spec = a_spec([D4], params={"views": ["lateral"]})
    with pytest.raises(WrongUseError, match="has none of the requested findings"):
        PromptPreviews(path, spec).question({}, "gosai2025_user", None)
