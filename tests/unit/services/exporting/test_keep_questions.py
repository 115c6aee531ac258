import json
from pathlib import Path

import pytest

from tests.helpers.item_datasets import tiles_dataset
from tests.helpers.tiny_study import a_spec, plan_and_finish
from viewer.cli import run_command_line
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.readers.datasets.catalog import read_dataset
from viewer.services.exporting.keep_questions import Kept, keep_questions
from viewer.store import cases
from viewer.store.database import Store, open_store


def asked(store: Store, arms: list[str], models: int = 3, work: str = "answers") -> int:
    """Return a finished run of models that always say A."""
    named = [ModelProfile(f"m{i}", "scripted", {"answer": "A"}) for i in range(models)]
    spec = a_spec(
        named,
        study="pathology_mcq",
        dataset="tiles",
        params={"arms": arms, "work": work},
    )
    return plan_and_finish(store, spec)


@pytest.mark.statement("E003-08")
def test_that_what_is_kept_is_what_too_few_guess_and_is_imported_again(
    tmp_path: Path,
) -> None:
    tiles, path = tmp_path / "tiles", tmp_path / "s.sqlite"
    dataset = tiles_dataset(tiles, 8)
    with open_store(path) as store:
        cases.add_dataset(store, dataset)
        run = asked(store, ["text_only"])
    out = tiles / "data.json"
    code = run_command_line(
        ["export", "questions", str(run), "--out", str(out), "--store", str(path)]
    )
    assert code == 0
    again = read_dataset("pathmmu", tiles, "kept")
    hard = {i.key for i in dataset.items if i.reference["option"] != 0}
    assert {item.key for item in again.items} == hard
    assert len(hard) < len(dataset.items)


@pytest.mark.statement("E003-08")
def test_that_a_run_with_images_only_has_nothing_to_keep(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, tiles_dataset(tmp_path / "tiles", 2))
        run = asked(store, ["image"])
        with pytest.raises(WrongUseError, match="asked no question without its image"):
            keep_questions(store, run, tmp_path / "out.json")
        run = asked(store, ["text_only"], models=2)
        with pytest.raises(WrongUseError, match="if 3 models or more"):
            keep_questions(store, run, tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()
    assert json.loads((tmp_path / "tiles" / "data.json").read_text())


@pytest.mark.statement("E003-15")
def test_that_a_run_that_made_no_question_has_none_to_write(tmp_path: Path) -> None:
    tiles_dataset(tmp_path / "tiles", 2)
    captions = read_dataset("captioned-tiles", tmp_path / "tiles", "tiles")
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, captions)
        run = asked(store, ["image"], models=1, work="building")
        with pytest.raises(WrongUseError, match="has made no question"):
            keep_questions(store, run, tmp_path / "out.json")


@pytest.mark.statement("E003-08")
def test_that_what_too_few_answered_is_counted_apart() -> None:
    assert Kept(asked=10, kept=4, guessable=3, threshold=3).not_told == 3
