"""The phantom of grounded questions: written, imported, questioned (Shows 2)."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from viewer.cli import run_command_line
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx, SizePx
from viewer.services.importing.draw_questions import draw_questions
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.synthetic.make_chests import make_chests
from viewer.services.synthetic.phantom.marked import boxes_of
from viewer.store import cases, consents
from viewer.store.database import open_store

SIZE = SizePx(120, 96)


def _quiet(*_: int) -> None:
    """Tell nobody."""


def _command(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:  # noqa: ANN401 - any JSON
    capsys.readouterr()
    assert run_command_line([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_that_the_same_arguments_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        make_chests(tmp_path / name, 2, 3, SIZE, _quiet)
    make_chests(tmp_path / "two", 2, 3, SIZE, _quiet)
    files = {
        name: {
            p.relative_to(tmp_path / name): p.read_bytes()
            for p in (tmp_path / name).rglob("*")
            if p.is_file()
        }
        for name in ("one", "two")
    }
    assert files["one"] == files["two"]
    assert len(files["one"]) == 5
    with pytest.raises(WrongUseError, match="already contains something else"):
        make_chests(tmp_path / "two", 2, 4, SIZE, _quiet)


@pytest.mark.parametrize(
    ("n", "seed", "size", "words"),
    [
        (0, 0, SIZE, "0 patients of seed 0 cannot be made"),
        (1, -1, SIZE, "1 patients of seed -1 cannot be made"),
        (1, 0, SizePx(10, 10), "10 × 10 pixels is not a valid size"),
        (1, 0, SizePx(9000, 100), "100 × 9000 pixels is not a valid size"),
    ],
)
def test_that_what_cannot_be_made_is_refused(
    n: int, seed: int, size: SizePx, words: str, tmp_path: Path
) -> None:
    with pytest.raises(WrongUseError, match=words):
        make_chests(tmp_path, n, seed, size, _quiet)


@pytest.mark.statement("E002-01")
def test_that_a_phantom_is_imported_with_boxes_around_findings_and_anatomies(
    tmp_path: Path,
) -> None:
    summary = make_chests(tmp_path / "c", 4, 0, SIZE, _quiet)
    with open_store(tmp_path / "s.sqlite") as store:
        dataset = import_dataset(store, "vindr", tmp_path / "c", "c")
    positives: dict[str, int] = {}
    for image in dataset.images:
        assert len(image.anatomy) == 9
        assert not any(mask.is_empty for mask in image.anatomy.values())
        for finding in image.boxes:
            positives[finding] = positives.get(finding, 0) + 1
    assert positives == summary.positives
    assert {n.kind for n in dataset.notices} == {"unknown_patient"}


def test_that_a_box_surrounds_each_part_of_a_finding() -> None:
    mask = np.zeros((200, 200), dtype=np.bool_)
    mask[10:30, 20:60] = True
    mask[100:140, 100:110] = True
    mask[199, 199] = True
    only = np.zeros_like(mask)
    only[5, 7] = True
    assert boxes_of(mask) == (BoxPx(20, 10, 60, 30), BoxPx(100, 100, 110, 140))
    assert boxes_of(only) == (BoxPx(7, 5, 8, 6),)
    assert boxes_of(np.zeros_like(mask)) == ()


def test_that_questions_are_drawn_and_keep_what_is_restricted(tmp_path: Path) -> None:
    make_chests(tmp_path / "c", 3, 0, SIZE, _quiet)
    with open_store(tmp_path / "s.sqlite") as store:
        import_dataset(store, "vindr", tmp_path / "c", "c", restricted=True)
        found = draw_questions(store, ["c"], "q", seed=5)[0]
        assert [rule.rule for rule in found.rules] == ["iou", "ioa"]
        drawn = replace(found.dataset, name="q")
        assert consents.restricted_datasets(store) == {"c", "q"}
        assert cases.dataset_named(store, "q") == drawn
        again = draw_questions(store, ["c"], "r", seed=5)[0].dataset
        assert [i.facts for i in again.items] == [i.facts for i in drawn.items]
        with pytest.raises(WrongUseError, match="keeps its own name"):
            draw_questions(store, ["c"], "c")
        with pytest.raises(WrongUseError, match="has a mask of 'Liver'"):
            draw_questions(store, ["c"], "x", overrides={"anatomies": ["Liver"]})


def test_that_the_command_line_goes_from_nothing_to_a_pack(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", tmp_path / "s.sqlite"]
    size = ["--size", "96x120"]
    chests = ["--out", tmp_path / "c", "--n", 3, *size]
    made = _command(capsys, "phantom", "--study", "grounded_vqa", *chests)
    assert made["images"] == 3
    _command(capsys, "import", "vindr", tmp_path / "c", "--name", "c", *store)
    asked = _command(
        *(capsys, "questions", "c", "--name", "q", "--set", "open_share=0.5"),
        *("--set", "relation_rule=ioa", *store),
    )
    assert sum(asked["questions"].values()) >= 6
    refused = run_command_line(
        [*map(str, ("questions", "c", "--name", "q", "--set", "x", *store))]
    )
    assert refused == 2
    assert "'x' is not a setting." in capsys.readouterr().err
    told = run_command_line(list(map(str, ("questions", "c", "--name", "w", *store))))
    assert told == 0
    assert "'w': " in capsys.readouterr().out
