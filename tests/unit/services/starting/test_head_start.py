"""What begins before the window is imported."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.small_datasets import write_dicom
from viewer.domain.case import ImageRef
from viewer.domain.errors import OverreadError
from viewer.services.starting.head_start import begin, first_image
from viewer.services.synthetic import demo, demo_process
from viewer.services.synthetic.demo_process import DemoProcess, DemoProgress, is_made
from viewer.settings import Settings


def test_that_a_file_named_comes_first(tmp_path: Path) -> None:
    film = write_dicom(tmp_path / "a.dcm")
    assert first_image([film, tmp_path], tmp_path, demo=False) == ImageRef(film)
    assert first_image([tmp_path], tmp_path, demo=False) is None


def test_that_the_image_left_on_the_screen_comes_first(tmp_path: Path) -> None:
    film = write_dicom(tmp_path / "a.dcm")
    kept = {"image": {"path": str(film), "frame": 0}}
    (tmp_path / "window.json").write_text(json.dumps(kept))
    assert first_image([], tmp_path, demo=False) == ImageRef(film)
    film.unlink()
    assert first_image([], tmp_path, demo=False) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"image": 3}'])
def test_that_a_damaged_layout_names_no_image(tmp_path: Path, text: str) -> None:
    (tmp_path / "window.json").write_text(text)
    assert first_image([], tmp_path, demo=False) is None


def test_that_the_first_image_is_under_way_and_ends_with_the_window(
    tmp_path: Path, settings: Settings
) -> None:
    film = write_dicom(tmp_path / "a.dcm")
    begun = begin([film], settings, demo=False)
    assert begun.decoder.open(ImageRef(film)).shown.ref == ImageRef(film)
    begun.end()
    with pytest.raises(OverreadError):
        begun.decoder.load(ImageRef(film))


def test_that_another_image_may_be_asked_for_first(
    tmp_path: Path, settings: Settings
) -> None:
    films = [write_dicom(tmp_path / name) for name in ("a.dcm", "b.dcm")]
    begun = begin(films, settings, demo=False)
    assert begun.decoder.open(ImageRef(films[1])).shown.ref.path == films[1]
    assert begun.decoder.open(ImageRef(films[0])).shown.ref.path == films[0]
    begun.end()


def test_that_an_expected_image_that_cannot_be_read_says_so_when_asked_for(
    tmp_path: Path, settings: Settings
) -> None:
    (tmp_path / "a.dcm").write_text("no image")
    begun = begin([tmp_path / "a.dcm"], settings, demo=False)
    with pytest.raises(OverreadError, match=r"a\.dcm"):
        begun.decoder.open(ImageRef(tmp_path / "a.dcm"))
    begun.end()


def test_that_the_demo_is_made_by_a_process_that_tells_of_each_step(
    settings: Settings,
) -> None:
    begun = begin([], settings, demo=True)
    steps: list[DemoProgress] = []
    assert begun.demo is not None

    def stop_after_two(step: DemoProgress) -> None:
        steps.append(step)
        if len(steps) == 2:
            begun.end()

    begun.demo.follow(stop_after_two)
    total = demo.PATIENTS + 1
    assert steps[:2] == [DemoProgress(1, total), DemoProgress(2, total)]
    assert not is_made(settings.home)
    assert (settings.home / "demo" / "radiograph" / "RG1.dcm").is_file()


def test_that_a_demo_that_was_stopped_is_not_begun_again(settings: Settings) -> None:
    (settings.home / "demo").mkdir()
    (settings.home / "demo" / "demo.json").touch()
    process = DemoProcess(settings)
    process.stop()
    process.follow(lambda _: pytest.fail("a process was started"))
    assert process._process is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_that_a_demo_stopped_in_the_middle_leaves_nothing_half_written(
    settings: Settings, number: signal.Signals
) -> None:
    process = DemoProcess(settings)
    running = process._process
    assert running is not None
    process.follow(lambda _: running.send_signal(number))
    assert running.returncode == 0
    assert [*settings.home.rglob(".*")] == []


def test_that_a_process_that_cannot_make_it_gives_its_sentence(
    settings: Settings,
) -> None:
    (settings.home / "demo").write_text("in the way")
    with pytest.raises(OverreadError) as caught:
        DemoProcess(settings).follow(lambda _: None)
    assert caught.value.what


def test_that_a_process_that_dies_is_a_sentence(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_process, "WORD", "no such word")
    with pytest.raises(OverreadError, match="ended unexpectedly"):
        DemoProcess(settings).follow(lambda _: None)


def test_that_the_head_start_imports_no_window() -> None:
    script = "import sys, viewer.services.starting.head_start; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not {"PySide6", "pydicom", "sqlite_utils", "scipy"} & loaded
