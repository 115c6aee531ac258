"""Readers' files that are wrong: each is told in one sentence, and stops nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from viewer.cli import run_command_line


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two synthetic studies, asked; their readers' file lies beside the data."""
    found = tmp_path_factory.mktemp("grades")
    where = ["--out", found / "cases", "--n", 2, "--size", "100x125"]
    store = ["--store", found / "s.sqlite"]
    for words in (
        ("phantom", "--study", "rubric_reading", *where),
        ("import", "report-studies", found / "cases", *store),
        ("run", found / "cases" / "study.toml", *store),
    ):
        assert run_command_line([str(word) for word in words]) == 0
    good = found / "cases" / "grades.csv"
    good.rename(found / "good.csv")
    return found


def changed(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new, 1)


def without_synthesis(text: str) -> str:
    rows = [line.split(",") for line in text.splitlines()]
    return "\n".join(",".join([*row[:6], *row[7:]]) for row in rows)


def once_more(text: str) -> str:
    return text + text.splitlines()[1] + "\n"


FIRST = "Reader A,knows,study00001|t1,,5,5,5,5"


@pytest.mark.parametrize(
    ("damage", "sentences"),
    [
        (changed("", ""), []),
        (
            changed(FIRST, FIRST.replace("5,5,5,5", "5,,5,5")),
            [
                (
                    "In line 2 of 'grades.csv', the grade of 'Reader A' of the text of "
                    "'study00001|t1' has no execution."
                )
            ],
        ),
        (without_synthesis, ["The table 'grades.csv' has no column 'synthesis'."]),
        (
            changed(FIRST, FIRST.replace("5,5,5,5", "5,6,5,5")),
            [
                (
                    "In line 2 of 'grades.csv', '6' as execution is not a score from 1 "
                    "to 5 by 'Reader A'."
                )
            ],
        ),
        (
            changed(FIRST, FIRST.replace("study00001", "study00009")),
            [
                (
                    "1 grade of a task that the data set does not have, not used: "
                    "'study00009|t1'."
                )
            ],
        ),
        (
            changed(FIRST, FIRST.replace("knows", "knew")),
            ["1 grade of a model that this run did not ask, not used: 'knew'."],
        ),
        (
            once_more,
            [
                (
                    "In line 33 of 'grades.csv', 'Reader A' grades the same output "
                    "of 'study00001|t1' twice."
                )
            ],
        ),
    ],
)
def test_that_a_wrong_file_of_grades_is_told_in_one_sentence(
    damage: Callable[[str], str],
    sentences: list[str],
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = (folder / "good.csv").read_text(encoding="utf-8")
    (folder / "cases" / "grades.csv").write_text(damage(text), encoding="utf-8")
    capsys.readouterr()
    words = ("report", "last", "--out", folder / "r", "--store", folder / "s.sqlite")
    assert run_command_line([str(word) for word in words]) == 0
    assert capsys.readouterr().err.splitlines() == sentences
