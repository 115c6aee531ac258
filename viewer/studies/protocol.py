"""The interface that every study implements."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from viewer.domain.case import Dataset


@dataclass(frozen=True)
class AskedVersion:
    """A prompt with parameters that planned runs used with a data set.

    ``first_at`` is UTC, ISO 8601; ``questions`` counts the questions of all ``runs``,
    and ``prompt`` is the prompt's name.
    """

    prompt_sha256: str
    preset: str
    params: Mapping[str, object]
    runs: tuple[int, ...]
    first_at: str
    questions: int
    prompt: str = ""


@dataclass(frozen=True)
class ReportContext:
    """Further data for a report, beyond its trials.

    ``dataset`` is the data set asked about, None if it is no longer known. ``versions``
    are all versions used with the data set's content, oldest first. ``beside`` depends
    on the study: a ``PlacesContext`` if answers are locations, ``Grades`` if readers
    grade them; None if nothing is known.
    """

    dataset: Dataset | None = None
    versions: tuple[AskedVersion, ...] = ()
    beside: Any = None


NO_CONTEXT: Final = ReportContext()
ABSENT_SUFFIX: Final = " absent"
"""How the name of a condition ends under which what is asked about is not there.

Such trials have no hit rate: denying is right (E000-32).
"""
NOT_LEARNED: Final = "not_learned"
"""Why a trial is excluded whose model was not trained on the finding."""
