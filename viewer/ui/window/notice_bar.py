"""The bar for notices, above the workspace; it takes no focus by itself."""

from typing import Final

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication, QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from viewer.ui.application.action_set import Actions
from viewer.ui.application.actions import SPECS, Handlers
from viewer.ui.application.notices import Notice, Notices
from viewer.ui.widgets.icons import IconLabel, icon
from viewer.ui.widgets.plain_text import Label, announce, describe

NEWS_MS: Final = 6_000
"""How long the bar says that something was done; what went wrong stays."""
OFFER_MS: Final = 30_000
"""How long news stays that offers what to do next."""
_ACT: Final = "notice.act"
_DISMISS: Final = "notice.dismiss"
_DETAILS_HEIGHT: Final = 120
_ICON: Final = 20


class NoticeBar(QFrame):
    """Shows one notice at a time; the next follows when it is dismissed.

    Two commands reach it from anywhere by key, as Tab takes long to.
    """

    def __init__(
        self, notices: Notices, actions: Actions, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self.setAccessibleName("Notice")
        self._actions = actions
        self._waiting: list[Notice] = []
        self._shown: Notice | None = None
        self._clock = QTimer(self, singleShot=True, interval=NEWS_MS)
        self._clock.timeout.connect(self.dismiss)
        self._build()
        self.hide()
        self._enable_commands()
        notices.posted.connect(self.show_notice)
        actions[_ACT].changed.connect(self._show_key)

    def _build(self) -> None:
        self._icon, self.text = IconLabel("check", _ICON, self), Label(parent=self)
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.details_button = QPushButton("Details", self)
        self.details_button.setCheckable(True)
        self.copy_button = QPushButton("Copy", self)
        self.offer_button = QPushButton(self)
        self.key = Label(parent=self)
        self.close_button = QToolButton(self)
        self.close_button.setIcon(icon("close"))
        self.close_button.setToolTip("Dismiss")
        self.close_button.setAccessibleName("Dismiss")
        self.details = QPlainTextEdit(self, readOnly=True)
        self.details.setAccessibleName("Details")
        self.details.setMaximumHeight(_DETAILS_HEIGHT)
        self.details_button.toggled.connect(self.details.setVisible)
        self.details_button.toggled.connect(self.copy_button.setVisible)
        self.copy_button.clicked.connect(self._copy)
        self.offer_button.clicked.connect(self._accept)
        self.close_button.clicked.connect(self.dismiss)
        row = QHBoxLayout()
        row.addWidget(self._icon)
        row.addWidget(self.text, 1)
        for button in (
            self.key,
            self.offer_button,
            self.details_button,
            self.copy_button,
            self.close_button,
        ):
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 4, 8, 4)
        column.addLayout(row)
        column.addWidget(self.details)

    def handlers(self) -> Handlers:
        """Return the handlers by the action's id."""
        return {_ACT: self._act, _DISMISS: self.dismiss}

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Enable the commands of use to the notice."""
        super().showEvent(event)
        self._enable_commands()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Disable the commands on notices."""
        super().hideEvent(event)
        self._enable_commands()

    def _enable_commands(self) -> None:
        missing = (_ACT, _DISMISS) if not self.isVisible() else (_ACT,)
        useless = self.key.isHidden() or not self.isVisible()
        self._actions.bar("notice", missing if useless else ())

    @property
    def remaining_ms(self) -> int:
        """How long the news will stay, -1 for what stays until it is dismissed."""
        return self._clock.remainingTime()

    def show_notice(self, notice: Notice) -> None:
        """Show a notice, after earlier errors.

        News is shown at once; what went wrong comes back when it has been read.
        """
        if self._shown is not None and self._shown.warning:
            if notice in (self._shown, *self._waiting):
                return
            if notice.warning:
                self._waiting.append(notice)
                return
            self._waiting.insert(0, self._shown)
        self._show(notice)

    def dismiss(self) -> None:
        """Dismiss the notice, and show the next."""
        self._shown = None
        self.hide()
        if self._waiting:
            self._show(self._waiting.pop(0))

    def _show(self, notice: Notice) -> None:
        self._shown = notice
        self._icon.show_icon("alert-outline" if notice.warning else "check")
        words = f"{notice.what} {notice.how}".strip()
        self.text.setText(words)
        self.details.setPlainText(notice.details)
        self.details_button.setChecked(False)
        self.details_button.setVisible(bool(notice.details))
        self.details.hide()
        self.copy_button.hide()
        self.offer_button.setText(notice.offer.words if notice.offer else "")
        self.offer_button.setVisible(notice.offer is not None)
        self._show_key()
        self.key.setVisible(notice.offer is not None or bool(notice.details))
        self.show()
        describe(self, words)
        announce(self, words, at_once=notice.warning)
        self._enable_commands()
        self._clock.stop()
        if not notice.warning:
            self._clock.start(OFFER_MS if notice.offer else NEWS_MS)

    def _show_key(self) -> None:
        self.key.setText(self._actions.shown_key(SPECS[_ACT]))

    def _act(self) -> None:
        """Accept the offer; without one show the details, or hide them."""
        if self.offer_button.isHidden():
            self.details_button.setFocus()
            self.details_button.click()
        else:
            self.offer_button.click()

    def _accept(self) -> None:
        """Run the notice's action and dismiss it."""
        offer = self._shown.offer if self._shown else None
        self.dismiss()
        if offer is not None:
            offer.act()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(
            f"{self.text.text()}\n{self.details.toPlainText()}"
        )
