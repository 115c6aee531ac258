import json
from pathlib import Path

import pytest

from tests.helpers.tiny_gguf import write_tiny_model
from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.models.catalog import profile_from_table
from viewer.services.configuring.dropped_models import dropped_models, projector_beside


def folder_of(path: Path, kind: str) -> Path:
    path.mkdir()
    (path / "config.json").write_text(json.dumps({"model_type": kind}))
    return path


def test_that_folders_are_models_of_transformers_or_segmenters(tmp_path: Path) -> None:
    llava = folder_of(tmp_path / "llava-7b", "llava")
    sam = folder_of(tmp_path / "medsam", "sam")
    first, second = dropped_models([llava, sam])
    assert first.name == "llava-7b"
    assert first.table == {"adapter": "transformers_local", "model": str(llava)}
    assert second.table == {"adapter": "segmenter", "model": str(sam)}
    for model in (first, second):
        assert profile_from_table({"name": model.name, **model.table})


def test_that_a_damaged_config_is_left_to_the_form(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    (model,) = dropped_models([tmp_path])
    assert model.table["adapter"] == "transformers_local"


def test_that_a_model_and_its_projector_are_one_in_any_order(tmp_path: Path) -> None:
    llm, eye = write_tiny_model(tmp_path)
    (model,) = dropped_models([eye, llm])
    expected = {"adapter": "gguf_local", "model": str(llm), "projector": str(eye)}
    assert model.table == expected
    assert model.name == llm.stem


def test_that_a_lone_model_brings_the_projector_beside_it(tmp_path: Path) -> None:
    llm, eye = write_tiny_model(tmp_path)
    beside = eye.rename(tmp_path / "mmproj-model-f16.gguf")
    assert projector_beside(llm) == beside
    (model,) = dropped_models([llm])
    assert model.table["projector"] == str(beside)
    (whole,) = dropped_models([tmp_path])
    assert whole == model
    beside.with_name("mmproj-other.gguf").write_bytes(b"")
    assert projector_beside(llm) is None
    (alone,) = dropped_models([llm])
    assert "projector" not in alone.table


def test_that_a_card_is_a_network(tmp_path: Path) -> None:
    card = tmp_path / "densenet.toml"
    card.write_text("")
    (model,) = dropped_models([card])
    assert model.name == "densenet"
    assert model.table == {"adapter": "cnn_cam", "card": str(card)}


def test_that_what_is_no_model_is_refused_by_name(tmp_path: Path) -> None:
    llm, eye = write_tiny_model(tmp_path)
    picture = tmp_path / "film.png"
    picture.write_bytes(b"")
    empty = tmp_path / "empty"
    empty.mkdir()
    for paths, said in (
        ([picture], "'film.png' is not a model"),
        ([empty], "'empty' is not a model"),
        ([eye], "0 GGUF models and 1 projectors"),
        ([llm, llm], "2 GGUF models and 0 projectors"),
    ):
        with pytest.raises(WrongUseError, match=said):
            dropped_models(paths)
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"no")
    with pytest.raises(UnreadableInputError):
        dropped_models([broken])
    assert projector_beside(tmp_path / "nowhere" / "m.gguf") is None
