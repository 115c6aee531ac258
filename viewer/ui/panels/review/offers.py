"""What the start page of Review offers, counted in the background."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from viewer.domain.errors import OverreadError
from viewer.services.readings.task_choice import TaskWanted
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.panels.review.start import ReviewStart

if TYPE_CHECKING:
    from viewer.services.readings.advice import AidSource
    from viewer.services.readings.review_offer import ReviewOffer, StudyOffer
    from viewer.services.readings.task_choice import TaskOffer


class ReviewOffers:
    """Counts the cases for what is chosen on the start page, and shows them there.

    ``fail`` is given the errors of counting a run or a data set.
    """

    def __init__(
        self,
        start: ReviewStart,
        store: Path,
        background_tasks: BackgroundTasks,
        fail: Callable[[Exception], None],
    ) -> None:
        self._start, self._store = start, store
        self._background_tasks, self._fail = background_tasks, fail

    def count_task(self, wanted: TaskWanted) -> None:
        """Count the cases of a study's task, and find models with answers to them."""
        from viewer.services.readings.advice import aid_sources
        from viewer.services.readings.task_readings import task_offer

        tasks = self._start.tasks

        def count() -> "tuple[TaskOffer, tuple[AidSource, ...]]":
            found = aid_sources(self._store, wanted.dataset, wanted.study)
            return task_offer(self._store, wanted), found

        def show(counted: "tuple[TaskOffer, tuple[AidSource, ...]]") -> None:
            offer, sources = counted
            if tasks.offer_models(wanted, sources):
                tasks.show_offer(offer)
            else:
                tasks.look_again()

        def fail(error: Exception) -> None:
            if not isinstance(error, OverreadError):
                raise error
            tasks.say(f"{error.what} {error.how}".strip())

        self._background_tasks.start("task", count, show, fail)

    def count_run(self, run: int) -> None:
        """Count the misses of a run that can be reviewed."""
        from viewer.services.readings.agreeing import adjudication_queue
        from viewer.services.readings.review_offer import review_offer
        from viewer.services.readings.reviewing import review_results

        store, sample = self._store, self._start.misses.sample

        def count() -> "tuple[ReviewOffer, int, int]":
            disputes = len(adjudication_queue(store, run))
            reviewed = sum(one.reviewed for one in review_results(store, run))
            return review_offer(store, run, sample), disputes, reviewed

        def show(counted: "tuple[ReviewOffer, int, int]") -> None:
            offer, *rest = counted
            self._start.offer_misses(offer)
            if self._start.misses.sample != sample:
                self.count_run(run)  # what was chosen is not there: something else is
                return
            self._start.show_review(offer.sentence, offer.reviews, *rest)

        self._start.show_review("Counting…", 0)
        self._background_tasks.start("run", count, show, self._fail)

    def count_dataset(self, name: str) -> None:
        """Count the questions of a data set, and find models with answers to them."""
        from viewer.services.readings.advice import aid_sources
        from viewer.services.readings.review_offer import study_offer

        store, start = self._store, self._start
        sample, aided = start.cases.sample, start.aided

        def count() -> "tuple[StudyOffer, tuple[AidSource, ...]]":
            sources = aid_sources(store, name)
            return study_offer(store, name, sample, aided), sources

        def show(counted: "tuple[StudyOffer, tuple[AidSource, ...]]") -> None:
            offer, sources = counted
            start.offer_cases(name, offer)
            start.aid.offer(sources)
            if (start.cases.sample, start.aided) != (sample, aided):
                self.count_dataset(name)
                return
            start.show_study(offer.sentence, offer.questions, offer.kind)

        start.study_words.setText("Counting…")
        start.read.setEnabled(False)
        self._background_tasks.start("dataset", count, show, self._fail)
