"""What goes wrong is one sentence, the right exit code, and nothing stored is lost."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.tiny_study import write_images
from tests.stories.conftest import Said

STUDY = """
study = "grid_localization"
dataset = "tiny"
models = ["says-d4"]
[params]
grids = [8]
[[model]]
name = "says-d4"
adapter = "scripted"
answer = "D4"
"""


@pytest.fixture
def home(home: Path) -> Path:
    write_images(home / "tiny", 3)
    (home / "study.toml").write_text(STUDY)
    return home


def refused(said: tuple[int, str, str]) -> str:
    """Check for exit code 2 and one line on standard error; return the line."""
    code, out, err = said
    assert code == 2, (out, err)
    assert out == ""
    assert len(err.splitlines()) == 1, err
    assert "Traceback" not in err
    assert len(err) > 20
    return err


def edited(home: Path, old: str, new: str) -> Path:
    path = home / "edited.toml"
    path.write_text(STUDY.replace(old, new))
    return path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["dance"], "neither a command nor an existing file"),
        (["HOME/tiny/patient00000_frontal.png"], "no window"),
        (["run"], "Missing argument"),
        (["run", "HOME/none.toml"], "none.toml"),
        (["run", "HOME/study.toml"], "No data set is named 'tiny'"),
        (["run", "HOME/study.toml", "--threads", "0"], "threads"),
        (["report", "1", "--out", "HOME/out"], "no run 1"),
        (["report", "last", "--out", "HOME/out"], "no run yet"),
        (["report", "first", "--out", "HOME/out"], "'first' is not a run"),
        (["rescore", "77"], "no run 77"),
        (["cases", "nothing"], "No data set is named"),
        (["import", "parquet", "HOME/tiny"], "no data-set format 'parquet'"),
        (["import", "folder", "HOME/nowhere"], "nowhere"),
        (["import", "chexlocalize", "HOME/tiny"], "gt_segmentations"),
        (["phantom", "--out", "HOME/p", "--n", "-3"], "-3"),
        (["phantom", "--out", "HOME/p", "--n", "1", "--size", "big"], "size 'big'"),
        (["ask", "HOME/none.png", "--finding", "Edema"], "none.png"),
        (["ask", "HOME/study.toml", "--finding", "Edema"], "study.toml"),
        (["ask", "HOME/tiny/patient00000_frontal.png"], "--finding"),
        (
            ["ask", "HOME/tiny/patient00000_frontal.png", "--finding", "Edema",
             "--grid", "1"],
            "grid",
        ),
        (
            ["ask", "HOME/tiny/patient00000_frontal.png", "--finding", "Edema",
             "--model", "asymetry"],
            "Did you mean 'asymmetry'",
        ),
        (
            ["ask", "HOME/tiny/patient00000_frontal.png", "--finding", "Edema",
             "--frame", "3"],
            "patient00000_frontal.png has 1 pages",
        ),
    ],
)  # fmt: skip
def test_that_wrong_use_is_one_sentence(
    say: Said, words: list[str], expected: str
) -> None:
    assert expected in refused(say(*words))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("grid_localization", "grid_localisation", "Did you mean"),
        ('"tiny"', "7", "'dataset'"),
        ("[params]", "seed = -1\n[params]", "'seed'"),
        ("[params]", "repeats = 0\n[params]", "'repeats'"),
        ("[params]", "modles = []\n[params]", "Did you mean 'models'"),
        ("grids = [8]", "grid = [8]", "grids"),
        ("grids = [8]", "grids = [99]", "99"),
        ('models = ["says-d4"]', 'models = ["says-d5"]', "says-d5"),
        ('models = ["says-d4"]', 'models = ["says-d4", "says-d4"]', "twice"),
        ('adapter = "scripted"', 'adapter = "oracle"', "oracle"),
        ('answer = "D4"', 'answr = "D4"', "answr"),
        ('answer = "D4"', "", "no answer"),
        ("study =", "study", "not valid TOML"),
        ('[[model]]', '[[model]]\napi_key = "sk-123"', "api_key"),
    ],
)  # fmt: skip
def test_that_a_wrong_study_file_is_one_sentence(
    say: Said, home: Path, old: str, new: str, expected: str
) -> None:
    say("import", "folder", "HOME/tiny")
    said = refused(say("run", edited(home, old, new)))
    assert expected in said
    assert "sk-123" not in said
    assert json.loads(say("runs", "--json")[1]) == []


@pytest.mark.parametrize(
    "base_url",
    [
        "https://api.openai.com/v1",
        "http://10.0.0.7:8000/v1",
        "http://localhost.evil/v1",
    ],
)
def test_that_nothing_leaves_this_machine(say: Said, home: Path, base_url: str) -> None:
    say("import", "folder", "HOME/tiny")
    path = edited(
        home,
        'adapter = "scripted"\nanswer = "D4"',
        f'adapter = "openai_api"\nmodel = "m"\nbase_url = "{base_url}"',
    )
    said = say("run", path)
    assert said[0] != 0
    assert "this machine" in said[2]
    assert "Traceback" not in said[2]


def test_that_a_bad_store_is_one_sentence_and_untouched(say: Said, home: Path) -> None:
    other = home / "other.sqlite"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE theirs (x)")
    connection.commit()
    connection.close()
    notes = home / "notes.txt"
    notes.write_text("no store\n" * 99)
    for path in (other, notes):
        before = path.read_bytes()
        refused(say("runs", "--store", path))
        refused(say("import", "folder", "HOME/tiny", "--store", path))
        assert path.read_bytes() == before


def test_that_a_report_into_a_file_is_one_sentence(say: Said, home: Path) -> None:
    say("import", "folder", "HOME/tiny")
    assert say("run", "HOME/study.toml")[0] == 0
    (home / "taken").write_text("a file")
    refused(say("report", "last", "--out", "HOME/taken"))
    assert (home / "taken").read_text() == "a file"


def test_that_a_text_file_named_dcm_is_named_in_an_import(
    say: Said, home: Path
) -> None:
    (home / "tiny" / "letter.dcm").write_text("Dear colleague,\n" * 20)
    code, out, _ = say("import", "folder", "HOME/tiny", "--json")
    assert code == 0
    assert "letter" in json.dumps(json.loads(out)["notices"])
    assert "letter.dcm" in refused(
        say("ask", "HOME/tiny/letter.dcm", "--finding", "Edema", "--view", "frontal")
    )


def test_that_a_mask_of_another_size_is_excluded_by_name(say: Said, home: Path) -> None:
    from PIL import Image

    Image.new("L", (10, 10), 255).save(home / "tiny" / "patient00001_frontal.Edema.png")
    code, out, _ = say("import", "folder", "HOME/tiny", "--json")
    assert code == 0
    assert any("patient00001" in n[1] for n in json.loads(out)["notices"])
    code, out, _ = say("run", "HOME/study.toml", "--json")
    counts = json.loads(out)["counts"]
    assert (code, counts["excluded"], sum(counts.values())) == (0, 1, 3)


@pytest.mark.parametrize(
    ("behaviour", "code", "sentence"),
    [
        ("401", 1, "refuses the key"),
        ("quota", 1, "quota"),
        ("404", 1, ""),
        ("empty", 0, ""),
        ("refusal", 0, ""),
        ("length", 0, ""),
        ("not-json", 1, ""),
    ],
)
def test_that_a_server_that_misbehaves_gives_the_right_exit_code(
    say: Said, home: Path, behaviour: str, code: int, sentence: str
) -> None:
    say("import", "folder", "HOME/tiny")
    with ScriptedServer(Script(default=behaviour)) as server:
        path = edited(
            home,
            'adapter = "scripted"\nanswer = "D4"',
            f'adapter = "openai_api"\nmodel = "m"\nbase_url = "{server.base_url}"',
        )
        said = say("run", path, "--json")
    assert said[0] == code
    assert sentence in said[2]
    assert "Traceback" not in said[2]
    assert sum(json.loads(said[1])["counts"].values()) == 3


@pytest.mark.statement("E000-10")
def test_that_labels_that_are_too_small_are_said(say: Said) -> None:
    image = "HOME/tiny/patient00000_frontal.png"
    _, out, err = say("ask", image, "--finding", "Edema", "--grid", "26")
    assert "cannot_be_asked" in out
    assert "labels of the 26 grid do not fit its cells of 9 × 9 pixels" in err
    assert "Choose fewer cells" in err


def test_that_an_unknown_view_is_asked_for_and_never_guessed(
    say: Said, home: Path
) -> None:
    image = home / "tiny" / "patient00000_frontal.png"
    image.rename(home / "tiny" / "film.png")
    asked = ("ask", "HOME/tiny/film.png", "--finding", "Edema", "--json")
    assert "--view" in refused(say(*asked))
    code, out, _ = say(*asked, "--view", "frontal")
    answer = json.loads(out)
    assert code == 0
    assert (answer["status"], answer["reason"]) == ("excluded", "no_gt")
    assert answer["answer"]
    printed = say(*asked[:-1], "--view", "frontal")[1]
    assert "\nstatus: no reference: not judged\n" in printed
    assert "excluded" not in printed
