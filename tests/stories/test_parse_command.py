"""``overread parse``: the quickest way to see what a strange reply means."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stories.conftest import Overread
from viewer.cli import run_command_line
from viewer.models.coordinates.conventions import CONVENTIONS


def _written(folder: Path, text: str) -> Path:
    file = folder / "reply.txt"
    file.write_text(text, encoding="utf-8")
    return file


def test_that_a_box_seen_smaller_is_given_in_pixels_of_the_image_sent(
    overread: Overread, tmp_path: Path
) -> None:
    reply = _written(tmp_path, '[{"bbox_2d": [98, 49, 490, 196], "label": "mass"}]')
    size = ("--sent", "2048x1024", "--seen", "1024x512")
    read = overread("parse", "--convention", "qwen2_5_vl", *size, reply)
    assert read["status"] == "ok"
    place = read["places"][0]
    assert [place[k] for k in ("x0", "y0", "x1", "y1")] == [196, 98, 980, 392]
    assert (read["sent"], read["seen"]) == ([2048, 1024], [1024, 512])


def test_that_a_cell_of_a_larger_grid_is_named_with_its_box(
    overread: Overread, tmp_path: Path
) -> None:
    words = ("--convention", "grid", "--grid", "16", "--sent", "256x256")
    read = overread("parse", *words, _written(tmp_path, "The answer is P16."))
    assert read["cell"] == "P16"
    assert [read["places"][0][k] for k in ("x0", "y0", "x1", "y1")] == [240] * 2 + [
        256
    ] * 2


def test_that_a_refusal_and_an_empty_list_are_different_statuses(
    overread: Overread, tmp_path: Path
) -> None:
    words = ("parse", "--convention", "gemini", "--sent", "512x512")
    empty = overread(*words, _written(tmp_path, "[]"))
    prose = overread(*words, _written(tmp_path, "I cannot help with medical images."))
    assert empty["status"] == "empty"
    assert prose["status"] not in {"empty", "ok"}


def test_that_a_reply_is_read_from_standard_input() -> None:
    words = ["parse", "--convention", "molmo", "--sent", "200x100"]
    text = '<point x="50.0" y="25.0" alt="nodule">nodule</point>'
    done = subprocess.run(
        [sys.executable, "-m", "viewer", *words],
        input=text.encode(),
        capture_output=True,
        check=True,
    )
    place = json.loads(done.stdout)["places"][0]
    assert (place["x"], place["y"]) == (100.0, 25.0)


def test_that_a_reply_saved_by_powershell_is_read(
    overread: Overread, tmp_path: Path
) -> None:
    file = tmp_path / "reply.txt"
    file.write_text("[10, 20, 30, 40]\r\n", encoding="utf-16")
    read = overread("parse", "--convention", "claude", "--sent", "64x64", file)
    assert read["places"][0]["x1"] == 30


def test_that_a_reply_of_ten_megabytes_is_refused_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _written(tmp_path, "[1, " * 2_500_000)
    words = ["parse", "--convention", "claude", "--sent", "64x64", str(file)]
    assert run_command_line(words) == 2
    assert "longer than 8 MB" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--convention", "foo", "--sent", "9x9", "x"), "foo"),
        (("--convention", "grid", "--sent", "nine", "x"), "nine"),
        (("--convention", "grid", "--sent", "9x9", "gone.txt"), "cannot be read"),
        (("--convention", "grid", "--sent", "9x9", "--grid", "0", "x"), "grid"),
        (("--convention", "grid", "--sent", "9x9", "--grid", "²", "x"), "grid"),
        (("--convention", "grid", "--sent", "", "x"), "--sent"),
        (("--convention", "grid", "--sent", "²x²", "x"), "²x²"),
        (("--convention", "grid", "--sent", "9" * 5_000 + "x1", "x"), "999…"),
        (("--convention", "grid", "--sent", "9x9", "--seen", "", "x"), "--seen"),
        (("--convention", "grid", "--sent", "9x9", "--seen", "0x9", "x"), "0 × 9"),
        (("--convention", "grid", "--sent", "-9x9", "x"), "-9x9"),
    ],
)
def test_that_wrong_use_is_one_sentence(
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x").write_text("D4")
    assert run_command_line(["parse", *words]) == 2
    line = capsys.readouterr().err
    assert said in line
    assert line.count("\n") == 1


@pytest.mark.parametrize("command", ["parse", "import-replies"])
def test_that_the_help_names_every_convention(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line([command, "--help"]) == 0
    words = capsys.readouterr().out.replace(",", " ").replace(".", " ").split()
    assert {*CONVENTIONS} <= {*words}
