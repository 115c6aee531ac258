"""The status bar: where data goes, window, value at the cursor, use, the batch."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStatusBar, QToolButton, QWidget

from viewer.settings import read_policy
from viewer.ui.widgets.icons import IconLabel, icon
from viewer.ui.widgets.plain_text import Label, as_tip

_ICON: Final = 14
_GAP: Final = 8
_DIRECT: Final = Qt.FindChildOption.FindDirectChildrenOnly


@dataclass(frozen=True, eq=False)
class WorkShown:
    """Work beside batches, "" for none, and how to stop it, if possible."""

    text: str
    stop: Callable[[], None] | None = None
    stop_tip: str = ""


@dataclass(frozen=True, slots=True)
class HostsShown:
    """Remote hosts of the next question, and what prevents sending."""

    hosts: tuple[str, ...] = ()
    restricted: str = ""


class StatusFields(QObject):
    """What the workspaces write into the status bar; "" clears a field."""

    tool_changed = Signal(object)
    """str, such as "Tool: Length" """
    window_changed = Signal(object)
    """str, such as "W 350 L 40" """
    cursor_changed = Signal(object)
    """str, such as "(812, 1304) 1023 HU" """

    work_changed = Signal(object)
    """WorkShown, such as "Phantoms · 3 of 13" """
    use_changed = Signal(object)
    """str, such as "3 requests $0.00 · cache 212 MB" """
    held_changed = Signal(object)
    """str, such as "images 61 MB" """
    hosts_changed = Signal(object)
    """HostsShown"""

    def show_tool(self, text: str) -> None:
        """Show what a drag on the image does."""
        self.tool_changed.emit(f"Tool: {text}")

    def show_window(self, text: str) -> None:
        """Show the window of the image that has the focus."""
        self.window_changed.emit(text)

    def show_cursor(self, text: str) -> None:
        """Show the pixel under the cursor and its value."""
        self.cursor_changed.emit(text)

    def show_work(
        self, text: str, stop: Callable[[], None] | None = None, stop_tip: str = ""
    ) -> None:
        """Show what goes on in the background, and a button where it can be stopped."""
        self.work_changed.emit(WorkShown(text, stop, stop_tip))

    def show_use(self, text: str) -> None:
        """Show what was asked since the window opened, and the store's images."""
        self.use_changed.emit(text)

    def show_held(self, size: str) -> None:
        """Show the size of the decoded images kept in memory."""
        self.held_changed.emit(f"images {size}")

    def show_hosts(self, hosts: tuple[str, ...], restricted: str = "") -> None:
        """Show to which other machines the ticked models send; none: local only.

        ``restricted`` names the data set that keeps the image here, "" for none.
        """
        self.hosts_changed.emit(HostsShown(hosts, restricted))


class WorkLine(QWidget):
    """Background work beside batches, and a button that stops it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown = WorkShown("")
        self.text, self.stop = Label(parent=self), QToolButton(self)
        self.stop.setIcon(icon("close-circle-outline"))
        self.stop.clicked.connect(self._stop)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.text)
        row.addWidget(self.stop)
        self.stop.hide()

    def show_work(self, shown: WorkShown) -> None:
        """Show other work, or none."""
        self._shown = shown
        self.text.setText(shown.text)
        self.stop.setVisible(shown.stop is not None)
        self.stop.setToolTip(as_tip(shown.stop_tip))
        self.stop.setAccessibleName(shown.stop_tip)

    def _stop(self) -> None:
        if self._shown.stop is not None:
            self._shown.stop()


class Destinations(QWidget):
    """Where images go: nowhere, or the hosts of the models that are ticked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lock, self.words = IconLabel("lock-outline", _ICON), Label(parent=self)
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._lock)
        row.addWidget(self.words)
        self.show_hosts(HostsShown())

    def show_hosts(self, shown: HostsShown) -> None:
        """Say which other machines the next question goes to; none: local only."""
        hosts, names = shown.hosts, ", ".join(shown.hosts)
        self._lock.show_icon("lock-open-variant-outline" if hosts else "lock-outline")
        restriction = f"Local only: '{shown.restricted}' is restricted"
        here = restriction if shown.restricted else "Local only"
        self.words.setText(f"Sends to {names}" if hosts else here)
        self.setToolTip(
            as_tip(
                f"A ticked model sends to {names}: images leave this machine"
                if hosts
                else _kept_tip(shown.restricted)
            )
        )


def _kept_tip(restricted: str) -> str:
    if read_policy().local_only:
        return "The administrator of this computer lets no image leave it"
    if restricted:
        return (
            f"The data set '{restricted}' is restricted: no image leaves this machine"
        )
    return "Every ticked model runs on this machine: no image leaves it"


class StatusBar(QStatusBar):
    """The bar at the foot of the window."""

    def __init__(self, fields: StatusFields, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeGripEnabled(False)
        self.tool_text, self.window_text = Label(parent=self), Label(parent=self)
        self.cursor_text = Label(parent=self)
        self.work, self.use_text = WorkLine(self), Label(parent=self)
        self.held_text = Label(parent=self)
        self.destinations = Destinations(self)
        self.use_text.setToolTip(
            "Questions since the window opened, and the images stored as sent"
        )
        self.held_text.setToolTip(
            "Decoded images kept in memory, the next case's too; the oldest go first"
        )
        self._fields: tuple[QWidget, ...] = (
            self.destinations,
            self.tool_text,
            self.window_text,
            self.cursor_text,
            self.use_text,
            self.held_text,
            self.work,
        )
        self._dispensable = (self.held_text, self.tool_text, self.use_text)
        self._left_out: tuple[QWidget, ...] = ()
        for widget in self._fields:
            self.addWidget(widget)
        fields.tool_changed.connect(self.tool_text.setText)
        fields.window_changed.connect(self.window_text.setText)
        fields.cursor_changed.connect(self.cursor_text.setText)
        fields.work_changed.connect(self.work.show_work)
        fields.use_changed.connect(self.use_text.setText)
        fields.held_changed.connect(self.held_text.setText)
        fields.hosts_changed.connect(self.destinations.show_hosts)

        for changed in (
            fields.tool_changed,
            fields.window_changed,
            fields.cursor_changed,
            fields.work_changed,
            fields.use_changed,
            fields.held_changed,
            fields.hosts_changed,
        ):
            changed.connect(self._fit)

    def show_image_fields(self, *, shown: bool) -> None:
        """Show what is about an image and its tool, or not where none is seen."""
        about = (self.tool_text, self.window_text, self.cursor_text, self.held_text)
        self._left_out = () if shown else about
        self._fit()

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return a size that lets the window be as narrow as its workspaces."""
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Leave out what there is no room for."""
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """Leave out what there is no room for, once the line of a run is another."""
        if event.type() is QEvent.Type.LayoutRequest:
            self._fit()
        return super().event(event)

    def _fit(self, *_: object) -> None:
        """Show the fields that there is room for; others go in a fixed order."""
        shown = [field for field in self._fields if field not in self._left_out]
        beside = [
            child
            for child in self.findChildren(QWidget, options=_DIRECT)
            if child not in self._fields and not child.isHidden()
        ]
        needed = sum(one.sizeHint().width() + _GAP for one in (*shown, *beside))
        for spare in self._dispensable:
            if needed > self.width() and spare in shown:
                shown.remove(spare)
                needed -= spare.sizeHint().width() + _GAP
        for field in self._fields:
            if field.isHidden() is (field in shown):
                field.setVisible(field in shown)
