"""The studies' terms for their results."""

from collections.abc import Iterable

from viewer.domain.study_words import StudyWords, words_of_all
from viewer.store import runs
from viewer.store.database import Store
from viewer.studies.catalog import study_named


def words_of_runs(store: Store, numbers: Iterable[int]) -> StudyWords:
    """Return the terms of the runs' study, or those right for several studies."""
    studies = runs.studies_of(store, {*numbers})
    named = dict.fromkeys(studies[number] for number in sorted(studies))
    return words_of_all(study_named(name).words for name in named)
