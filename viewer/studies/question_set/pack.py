"""Every table and figure of a question set: ``overread pack question_set``."""

from typing import Final

from viewer.domain.pack import PackData
from viewer.domain.question_kinds import SCORED
from viewer.studies.image_dependence import card_figure, scores_figure
from viewer.studies.packs import PackInput
from viewer.studies.question_set.arms import CONTROLS, PLAIN
from viewer.studies.question_set.frames import scored_trials
from viewer.studies.question_set.words import condition_words

_IN_THE_RUN: Final = frozenset({"items", "results"})
"""Tables of trials, which lie in the run's own folder."""
_NO_CONTROL: Final = (
    "The image-dependence card needs answers with the image and under a control; the "
    "run has none of one of them."
)


class QuestionSetPack:
    """A benchmark's accuracies with the image and under every control."""

    name = "question_set"
    title = "A question set with and without its images"
    source = "Controls after Asadi et al. 2026, arXiv 2603.21687"
    study = "question_set"

    def data(self, given: PackInput) -> PackData:
        """Return every table and figure of a run."""
        report, conditions = given.report, (PLAIN, *CONTROLS)
        trials = scored_trials(given.results)
        figure = card_figure(trials, conditions, "", condition_words)
        scores = scores_figure(trials, conditions, condition_words, SCORED)
        return PackData(
            self.title,
            self.source,
            tuple(t for t in report.tables if t.name not in _IN_THE_RUN),
            report.sections,
            tuple(filter(None, (figure, scores))),
            report.incomplete,
            () if figure else (_NO_CONTROL,),
        )


PACK = QuestionSetPack()
