"""What is brought in from outside, each on a page of its own beside the window."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QWidget

from viewer.ui.application.actions import Handlers
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.notices import Notice, Offer
from viewer.ui.application.show_once import show_once

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from viewer.services.importing.import_predictions import PlannedPredictions
    from viewer.services.importing.import_replies import PlannedReplies

_CONCURRENCY: Final = 4


def handlers(window: QWidget, context: AppContext) -> Handlers:
    """Return what the commands of importing do; their pages belong to the window."""
    pages = _Pages(window, context)
    makers: Mapping[str, Callable[[], QWidget]] = {
        "file.review_cases": pages.case_review,
        "file.draw_questions": pages.question_draw,
        "file.import_dataset": pages.dataset,
        "file.import_predictions": pages.predictions,
        "file.import_replies": pages.replies,
    }
    return {
        command: partial(show_once, window, command, maker)
        for command, maker in makers.items()
    }


class _Pages:
    """Makes each page of importing, and says in the window what came of it."""

    def __init__(self, window: QWidget, context: AppContext) -> None:
        self._window = window
        self._context = context

    def dataset(self) -> QWidget:
        from viewer.ui.dialogs.import_dataset import ImportDataset

        page = ImportDataset(self._context.settings, self._window)
        page.imported.connect(self._say_registered)
        return page

    def question_draw(self) -> QWidget:
        from viewer.ui.dialogs.draw_questions import DrawQuestions

        page = DrawQuestions(self._context.settings, self._window)
        page.drawn.connect(self._say_registered)
        return page

    def predictions(self) -> QWidget:
        from viewer.ui.dialogs.import_predictions import ImportPredictions

        page = ImportPredictions(self._context.settings, self._window)
        page.planned.connect(self._score)
        return page

    def replies(self) -> QWidget:
        from viewer.ui.dialogs.import_replies import ImportReplies

        page = ImportReplies(self._context.settings, self._window)
        page.planned.connect(self._score)
        return page

    def case_review(self) -> QWidget:
        from viewer.ui.dialogs.review_cases import ReviewCases

        page = ReviewCases(self._context.settings, self._window)
        page.written.connect(self._say_written)
        return page

    def _score(self, planned: "PlannedPredictions | PlannedReplies") -> None:
        self._context.worker.resume(planned.run, _CONCURRENCY)
        words = planned.matched.sentence
        self._context.notices.say(f"Run {planned.run} in Measure scores {words}.")

    def _say_registered(self, name: str) -> None:
        words = f"'{name}' is registered: a batch can ask models about it."
        self._post(words, "Batch…", "file.batch")

    def _say_written(self, folder: Path) -> None:
        words = f"Cases are in '{folder.name}': import it as MEDSYN."
        self._post(words, "Import data set…", "file.import_dataset")

    def _post(self, words: str, offered: str, command: str) -> None:
        offer = Offer(offered, partial(self._context.actions.run, command))
        self._context.notices.post(Notice(words, warning=False, offer=offer))
