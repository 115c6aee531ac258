"""What every study has in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from viewer.domain.case import Dataset
from viewer.domain.geometry import PointPx
from viewer.domain.rubric import NO_GRADES, Grades


@dataclass(frozen=True)
class AskedVersion:
    """A prompt with parameters that planned runs asked a data set with.

    ``first_at`` is UTC, ISO 8601; ``questions`` counts what all ``runs`` asked so.
    """

    prompt_sha256: str
    preset: str
    params: Mapping[str, object]
    runs: tuple[int, ...]
    first_at: str
    questions: int


@dataclass(frozen=True)
class ReportContext:
    """What a report may say beyond its trials.

    ``dataset`` is what was asked about, None where nobody knows it any more.
    ``anatomy_errors`` counts, by model and finding, the misses that readers called
    anatomy errors, estimated where they read a sample; what nobody read is not in it.
    ``versions`` are all that the data set's content was asked with, oldest first;
    ``validation`` is what examples were drawn from, None without any;
    ``human_points``, by image and finding, where readers of the data set pointed, or
    ``human_problem`` what is wrong with the file that should say it. ``grades`` are
    what readers graded the outputs, or ``grades_problem`` what is wrong with that file.
    """

    dataset: Dataset | None = None
    anatomy_errors: Mapping[tuple[str, str], float] = field(default_factory=dict)
    versions: tuple[AskedVersion, ...] = ()
    human_points: Mapping[str, Mapping[str, Sequence[PointPx]]] = field(
        default_factory=dict
    )
    human_problem: str = ""
    validation: Dataset | None = None
    grades: Grades = NO_GRADES
    grades_problem: str = ""


NO_CONTEXT: Final = ReportContext()
ABSENT_SUFFIX: Final = " absent"
"""How the name of a condition ends under which what is asked about is not there.

Such trials have no hit rate: denying is right (E000-32).
"""
NOT_LEARNED: Final = "not_learned"
"""Why a trial is excluded whose model was not trained on the finding."""
