import sys
from collections.abc import Sequence
from pathlib import Path

import click
import pytest

from viewer import cli, printing, terminal
from viewer.cli import opening
from viewer.domain.answer import Status
from viewer.domain.errors import WrongUseError
from viewer.domain.run import (
    Event,
    ModelStopped,
    RunEnded,
    RunSpent,
    RunStarted,
    RunWaiting,
    TrialRetried,
)
from viewer.settings import read_settings
from viewer.store.database import open_store
from viewer.terminal import WindowParts


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (0.123456, "0.1235"),
        (["a", "b"], "a, b"),
        ({"k": 1, "m": 2}, "k 1, m 2"),
        (7, "7"),
        ("[red]", "[red]"),
    ],
)
def test_that_values_read_as_people_write_them(value: object, text: str) -> None:
    assert printing.cell_text(value) == text


def test_that_a_table_is_never_cut_in_a_pipe(
    capsys: pytest.CaptureFixture[str],
) -> None:
    printing.print_rows([{"name": "x" * 150, "n": 1}], ("name", "n"))
    assert "x" * 150 in capsys.readouterr().out


@pytest.mark.parametrize("written", ["2000", "x", "2000x", "²x²", "-1x5", "2000 2500"])
def test_that_a_size_that_is_none_is_a_sentence(written: str) -> None:
    """A raised digit counts as a digit and is no number."""
    with pytest.raises(WrongUseError, match="cannot be read"):
        terminal.size_of(written)


@pytest.mark.parametrize("written", ["²", "first", "-1"])
def test_that_a_run_is_named_by_a_number(written: str, tmp_path: Path) -> None:
    """Anything else is a sentence that says where the numbers stand."""
    with (
        open_store(tmp_path / "store.sqlite") as store,
        pytest.raises(WrongUseError, match="is not a run"),
    ):
        terminal.run_number(written, store)


def test_that_an_empty_list_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    printing.print_rows([], ("name",))
    assert capsys.readouterr().out == "Nothing yet.\n"


@pytest.mark.parametrize(
    ("counts", "finished"),
    [
        ({Status.SCORED_WRONG: 3}, True),
        ({Status.SCORED_CORRECT: 2, Status.UNPARSED: 1}, True),
        ({Status.PENDING: 1}, False),
        ({Status.PROVIDER_ERROR: 1, Status.SCORED_CORRECT: 2}, False),
    ],
)
def test_that_a_batch_is_shown_as_it_goes(
    capsys: pytest.CaptureFixture[str], counts: dict[Status, int], *, finished: bool
) -> None:
    events: list[Event] = [
        RunStarted(1, 3, 0),
        TrialRetried(1, 2, "slow", "http_429", 1.25),
        TrialRetried(1, 3, "slow", "orphan", 0.0),
        RunWaiting(1, "process 77 on ward3 since 08:00"),
        RunWaiting(1, ""),
        RunWaiting(1, "process 77 on ward3 since 08:00"),
        RunWaiting(1, ""),
        RunWaiting(1, "", store_is_busy=True),
        RunWaiting(1, ""),
        ModelStopped(1, "slow", "The key is refused."),
        RunSpent(1, 420_000, 30_000, 5_000_000),
        RunEnded(1, counts, cancelled=False, unanswered=2),
    ]
    shown: list[tuple[int, int, str]] = []
    done = terminal.follow(iter(events), lambda *pair: shown.append(pair))
    assert done is finished
    assert shown[-1] == (0, 3, "$0.42 of $5.00")
    said = capsys.readouterr().err
    assert "slow: http_429, again in 1.2 s" in said
    assert "The key is refused." in said
    assert "2 question(s) in flight did not come back in time" in said
    assert "may have been paid for, and is asked again" in said
    assert said.count("The store is busy; waiting…") == 1
    assert said.count("Waiting for process 77 on ward3 since 08:00: it is asking") == 1


@pytest.mark.parametrize(
    ("error", "code", "expected"),
    [
        (click.exceptions.Abort(), 1, "Stopped."),
        (KeyboardInterrupt(), 1, "Stopped."),
        (MemoryError(), 2, "memory"),
        (RecursionError("deep"), 2, "RecursionError"),
    ],
)
def test_that_nothing_ends_in_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    expected: str,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("viewer.services.inspecting.listing.doctor_rows", fail)
    assert cli.run_command_line(["doctor"]) == code
    said = capsys.readouterr().err
    assert expected in said
    assert "Traceback" not in said
    assert len(said.strip().splitlines()) == 1


def test_that_an_unexpected_failure_leaves_a_report_without_the_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        name = "Jane Doe"
        raise ValueError(name)

    monkeypatch.setattr("viewer.services.inspecting.listing.doctor_rows", fail)
    assert cli.run_command_line(["doctor"]) == 2
    said = capsys.readouterr().err
    reports = list((read_settings().home / "crashes").iterdir())
    assert len(reports) == 1
    assert reports[0].name in said
    text = reports[0].read_text()
    assert "Jane Doe" not in text + said
    assert "ValueError" in text
    assert "test_terminal.py" in text


def test_that_the_program_runs_as_a_module(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from viewer.__main__ import main

    for of_the_process in ("restrict_umask", "_collect_rarely"):
        monkeypatch.setattr(f"viewer.__main__.{of_the_process}", lambda: None)
    monkeypatch.setattr(sys, "argv", ["overread", "--version"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith("overread, version")


def test_that_help_says_what_overread_can_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.run_command_line(["--help"]) == 0
    said = capsys.readouterr().out
    for verb in ("ask", "phantom", "import", "run", "report", "rescore", "runs"):
        assert verb in said


def test_that_the_demo_runs_its_batch_and_names_the_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from viewer.domain.geometry import SizePx

    monkeypatch.setattr("viewer.services.synthetic.demo.PATIENTS", 2)
    monkeypatch.setattr("viewer.services.synthetic.demo.SIZE", SizePx(250, 200))
    assert cli.run_command_line(["demo", "--prepare"]) == 0
    assert "(5 images)" in capsys.readouterr().out
    assert cli.run_command_line(["demo", "--batch"]) == 0
    out = capsys.readouterr().out
    page = Path(out.strip().splitlines()[-1].removeprefix("The report is at "))
    assert page.read_text().lstrip().lower().startswith("<!doctype html")
    assert "Lung Lesion" in out


def test_that_words_that_name_files_open_the_window(tmp_path: Path) -> None:
    opened: list[tuple[Sequence[Path], Path | None, bool, bool]] = []

    def window(
        paths: Sequence[Path],
        store: Path | None,
        *,
        demo: bool,
        new_window: bool = False,
    ) -> int:
        opened.append((paths, store, demo, new_window))
        return 0

    film = tmp_path / "film.dcm"
    film.write_bytes(b"")
    store = tmp_path / "s.sqlite"
    assert cli.run_command_line([], WindowParts(window)) == 0
    assert cli.run_command_line([str(film), str(tmp_path)], WindowParts(window)) == 0
    assert (
        cli.run_command_line([str(film), "--store", str(store)], WindowParts(window))
        == 0
    )
    assert cli.run_command_line(["demo"], WindowParts(window)) == 0
    for words in (["--new-window"], ["--new-window", str(film)]):
        assert cli.run_command_line(words, WindowParts(window)) == 0
    assert opened == [
        ((), None, False, False),
        ((film, tmp_path), None, False, False),
        ((film,), store, False, False),
        ((), None, True, False),
        ((), None, False, True),
        ((film,), None, False, True),
    ]


def test_that_the_demo_without_a_display_runs_its_batch_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_display(*_: object, **__: object) -> int:
        raise WrongUseError("There is no display to open the window on.")

    ran: list[bool] = []

    def batch(_: object, *, prepare: bool) -> bool:
        ran.append(prepare)
        return True

    monkeypatch.setattr(opening, "demo_batch", batch)
    assert cli.run_command_line(["demo"], WindowParts(no_display)) == 0
    assert ran == [False]
    assert "no display" in capsys.readouterr().err
