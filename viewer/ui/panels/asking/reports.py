"""Shows the report of a study, unless its reader has to read the images first."""

from functools import partial
from typing import TYPE_CHECKING, Final

from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import run_for
from viewer.ui.application.show_once import show_once
from viewer.ui.application.tell import tell_error
from viewer.ui.panels.asking.stored_answers import Knowledge
from viewer.ui.panels.read.lightbox import Lightbox

if TYPE_CHECKING:
    from viewer.domain.annotation import StudyReport
    from viewer.domain.case import ImageRef
    from viewer.domain.errors import OverreadError

_LOCKED: Final = "The report is locked until you commit your reading."
_NONE: Final = (
    "None of the opened files is a report of this study. Open the folder that has it."
)
_NO_IMAGE: Final = "Open an image first to read the report of its study."


class Reports:
    """Finds the reports among the opened files, and shows their text.

    While Read first locks the case it does not even tell whether there is one.
    """

    def __init__(
        self, context: AppContext, lightbox: Lightbox, knowledge: Knowledge
    ) -> None:
        self._context, self._lightbox = context, lightbox
        self._knowledge = knowledge

    def show(self) -> None:
        """Show the reports of the study of the image with the focus."""
        viewport = self._lightbox.active
        if viewport.shown is None:
            self._context.notices.say(_NO_IMAGE)
            return
        if self._knowledge.locked:
            self._context.notices.say(_LOCKED)
            return
        ref, files = viewport.shown.ref, self._lightbox.others
        from viewer.services.viewing.view_image import study_reports

        run_for(
            viewport,
            partial(study_reports, ref, files),
            partial(self._list, ref),
            partial(tell_error, self._context),
        )

    def _list(
        self,
        ref: "ImageRef",
        found: "tuple[tuple[StudyReport, ...], tuple[OverreadError, ...]]",
    ) -> None:
        reports, damaged = found
        for error in damaged:
            self._context.notices.error(error)
        if reports:
            from viewer.ui.dialogs.report_text import ReportText

            box = self._lightbox
            show_once(box, f"report {ref.path}", lambda: ReportText(reports, box))
        elif not damaged:
            self._context.notices.say(_NONE)
