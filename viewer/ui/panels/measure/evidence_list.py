"""A case's evidence, coloured and marked by kind (E004-24)."""

import re
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent
from PySide6.QtGui import (
    QColor,
    QFont,
    QPalette,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextDocument,
)
from PySide6.QtWidgets import QGridLayout, QWidget

from viewer.domain.evidence import ShownEvidence
from viewer.domain.styles import Style, style_of
from viewer.ui.widgets.plain_text import Label
from viewer.ui.widgets.theme import caption_font, current

_ACROSS: Final = 3
"""Pieces of evidence in a line."""
_END: Final = re.compile(r"[:.](?:\s|$)")
"""What ends the name of a piece of evidence in a question."""


def evidence_list(evidence: Sequence[ShownEvidence]) -> QWidget:
    """Return a list of all evidence and how each piece is shown, by kind."""
    page = QWidget()
    grid = QGridLayout(page)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setVerticalSpacing(2)
    for place, one in enumerate(evidence):
        label = KindLabel(one.kind, f"{one.title}: {one.how}")
        grid.addWidget(label, *divmod(place, _ACROSS))
    return page


class KindLabel(Label):
    """A name after the sign of its kind, in the kind's colour on the theme's ground.

    ``kind`` is a code of :mod:`viewer.domain.styles`.
    """

    def __init__(self, kind: str, name: str) -> None:
        look = style_of(kind)
        super().__init__(f"{look.sign} {name}", wordWrap=True)
        self._look = look
        self.setFont(caption_font(self.font()))
        self._paint_again()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Take the colour for another theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._paint_again()

    def _paint_again(self) -> None:
        palette, role = self.palette(), QPalette.ColorRole.WindowText
        if palette.color(role) != (colour := _colour(self._look)):
            palette.setColor(role, colour)
            self.setPalette(palette)


class EvidenceHeadings(QSyntaxHighlighter):
    """Colours the names of evidence that begin its parts of a question."""

    def __init__(
        self, document: QTextDocument, evidence: Sequence[ShownEvidence]
    ) -> None:
        super().__init__(document)
        self._looks = {one.title: style_of(one.kind) for one in evidence}

    def highlightBlock(self, text: str) -> None:  # noqa: N802 - Qt's name
        """Colour the name with which a line begins."""
        title = _END.split(text, maxsplit=1)[0]
        if title != text and title in self._looks:
            written = QTextCharFormat()
            written.setForeground(_colour(self._looks[title]))
            written.setFontWeight(QFont.Weight.Bold)
            self.setFormat(0, len(title), written)


def _colour(look: Style) -> QColor:
    return QColor(look.colour_on(current().ground))
