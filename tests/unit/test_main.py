"""The program's entry: what it begins before the command line is read."""

import gc
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from viewer import __main__ as entry
from viewer.services.viewing import decoder_process


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> object:
    process = object()
    monkeypatch.setattr(decoder_process, "spawn_decoder", lambda: process)
    return process


@pytest.mark.parametrize("words", [[], ["demo"], ["{here}"], ["{here}", "{here}"]])
def test_that_a_decoder_starts_where_a_window_will_open(
    started: object, words: list[str], tmp_path: Path
) -> None:
    named = [word.format(here=tmp_path) for word in words]
    assert entry._early_decoder(named) is started


@pytest.mark.parametrize(
    "words", [["--help"], ["demo", "--batch"], ["runs"], ["ask", "x"]]
)
def test_that_none_starts_for_a_command(words: list[str]) -> None:
    assert entry._early_decoder(words) is None


@pytest.fixture
def at_interrupt() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("at_interrupt")
def test_that_an_interrupt_ends_the_imports_and_raises_in_a_command() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    entry._end_at_interrupt()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    entry._raise_at_interrupt()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("at_interrupt")
def test_that_an_interrupt_that_is_ignored_stays_so() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    entry._end_at_interrupt()
    entry._raise_at_interrupt()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_that_a_version_is_printed_without_what_reads_images() -> None:
    code = """
import sys
from viewer.__main__ import main
sys.argv = ["overread", "--version"]
try:
    main()
finally:
    print("numpy" in sys.modules, "pydicom" in sys.modules, file=sys.stderr)
"""
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("overread, version")
    assert done.stderr.split() == ["False", "False"]


def test_that_neither_start_nor_end_wait_for_many_searches_for_cycles() -> None:
    code = """
import atexit, gc, select, sys
from viewer.__main__ import main
select.select = lambda *_: ([], [], [])  # as while nobody asks for an image
searches = []
gc.callbacks.append(lambda phase, _: phase == "start" and searches.append(phase))
searched_at_the_end = lambda: print(len(gc.get_objects()), file=sys.stderr)
atexit.register(searched_at_the_end)
sys.argv = ["overread", "_decoder"]
main()
print(len(searches), "pydicom" in sys.modules, file=sys.stderr)
"""
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, input="", capture_output=True, text=True, check=True)
    searches, has_imported, searched_at_the_end = done.stderr.split()
    assert has_imported == "True"
    assert int(searches) < 50  # a hundred by the usual thresholds
    assert int(searched_at_the_end) < 1000  # of a hundred thousand


def test_that_a_window_collects_by_the_usual_thresholds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stop(_: Path) -> None:
        raise NotImplementedError

    usual = gc.get_threshold()
    monkeypatch.setattr(entry, "_need_display", lambda: None)
    monkeypatch.setattr("viewer.private_files.tighten", stop)
    try:
        entry._collect_rarely()
        assert gc.get_threshold() > usual
        with pytest.raises(NotImplementedError):
            entry.open_window((), None, demo=False)
        assert gc.get_threshold() == usual
    finally:
        gc.set_threshold(*usual)
