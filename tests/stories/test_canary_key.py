"""A key is at rest nowhere: no file, log, store page, argument or report (M-20)."""

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self
from urllib.parse import quote_plus

import pytest

from tests.helpers.line_process import CommandProcess
from tests.helpers.requests import facts, noise, request
from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.tiny_study import write_images
from viewer.domain.errors import ProviderError
from viewer.models import keys
from viewer.models.catalog import profile_from_table
from viewer.models.openai_api.adapter import OpenAIAdapter
from viewer.printing import say
from viewer.services.starting.crash_report import crash_report

KEY = "sk-CANARY-5fe1c0d2-0123456789"
NAME = "OVERREAD_CANARY_KEY"
MODELS = """
[[model]]
name = "far"
adapter = "openai_api"
base_url = "{url}"
model = "tiny-vlm"
api_key_env = "{name}"
"""
STUDY = """
study = "grid_localization"
dataset = "films"
models = ["far"]
"""


class Arguments:
    """Looks at the arguments of every process that starts while it is open."""

    def __init__(self) -> None:
        self.hits: set[str] = set()
        self.looks = 0
        self._before = set(_processes())
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.1):
            started = set(_processes()) - self._before
            lines = set(_command_lines(started))
            self.looks += len(lines)
            self.hits |= {line for line in lines if KEY in line}


def _processes() -> list[str]:
    return [path.name for path in Path("/proc").iterdir() if path.name.isdecimal()]


def _command_lines(processes: Iterable[str]) -> Iterator[str]:
    for number in processes:
        try:
            yield Path("/proc", number, "cmdline").read_text(errors="replace")
        except OSError:
            continue  # it ended meanwhile


def _holding(folder: Path) -> list[str]:
    """Return the files below a folder that hold the key, freed pages included."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return [path.name for path in files if KEY.encode() in path.read_bytes()]


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")
def test_that_a_key_is_in_no_file_and_no_argument(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    films = write_images(work / "films", 2)
    (work / "study.toml").write_text(STUDY)
    script = Script(behaviours=["500", "ok", "ok"], key=KEY)
    keyed = {"OVERREAD_HOME": str(home), NAME: KEY}
    with (
        ScriptedServer(script) as server,
        Arguments() as arguments,
        CommandProcess(work / "aside.txt", keyed) as overread,
    ):
        (home / "models.toml").write_text(MODELS.format(url=server.base_url, name=NAME))
        said = overread("import", "folder", films)
        said += overread("run", work / "study.toml", "--worker")
        said += overread("report", "last", "--out", work / "report")
        said += overread("models", "--json")
        script.key = "another"
        asked = films / "patient00000_frontal.png", "--finding", "Consolidation"
        said += overread("ask", *asked, "--model", "far", "--view", "lateral", code=2)
    assert "401" in said
    assert [r.headers["authorization"] for r in script.received[:3]] == [
        f"Bearer {KEY}"
    ] * 3
    assert arguments.looks > 0
    assert arguments.hits == set()
    assert _holding(home) == []
    assert _holding(work) == []
    assert KEY not in said


@pytest.mark.parametrize("behaviour", ["401", "reset", "500"])
def test_that_a_key_is_in_no_crash_report(behaviour: str) -> None:
    keys.remember_key(NAME, KEY)
    table = {"name": "s", "adapter": "openai_api", "model": "m", "api_key_env": NAME}
    try:
        with ScriptedServer(Script(default=behaviour)) as server:
            profile = profile_from_table({**table, "base_url": server.base_url})
            with pytest.raises(ProviderError) as caught:
                OpenAIAdapter(profile).generate(request(facts(plain=noise(64))))
            (received,) = server.script.received
    finally:
        keys.remember_key(NAME, "")
    assert received.headers["authorization"] == f"Bearer {KEY}"
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY not in crash_report(error)
        assert KEY not in f"{error}{error!r}"
        error = error.__cause__ or error.__context__
    assert KEY not in repr(profile)


def test_that_a_line_of_code_with_a_key_is_reported_without_it(tmp_path: Path) -> None:
    """As a study of somebody else's may have it."""
    code = f'def ask(key):\n    raise ValueError(key)\n\n\nask("{KEY}")\n'
    script = tmp_path / "study.py"
    script.write_text(code)
    with pytest.raises(ValueError, match="CANARY") as caught:
        exec(compile(code, str(script), "exec"), {})  # noqa: S102 - our own code
    report = crash_report(caught.value)
    assert "ask(" in report
    assert KEY not in report


@pytest.mark.parametrize("said", [KEY, "opaque/CANARY+of=nobody"])
def test_that_no_sentence_of_the_command_line_says_a_key(
    said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    keys.remember_key(NAME, said)
    try:
        say(f"The server says: {said} and {quote_plus(said)} is wrong.")
    finally:
        keys.remember_key(NAME, "")
    assert capsys.readouterr().err == "The server says: … and … is wrong.\n"
