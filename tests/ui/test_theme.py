"""Both themes can be read, and everything follows a change."""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QRadioButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from viewer.domain.run import RunStatus, RunSummary
from viewer.ui.application.app_context import WorkerBridge
from viewer.ui.application.run_states import RunStates
from viewer.ui.panels.measure.run_list import RunList
from viewer.ui.widgets import theme
from viewer.ui.widgets.icons import IconLabel
from viewer.ui.widgets.long_choice import LongChoice
from viewer.ui.widgets.number_box import DecimalBox, WholeBox
from viewer.ui.widgets.some_of import SomeOf


def _luminance(color: str) -> float:
    """WCAG 2.2's relative luminance."""
    parts = [QColor(color).redF(), QColor(color).greenF(), QColor(color).blueF()]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", theme.THEMES.values(), ids=lambda p: str(p.name))
@pytest.mark.parametrize("ground", ["surroundings", "panel", "field"])
@pytest.mark.parametrize("ink", ["text", "muted", "accent", "warning"])
def test_that_text_stands_out(palette: theme.Palette, ground: str, ink: str) -> None:
    assert _contrast(getattr(palette, ink), getattr(palette, ground)) >= 4.5


@pytest.mark.parametrize("palette", theme.THEMES.values(), ids=lambda p: str(p.name))
def test_that_text_on_the_accent_and_on_what_is_chosen_stands_out(
    palette: theme.Palette,
) -> None:
    assert _contrast(palette.on_accent, palette.accent) >= 4.5
    assert _contrast(palette.text, palette.chosen) >= 4.5


@pytest.mark.parametrize("palette", theme.THEMES.values(), ids=lambda p: str(p.name))
@pytest.mark.parametrize("ground", ["surroundings", "panel", "field"])
def test_that_frames_of_controls_and_marks_stand_out(
    palette: theme.Palette, ground: str
) -> None:
    for mark in ("border", "muted", "accent", "warning"):
        assert _contrast(getattr(palette, mark), getattr(palette, ground)) >= 3


def test_that_the_frame_of_every_control_has_the_colour_of_borders() -> None:
    rules = re.findall(r"([^{}]+){([^{}]*)}", theme._SHEET)
    frames = {
        selector: color
        for selectors, body in rules
        for color in re.findall(r"border(?:-color)?:[^;]*@(\w+)@", body)
        for selector in re.split(r",\s*", selectors.strip())
    }
    faint = {
        selector
        for selector, color in frames.items()
        if color == "line" and selector.startswith(_CONTROLS)
    }
    assert faint == set()
    assert {"QPushButton", "QLineEdit", "QComboBox", "QSpinBox"} <= set(frames)


_CONTROLS = (
    "QPushButton", "QLineEdit", "QPlainTextEdit", "QTextEdit", "QSpinBox",
    "QDoubleSpinBox", "QCheckBox", "QRadioButton", "QToolButton", "QSlider",
)  # fmt: skip


@pytest.mark.parametrize("palette", theme.THEMES.values(), ids=lambda p: str(p.name))
def test_that_the_caption_of_a_selected_run_stands_out(
    qtbot: QtBot, qapp: QApplication, palette: theme.Palette, tmp_path: Path
) -> None:
    theme.apply(qapp, palette)
    runs = RunList(RunStates(WorkerBridge(tmp_path / "s.sqlite")))
    qtbot.addWidget(runs)
    summary = RunSummary(
        1,
        "grid_localization",
        "tiny",
        ("m",),
        RunStatus.UNFINISHED,
        "",
        9,
        {},
        False,
        "",
    )
    runs.resize(300, 300)
    runs.show_runs((summary,))
    runs.show()
    view = runs.view
    row = view.visualRect(view.currentIndex())
    caption = row.adjusted(12, row.height() // 2, -12, -10)
    picture = view.viewport().grab(caption).toImage()
    colors = {
        picture.pixelColor(x, y).name()
        for x in range(picture.width())
        for y in range(picture.height())
    }
    assert max(_contrast(color, palette.chosen) for color in colors) >= 4.5


def _frame(widget: QWidget, at: QPoint, ground: str) -> float:
    """Return the contrast of the frame that a ray from the left meets in a row."""
    picture = widget.grab().toImage()
    colors = (picture.pixelColor(x, at.y()).name() for x in range(at.x()))
    return max(_contrast(color, ground) for color in colors)


@pytest.mark.parametrize("palette", theme.THEMES.values(), ids=lambda p: str(p.name))
@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("kind", [QCheckBox, QRadioButton])
def test_that_the_frame_of_an_unticked_box_stands_out(
    qtbot: QtBot,
    qapp: QApplication,
    palette: theme.Palette,
    kind: type[QCheckBox | QRadioButton],
    *,
    enabled: bool,
) -> None:
    theme.apply(qapp, palette)
    window = QWidget()
    qtbot.addWidget(window)
    box = kind("", window)
    box.setEnabled(enabled)
    theme.apply_to(window)
    window.show()
    middle = QPoint(8, box.height() // 2)
    assert _frame(box, middle, palette.panel) >= 3


@pytest.mark.parametrize("palette", theme.THEMES.values(), ids=lambda p: str(p.name))
@pytest.mark.parametrize("enabled", [True, False])
def test_that_the_frame_of_an_unticked_item_stands_out(
    qtbot: QtBot, qapp: QApplication, palette: theme.Palette, *, enabled: bool
) -> None:
    theme.apply(qapp, palette)
    items = QListWidget()
    qtbot.addWidget(items)
    item = QListWidgetItem("", items)
    item.setCheckState(Qt.CheckState.Unchecked)
    if not enabled:
        item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEnabled)
    theme.apply_to(items)
    items.show()
    row = items.visualItemRect(item)
    middle = items.viewport().mapTo(items, QPoint(14, row.center().y()))
    assert _frame(items, middle, palette.panel) >= 3


def test_that_the_style_sheet_leaves_no_name_unreplaced(
    qtbot: QtBot, qapp: QApplication
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    for palette in theme.THEMES.values():
        theme.apply(qapp, palette)
        assert palette.accent in window.styleSheet()
        assert "@" not in window.styleSheet()
        assert theme.current() is palette
    assert not theme.LIGHT.dark
    assert theme.DARK.dark


def test_that_a_page_of_a_window_wears_its_theme(
    qtbot: QtBot, qapp: QApplication
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    page = QDialog(window)
    theme.apply(qapp, theme.LIGHT)
    button = QPushButton("Ask", page)
    button.setProperty("primary", True)
    button.resize(80, 30)
    shown = button.grab().toImage()
    assert shown.pixelColor(12, 4).name().upper() == theme.LIGHT.accent.upper()
    assert page.styleSheet() == ""


class Restyled(QWidget):
    """Counts how often its style changes."""

    times = 0

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        self.times += event.type() is QEvent.Type.StyleChange
        super().changeEvent(event)


def test_that_a_window_is_dressed_once_in_a_theme(
    qtbot: QtBot, qapp: QApplication
) -> None:
    window = Restyled()
    qtbot.addWidget(window)
    theme.apply_to(window)
    window.show()
    polished = window.times
    theme.apply(qapp, theme.DARK)
    assert window.times == polished > 0
    theme.apply(qapp, theme.LIGHT)
    assert window.times > polished


def test_that_icons_follow_the_theme(qtbot: QtBot, qapp: QApplication) -> None:
    label = IconLabel("grid", 16)
    qtbot.addWidget(label)
    dark = label.pixmap().toImage()
    theme.apply(qapp, theme.LIGHT)
    qapp.processEvents()
    assert label.pixmap().toImage() != dark


@pytest.mark.usefixtures("qapp")
def test_that_an_icon_the_set_does_not_have_is_refused() -> None:
    with pytest.raises(KeyError):
        IconLabel("no-such-icon", 16)


@pytest.mark.parametrize("palette", theme.THEMES.values(), ids=lambda p: str(p.name))
def test_that_a_choice_that_is_locked_can_be_read(
    qtbot: QtBot, qapp: QApplication, palette: theme.Palette
) -> None:
    theme.apply(qapp, palette)
    button = QPushButton("MMMM")
    qtbot.addWidget(button)
    button.setCheckable(True)
    button.setChecked(True)
    button.setEnabled(False)
    theme.apply_to(button)
    button.show()
    row = button.grab().toImage()
    middle, inside = row.height() // 2, range(8, row.width() - 8)
    colors = {row.pixelColor(x, middle).name() for x in inside}
    assert max(_contrast(color, palette.chosen) for color in colors) >= 4.5


@pytest.mark.parametrize("palette", [theme.DARK, theme.LIGHT], ids=lambda p: p.name)
def test_that_fields_beside_one_another_are_equally_high(
    qtbot: QtBot, palette: theme.Palette, qapp: QApplication
) -> None:
    whole = QWidget()
    qtbot.addWidget(whole)
    theme.apply(qapp, palette)
    theme.apply_to(whole)
    numbers, some = (WholeBox(), DecimalBox()), SomeOf("n", "Every")
    made = (QLineEdit(), QComboBox(), LongChoice(), *numbers, some)
    for widget in made:
        widget.setParent(whole)
    whole.show()
    assert len({widget.sizeHint().height() for widget in made}) == 1


def test_that_the_text_of_fields_stands_as_far_from_the_edge(
    qtbot: QtBot, qapp: QApplication
) -> None:
    whole, choice = QWidget(), QComboBox()
    qtbot.addWidget(whole)
    theme.apply(qapp, theme.LIGHT)
    theme.apply_to(whole)
    choice.addItem("H")
    number = WholeBox()
    number.setPrefix("H")
    made = (QLineEdit("H"), choice, number, SomeOf("n", "H"))
    for widget in made:
        widget.setParent(whole)
        widget.resize(120, 26)
    whole.show()
    whole.setFocus()
    insets = [_inset(widget) for widget in made]
    assert max(insets) - min(insets) <= 1, insets


def _inset(widget: QWidget) -> int:
    """Return the column in which a field's text begins, past its frame."""
    picture = widget.grab().toImage()
    middle = range(6, picture.height() - 6)
    return next(
        x
        for x in range(2, picture.width())
        if any(picture.pixelColor(x, y).lightness() < 110 for y in middle)
    )
