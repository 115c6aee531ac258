import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.tiny_vlm import local_model
from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.models.loaded import silent
from viewer.models.transformers_local.files import (
    ModelFiles,
    chat_template,
    folder_of,
    model_files,
)


def write(folder: Path, name: str, value: object) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(value))


def a_model(folder: Path, **config: object) -> Path:
    write(folder, "config.json", {"model_type": "llava", **config})
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def files(folder: Path) -> ModelFiles:
    return model_files(folder.name, folder)


def test_that_a_folder_a_name_on_the_hub_and_neither_are_told_apart(
    tmp_path: Path,
) -> None:
    assert folder_of(str(tmp_path)) == tmp_path.resolve()
    assert folder_of("google/medgemma-4b-it") is None
    for wrong in (str(tmp_path / "absent"), "absent", "a/b/c", "~/absent/x"):
        with pytest.raises(WrongUseError, match="no model folder") as caught:
            folder_of(wrong)
        assert "config.json" in caught.value.how


def test_that_what_a_folder_lacks_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    with pytest.raises(WrongUseError, match=r"no readable config.json"):
        files(folder)
    (folder / "config.json").write_text("{broken")
    with pytest.raises(WrongUseError, match=r"no readable config.json"):
        files(folder)
    write(folder, "config.json", {"model_type": "llava"})
    with pytest.raises(WrongUseError, match=r"has no model\.safetensors"):
        files(folder)
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(WrongUseError, match="can run code"):
        files(folder)
    shards = {"a": "one.safetensors", "b": "two.safetensors"}
    write(folder, "model.safetensors.index.json", {"weight_map": shards})
    (folder / "one.safetensors").write_bytes(b"weights")
    with pytest.raises(WrongUseError, match=r"lacks 1 of its 2 .* two.safetensors"):
        files(folder)
    (folder / "two.safetensors").write_bytes(b"weights")
    assert [p.name for p in files(folder).weights] == list(shards.values())


def test_that_code_of_a_model_is_not_run(
    folder_of: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = tmp_path / "m"
    shutil.copytree(folder_of("llava"), folder)
    (folder / "modeling.py").write_text("raise SystemExit")
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config["auto_map"] = dict.fromkeys(
        ("AutoConfig", "AutoModelForImageTextToText"), "modeling.Model"
    )
    path.write_text(json.dumps(config))
    local_model(folder).load(silent, threading.Event())  # transformers knows it
    path.write_text(json.dumps({**config, "model_type": "odd"}))
    with pytest.raises(WrongUseError, match="never run"):
        local_model(folder).load(silent, threading.Event())
    del config["auto_map"]
    path.write_text(json.dumps({**config, "model_type": "odd"}))
    with pytest.raises(WrongUseError, match="is a 'odd'"):
        local_model(folder).load(silent, threading.Event())


def test_that_a_revision_is_the_commit_or_a_hash_of_every_file(tmp_path: Path) -> None:
    folder = a_model(tmp_path / "m")
    first = files(folder).revision
    assert first.startswith("sha256:")
    (folder / "README.md").write_text("not of the model")
    assert files(folder).revision == first
    copy = shutil.copytree(folder, tmp_path / "copy")
    assert files(copy).revision == first
    (folder / "model.safetensors").write_bytes(b"wEights")
    assert files(folder).revision != first
    cached = tmp_path / "snapshots" / ("0123456789abcdef" * 3)[:40]
    cached.parent.mkdir()
    assert files(a_model(cached)).revision == cached.name


def test_that_a_chat_template_is_found_where_it_may_be(tmp_path: Path) -> None:
    folder = a_model(tmp_path / "m")
    assert (chat_template(folder), files(folder).template_sha256) == (None, "none")
    hashes = set()
    names = ("tokenizer_config.json", "processor_config.json", "chat_template.json")
    for name in names:
        write(folder, name, {"chat_template": name})
        assert chat_template(folder) == name
        hashes.add(files(folder).template_sha256)
    (folder / "chat_template.jinja").write_text("jinja")
    assert chat_template(folder) == "jinja"
    assert len(hashes | {files(folder).template_sha256}) == 4


def test_that_making_a_model_reads_no_file(tmp_path: Path) -> None:
    model = local_model(tmp_path / "absent")
    with pytest.raises(WrongUseError, match="no model folder 'absent'"):
        model.identity(0)
    with pytest.raises(WrongUseError, match="no model folder 'absent'"):
        model.memory_bytes()


def test_that_a_model_replaced_in_its_folder_has_another_identity(
    folder_of: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = tmp_path / "m"
    shutil.copytree(folder_of("llava"), folder)
    model = local_model(folder)
    first = model.identity(0)
    shutil.rmtree(folder)
    shutil.copytree(folder_of("gemma3"), folder)
    model.unload()
    second = model.identity(0)
    assert first.revision != second.revision
    assert second.local["architecture"] == "gemma3"
    assert not issubclass(WrongUseError, UnreadableInputError)


def test_that_a_model_that_will_be_fetched_first_can_be_loaded_from_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its size is not known; what is not to be fetched says how to get it."""
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    assert local_model(tmp_path, model="acme/unseen", download=True).memory_bytes() == 0
    with pytest.raises(WrongUseError, match="not on this machine"):
        local_model(tmp_path, model="acme/unseen").memory_bytes()
