"""What is brought in from outside, each on a page of its own beside the window."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QWidget

from viewer.ui.application.actions import Handlers
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.notices import Notice, Offer
from viewer.ui.application.show_once import show_once

if TYPE_CHECKING:
    from viewer.services.importing.import_predictions import PlannedPredictions
    from viewer.services.importing.import_replies import PlannedReplies

_CONCURRENCY: Final = 4


def handlers(window: QWidget, context: AppContext) -> Handlers:
    """Return what the commands of importing do; their pages belong to the window."""

    def report(name: str) -> None:
        words = f"'{name}' is registered: a batch can ask models about it."
        offer = Offer("Batch…", lambda: context.actions.run("file.batch"))
        context.notices.post(Notice(words, warning=False, offer=offer))

    def make() -> QWidget:
        from viewer.ui.dialogs.import_dataset import ImportDataset

        page = ImportDataset(context.settings, window)
        page.imported.connect(report)
        return page

    def ask(planned: "PlannedPredictions | PlannedReplies") -> None:
        context.worker.resume(planned.run, _CONCURRENCY)
        words = planned.matched.sentence
        context.notices.say(f"Run {planned.run} in Measure scores {words}.")

    def predictions() -> QWidget:
        from viewer.ui.dialogs.import_predictions import ImportPredictions

        page = ImportPredictions(context.settings, window)
        page.planned.connect(ask)
        return page

    def replies() -> QWidget:
        from viewer.ui.dialogs.import_replies import ImportReplies

        page = ImportReplies(context.settings, window)
        page.planned.connect(ask)
        return page

    def draw() -> QWidget:
        from viewer.ui.dialogs.draw_questions import DrawQuestions

        page = DrawQuestions(context.settings, window)
        page.drawn.connect(report)
        return page

    def written(folder: Path) -> None:
        words = f"Cases are in '{folder.name}': import it as MEDSYN."
        offer = Offer(
            "Import data set…", lambda: context.actions.run("file.import_dataset")
        )
        context.notices.post(Notice(words, warning=False, offer=offer))

    def review() -> QWidget:
        from viewer.ui.dialogs.review_cases import ReviewCases

        page = ReviewCases(context.settings, window)
        page.written.connect(written)
        return page

    return {
        "file.review_cases": lambda: show_once(window, "review cases", review),
        "file.draw_questions": lambda: show_once(window, "draw questions", draw),
        "file.import_dataset": lambda: show_once(window, "import data set", make),
        "file.import_predictions": lambda: show_once(
            window, "import predictions", predictions
        ),
        "file.import_replies": lambda: show_once(window, "import replies", replies),
    }
