"""What every study has in common."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from viewer.domain.case import Dataset


@dataclass(frozen=True)
class AskedVersion:
    """A prompt with parameters that planned runs asked a data set with.

    ``first_at`` is UTC, ISO 8601; ``questions`` counts what all ``runs`` asked so, and
    ``prompt`` is the prompt's name.
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
    """What a report may say beyond its trials.

    ``dataset`` is what was asked about, None if nobody knows it any more. ``versions``
    are all that the data set's content was asked with, oldest first. ``beside`` is what
    only studies of one kind tell: a ``PlacesContext`` where answers are places,
    ``Grades`` where readers grade them; None if nothing is known.
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
