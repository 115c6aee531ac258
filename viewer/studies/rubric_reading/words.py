"""Display names of the study's categories and of what its rates count."""

from typing import Final

from viewer.domain.study_words import RIGHTS, StudyWords, spoken
from viewer.domain.task_selection import Category

_GRADE: Final = (
    "Nobody has graded these answers yet. Grade them under Review ▸ Study tasks, or "
    "save grades as grades.csv or grades.json in the data set's folder, then choose "
    "the run again."
)
_CONDITIONS: Final = {"plain": "as asked", "curation": "tasks proposed"}


def condition_words(name: str) -> str:
    """Return the displayed name of a condition."""
    return _CONDITIONS.get(name, spoken(name))


WORDS: Final = StudyWords(
    finding="task category",
    findings="task categories",
    view="task kind",
    views="task kinds",
    rate="share with Content 5",
    verdicts=RIGHTS,
    names={
        Category.BROAD: "Broad abnormality query",
        Category.REASONING: "High-level diagnostic reasoning",
        Category.MEASUREMENT: "Measurements and temporal comparisons",
        "curation": "Proposed tasks",
        "temporal": "With a prior",
        "single study": "Single study",
    },
    condition=condition_words,
    ungraded=_GRADE,
    graded=True,
)
