"""The composition root: what opens, and in which order."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.window_parts import Furnished
from viewer import app
from viewer.domain.errors import WrongUseError
from viewer.settings import Settings


def test_that_no_display_is_said_in_a_sentence(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    assert not app.has_display()
    with pytest.raises(WrongUseError, match="no display"):
        app.open_window([], settings, demo=False)


def test_that_the_window_has_both_workspaces(qtbot: QtBot, settings: Settings) -> None:
    window = app.build_window(settings)
    qtbot.addWidget(window)
    app.furnish(window)
    assert list(window.switch.buttons) == ["window.read", "window.measure"]
    known = [spec for spec, _ in window.desk.actions]
    assert {"file.batch", "ask.ask", "tool.length"} <= {spec.id for spec in known}


def test_that_the_radiograph_comes_first_and_phantoms_join(
    qtbot: QtBot, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Furnished(settings)
    qtbot.addWidget(made.window)
    root = settings.home / "demo"

    def make(maker: app.DemoMaker) -> tuple[Path, ...]:
        maker._tell(1, 13)
        return root / "radiograph", root / "phantom"

    monkeypatch.setattr(app.DemoMaker, "_make", make)
    app.DemoMaker(made.window).start()
    qtbot.waitUntil(lambda: len(made.read.opened) == 2)
    assert made.read.opened == [root / "radiograph", root / "phantom"]
    assert made.read.shown == [root / "radiograph"]
    assert made.window.status.work_text.text() == ""


def test_that_a_demo_made_before_opens_at_once(
    qtbot: QtBot, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Furnished(settings)
    qtbot.addWidget(made.window)
    root = settings.home / "demo"
    root.mkdir(parents=True)
    (root / "demo.json").touch()
    folders = (root / "radiograph", root / "phantom")
    monkeypatch.setattr(app.DemoMaker, "_make", lambda _: folders)
    app.DemoMaker(made.window).start()
    assert made.read.shown == list(folders)
    qtbot.wait(50)
    assert made.read.opened == list(folders)
