"""The prompts that a study file brings, and those that are printed for it."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.quiz_study import quiz_in_catalog
from viewer.cli import run_command_line
from viewer.domain.errors import OverreadError
from viewer.services.configuring.own_prompts import prompt_rows, prompts_text
from viewer.services.configuring.study_file import read_study_file
from viewer.studies.catalog import OURS

STUDY = 'study = "grid_localization"\ndataset = "d"\nmodels = ["uniform"]\n'
USER = "Where is the {condition}?"


@pytest.fixture
def _quiz() -> Iterator[None]:
    with quiz_in_catalog():
        yield


def read(folder: Path, prompts: str, study: str = STUDY) -> dict[str, object]:
    """Return the own prompts of a study file's run."""
    path = folder / "study.toml"
    path.write_text(f"{study}{prompts}", encoding="utf-8")
    spec = read_study_file(path, folder / "models.toml")
    found = spec.params["prompts"]
    assert isinstance(found, dict)
    return found


def test_that_a_prompt_is_a_text_or_a_file_beside_the_study_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "user.txt").write_text(f"{USER}\n", encoding="utf-8-sig")
    monkeypatch.chdir(tmp_path)
    prompts = (
        "[prompts]\n"
        "gosai2025_system = '''\nLook\nclosely.\n'''\n"
        'gosai2025_user = {file = "user.txt"}\n'
    )
    found = read(Path("study"), prompts)
    assert found == {"gosai2025_system": "Look\nclosely.", "gosai2025_user": USER}
    assert read(Path("study"), "") == {}


@pytest.mark.parametrize(
    ("prompts", "said"),
    [
        (
            'gosai2025_user = {file = "none.txt"}',
            (
                "The file 'none.txt' of the prompt 'gosai2025_user' cannot be read "
                "(No such file or directory)."
            ),
        ),
        (
            'gosai2025_user = {file = "latin.txt"}',
            (
                "The file 'latin.txt' of the prompt 'gosai2025_user' cannot be read "
                "(it is not UTF-8)."
            ),
        ),
        (
            'gosai2025_user = {path = "user.txt"}',
            ("The prompt 'gosai2025_user' in study.toml is neither a text nor a file."),
        ),
        (
            "gosai2025_user = 3",
            ("The prompt 'gosai2025_user' in study.toml is neither a text nor a file."),
        ),
        (
            'gosai2025_user = "Where?"',
            (
                "The prompt 'gosai2025_user' lacks the placeholder {condition} or "
                "{finding}."
            ),
        ),
        ('user = "Where?"', "There is no prompt named 'user'."),
    ],
)
def test_that_a_prompt_of_no_use_is_refused_in_a_sentence(
    tmp_path: Path, prompts: str, said: str
) -> None:
    (tmp_path / "latin.txt").write_bytes(b"\xe9")
    with pytest.raises(OverreadError) as raised:
        read(tmp_path, f"[prompts]\n{prompts}\n")
    assert raised.value.what == said


@pytest.mark.usefixtures("_quiz")
def test_that_a_study_without_prompts_to_replace_says_so(tmp_path: Path) -> None:
    quiz = STUDY.replace("grid_localization", "quiz")
    with pytest.raises(OverreadError, match="'quiz' has no prompts that a study file"):
        read(tmp_path, '[prompts]\nanswer = "x"\n', quiz)


@pytest.mark.parametrize("study", sorted(OURS))
def test_that_printed_prompts_can_be_pasted_into_a_study_file(
    study: str, tmp_path: Path
) -> None:
    text = prompts_text(study)
    rows = prompt_rows(study)
    assert tomllib.loads(text)["prompts"] == {row["name"]: row["text"] for row in rows}
    assert read(tmp_path, text, STUDY.replace("grid_localization", study)) == {}


def test_that_prompts_are_printed_with_their_placeholders_and_their_paper(
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = "medsyn2026_ddx_judge"
    assert run_command_line(["prompts", "evidence_diagnosis", "--name", name]) == 0
    printed = capsys.readouterr().out
    assert "# Source: Chen 2026, appendix B.1.\n" in printed
    assert "# Required: {ground_truth}, {differential list}.\n" in printed
    assert list(tomllib.loads(printed)["prompts"]) == [name]
    assert run_command_line(["prompts", "evidence_diagnosis", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows].count(name) == 1
    assert {"text", "sha256", "source", "required", "optional"} <= {*rows[0]}


def test_that_an_unknown_prompt_or_study_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_command_line(["prompts", "grid_localization", "--name", "gosai"]) == 2
    assert "There is no prompt named 'gosai'." in capsys.readouterr().err
    assert run_command_line(["prompts", "grid"]) == 2
    assert "There is no study named 'grid'." in capsys.readouterr().err
