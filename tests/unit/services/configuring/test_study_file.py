from pathlib import Path

import pytest

from viewer.domain.errors import OverreadError, UnreadableInputError, WrongUseError
from viewer.services.configuring.study_file import read_study_file

STUDY = """
study = "grid_localization"
dataset = "ph"
models = ["mine", "uniform"]
seed = 4
repeats = 3
[params]
grids = [8, "8x10"]
findings = ["Lung Opacity"]
[[model]]
name = "mine"
adapter = "scripted"
answers_file = "answers.json"
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "sub" / "study.toml"
    path.parent.mkdir()
    path.write_text(STUDY)
    (tmp_path / "sub" / "answers.json").write_text('{"a": "D4"}')
    return path


def test_that_a_study_file_gives_every_setting_its_value(
    study: Path, tmp_path: Path
) -> None:
    spec = read_study_file(study, tmp_path / "models.toml", limit=7)
    assert (spec.study, spec.dataset, spec.preset) == (
        "grid_localization",
        "ph",
        "gosai2025",
    )
    assert (spec.seed, spec.repeats, spec.limit) == (4, 3, 7)
    assert spec.params["grids"] == ["8", "8x10"]
    assert spec.params["findings"] == ["Lung Opacity"]
    assert spec.params["views"] == ["frontal", "lateral"]
    assert [m.name for m in spec.models] == ["mine", "uniform"]


def test_that_a_file_says_how_many_items_unless_the_command_line_does(
    study: Path, tmp_path: Path
) -> None:
    study.write_text(f"limit = 3\n{STUDY}")
    assert read_study_file(study, tmp_path / "none").limit == 3
    assert read_study_file(study, tmp_path / "none", limit=7).limit == 7
    study.write_text(STUDY)
    assert read_study_file(study, tmp_path / "none").limit is None


def test_that_paths_start_from_the_study_files_folder(
    study: Path, tmp_path: Path
) -> None:
    spec = read_study_file(study, tmp_path / "models.toml")
    path = Path(str(spec.models[0].settings["answers_file"]))
    assert path == study.parent / "answers.json"


FILES = (
    ("cnn_cam", "card", "nets/card.toml"),
    ("gguf_local", "model", "tiny.gguf"),
    ("gguf_local", "projector", "eye.gguf"),
    ("transformers_local", "model", "tiny-llava"),
    ("openai_api", "ca_file", "ca.pem"),
    ("scripted", "heat_map_file", "map.npy"),
    ("replay", "items_file", "items.csv"),
)
NEEDED = {"gguf_local": 'model = "m.gguf"', "openai_api": 'model = "m"'}


@pytest.mark.parametrize(("adapter", "key", "value"), FILES)
@pytest.mark.parametrize("written_in", ["study.toml", "models.toml"])
def test_that_every_file_of_a_model_starts_from_the_file_it_is_named_in(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    written_in: str,
    adapter: str,
    key: str,
    value: str,
) -> None:
    needed = NEEDED.get(adapter, "") if key != "model" else ""
    lines = f'{needed}\n{key} = "{value}"\n'
    if adapter == "openai_api":
        lines += 'base_url = "http://127.0.0.1:1/v1"\n'
    model = f'[[model]]\nname = "m"\nadapter = "{adapter}"\n{lines}'
    study = 'study = "grid_localization"\ndataset = "ph"\nmodels = ["m"]\n'
    for name in ("study.toml", "models.toml"):
        (tmp_path / name).with_suffix("").mkdir()
        text = (study if name == "study.toml" else "") + model * (name == written_in)
        (tmp_path / Path(name).stem / name).write_text(text)
    (tmp_path / "started").mkdir()
    monkeypatch.chdir(tmp_path / "started")
    spec = read_study_file(
        Path("../study/study.toml"), Path("../models/models.toml"), models=["m"]
    )
    found = Path(str(spec.models[0].settings[key]))
    assert found.is_absolute()
    assert found.resolve() == tmp_path / Path(written_in).stem / value


def test_that_models_on_the_command_line_replace_those_of_the_file(
    study: Path, tmp_path: Path
) -> None:
    spec = read_study_file(study, tmp_path / "none", models=["frequent_cell"])
    assert [m.name for m in spec.models] == ["frequent_cell"]


def test_that_a_persons_own_models_are_known_and_the_nearer_definition_wins(
    study: Path, tmp_path: Path
) -> None:
    own = tmp_path / "models.toml"
    own.write_text(
        '[[model]]\nname = "mine"\nadapter = "scripted"\nanswer = "A1"\n'
        '[[model]]\nname = "other"\nadapter = "scripted"\nanswer = "A2"\n'
    )
    spec = read_study_file(study, own, models=["mine", "other"])
    assert "answers_file" in spec.models[0].settings
    assert spec.models[1].settings["answer"] == "A2"


@pytest.mark.parametrize(
    ("old", "new", "kind", "expected"),
    [
        ('models = ["mine", "uniform"]', "", WrongUseError, "names no model"),
        (
            '[[model]]\nname = "mine"',
            '[model]\nname = "mine"',
            WrongUseError,
            "[[model]]",
        ),
        (
            'models = ["mine", "uniform"]',
            "models = 3",
            WrongUseError,
            "'models' in study.toml must be a list",
        ),
        ("[params]\ngrids = [8,", "params = 3\n[x]\ny = [8,", OverreadError, ""),
        ("repeats = 3", "repeats = true", WrongUseError, "whole number"),
        ("repeats = 3", "repeats = 0", WrongUseError, "a whole number, 1 or more"),
        ("repeats = 3", "limit = 0", WrongUseError, "a whole number, 1 or more"),
        ("repeats = 3", "repeat = 3", WrongUseError, "Did you mean 'repeats'?"),
    ],
)
def test_that_a_wrong_entry_is_named(
    study: Path,
    tmp_path: Path,
    old: str,
    new: str,
    kind: type[Exception],
    expected: str,
) -> None:
    study.write_text(STUDY.replace(old, new))
    with pytest.raises(kind) as error:
        read_study_file(study, tmp_path / "none")
    assert expected in str(error.value)
    assert "study.toml" in str(error.value)


def test_that_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match=r"none\.toml"):
        read_study_file(tmp_path / "none.toml", tmp_path / "models.toml")
    (tmp_path / "latin.toml").write_bytes(b'study = "\xe9"')
    with pytest.raises(UnreadableInputError, match="not valid TOML"):
        read_study_file(tmp_path / "latin.toml", tmp_path / "models.toml")


DRAWING = """
study = "grid_localization"
dataset = "ph"
models = ["mine"]
preset = "recommended"
[[model]]
name = "mine"
adapter = "openai_api"
server = "ollama"
model = "tiny"
"""


@pytest.mark.statement("E000-14")
@pytest.mark.parametrize(
    ("old", "new", "repeats"),
    [
        ("", "", 5),
        ('"recommended"', '"gosai2025"', 1),
        ('model = "tiny"', 'model = "tiny"\ntemperature = 0', 1),
        ('models = ["mine"]', 'models = ["uniform"]', 1),
        ('preset = "recommended"', 'preset = "recommended"\nrepeats = 2', 2),
    ],
)
def test_that_a_model_that_draws_is_asked_five_times_beyond_paper_mode(
    tmp_path: Path, old: str, new: str, repeats: int
) -> None:
    path = tmp_path / "study.toml"
    path.write_text(DRAWING.replace(old, new, 1) if old else DRAWING)
    assert read_study_file(path, tmp_path / "models.toml").repeats == repeats
