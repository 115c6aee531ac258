import sys
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.tiny_study import write_images
from viewer.domain.han import HAN_ADVICE
from viewer.services.configuring import model_list
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.inspecting import listing
from viewer.settings import Settings, read_settings
from viewer.store.database import open_store
from viewer.writers.han_font import HanFont

FAR = """
[[model]]
name = "far"
adapter = "openai_api"
base_url = "https://api.example.org/v1"
model = "x"
[[model]]
name = "wrong"
adapter = "openai_api"
base_url = "https://api.example.org/v1"
model = "x"
api_key = "sk-CANARY"
"""


def doctor(settings: Settings) -> dict[str, tuple[object, object]]:
    rows = listing.doctor_rows(settings)
    return {str(row["what"]): (row["state"], row["mend"]) for row in rows}


def test_that_doctor_says_what_is_missing_and_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    packages = (
        ("no-such-package", "no_such_module", "local"),
        ("nor-this", "nor_this", ""),
        ("numpy", "numpy", ""),
        ("no-metadata", "viewer", ""),
    )
    monkeypatch.setattr(listing, "_PACKAGES", packages)
    said = doctor(Settings(tmp_path, tmp_path / "s.sqlite"))
    assert said["no-such-package"] == ("not installed", "pip install overread[local]")
    assert said["nor-this"] == ("not installed", "pip install nor-this")
    assert said["numpy"] == (np.__version__, "")
    assert said["no-metadata"] == ("installed", "")
    assert said["store"] == ("not made yet", "")
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    said_there = doctor(Settings(tmp_path, tmp_path / "s.sqlite"))
    assert said_there["no-such-package"][1] == "in the full edition of Overread"
    models = tmp_path / "models.toml"
    assert said["models file"] == (f"none yet; it would be {models}", "")
    models.write_text("")
    again = doctor(Settings(tmp_path, tmp_path / "s.sqlite"))
    assert again["models file"] == (str(models), "")


def test_that_doctor_says_which_font_has_chinese_or_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = Settings(tmp_path, tmp_path / "s.sqlite")
    monkeypatch.setattr(listing, "han_font", lambda: None)
    assert doctor(settings)["font for Chinese"] == ("none", HAN_ADVICE)
    font = HanFont(tmp_path / "song.ttf", "Song")
    monkeypatch.setattr(listing, "han_font", lambda: font)
    assert doctor(settings)["font for Chinese"] == ("Song", "")


def test_that_doctor_tells_a_broken_store_from_a_sound_one(tmp_path: Path) -> None:
    settings = Settings(tmp_path, tmp_path / "s.sqlite")
    with open_store(settings.store):
        pass
    assert doctor(settings)["store"] == ("0 run(s)", "")
    settings.store.write_bytes(b"no store" * 100)
    state, mend = doctor(settings)["store"]
    assert "not a store" in str(state)
    assert "--store" in str(mend)


def test_that_a_model_whose_package_is_missing_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(model_list, "missing_import", lambda _: ("luck", "luck"))
    rows = listing.model_rows(read_settings())
    assert [(row["name"], row["state"]) for row in rows] == [
        ("asymmetry", "needs luck: pip install luck"),
        ("frequent_cell", "needs luck: pip install luck"),
        ("uniform", "needs luck: pip install luck"),
    ]


def test_that_a_model_elsewhere_needs_consent_and_no_key_is_listed() -> None:
    settings = read_settings()
    settings.home.mkdir(exist_ok=True)
    settings.models_file.write_text(FAR)
    rows = {str(row["name"]): row for row in listing.model_rows(settings)}
    assert rows["far"]["state"] == "sends to api.example.org: needs consent"
    assert rows["wrong"]["readiness"] == "unusable"
    assert "CANARY" not in str(rows)


def test_that_a_data_sets_images_and_notices_are_listed(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        folder = write_images(tmp_path / "d", 2)
        (folder / "notes.txt").write_text("not an image")
        import_dataset(store, "folder", folder, "tiny")
        images, notices = listing.image_rows(store, "tiny")
        (row,) = listing.dataset_rows(store)
    assert [i["findings"] for i in images] == [["Edema"], ["Edema"]]
    assert (images[0]["rows"], images[0]["columns"]) == (120, 100)
    assert [n["subject"] for n in notices] == ["notes.txt"]
    assert (row["images"], row["items"]) == (2, 2)


def test_that_the_store_is_where_it_is_asked_to_be(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path))
    assert read_settings().store == tmp_path / "overread.sqlite"
    assert read_settings().models_file == tmp_path / "models.toml"
    monkeypatch.setenv("OVERREAD_STORE", str(tmp_path / "other.sqlite"))
    assert read_settings().store == tmp_path / "other.sqlite"
    assert read_settings(tmp_path / "third").store == tmp_path / "third"
