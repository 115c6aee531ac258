"""The program's entry: what it begins before the command line is read."""

from pathlib import Path

import pytest

from viewer import __main__ as entry
from viewer.services import decoder_process


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
