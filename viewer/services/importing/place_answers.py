"""Readers' points and networks' maps as answers for a run (X-03).

They are written as the answer file of a scripted model, in native pixels, so that
humans, networks and language models are planned, scored and reported in the same way.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.answer import HeatMapAnswer, PointAnswer
from viewer.domain.answer_json import answer_as_json
from viewer.domain.counting import counted
from viewer.domain.exchange import ModelProfile, SentHeatMap
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.models.catalog import profile_from_table
from viewer.services.trials.placed_answer import NATIVE
from viewer.writers.files import write_atomically, write_by_content

ADAPTER: Final = "scripted"
Points = Mapping[str, Mapping[str, Sequence[PointPx]]]
"""By image and finding, in native pixels."""


@dataclass(frozen=True, slots=True)
class PlaceAnswers:
    """Answers by item, and the items that had more than one point."""

    answers: Mapping[str, str]
    several: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The number of answers, and how further points were handled."""
        counts = counted(len(self.answers), "answer")
        if self.several:
            counts += (
                f"; of {counted(len(self.several), 'item')} with several points the "
                "first is the answer, while the radiologists' row of a report counts "
                "any of them"
            )
        return counts


def item_of(image: str, finding: str) -> str:
    """Return the key that a grid localization study gives a question."""
    return f"{image}|{finding}"


def answers_of_points(points: Points) -> PlaceAnswers:
    """Return the first point of each item as its answer; some items have none.

    An answer is one location, and it is unknown which of several points a reader would
    have chosen: those items are listed.
    """
    known = {
        item_of(image, finding): of
        for image, findings in points.items()
        for finding, of in findings.items()
        if of
    }
    return PlaceAnswers(
        {item: answer_as_json(PointAnswer(of[0])) for item, of in known.items()},
        tuple(sorted(item for item, of in known.items() if len(of) > 1)),
    )


def answer_of_map(values: npt.NDArray[np.float32], size: SizePx) -> str:
    """Return a (rows, columns) map over a whole image of ``size`` as an answer.

    Scaled to 0 to 1, because its values are only relative and are stored as half
    floats.
    """
    low, high = float(values.min()), float(values.max())
    # A flat map has no range to divide by, and becomes 0 everywhere.
    scaled = (values.astype(np.float64) - low) / ((high - low) or 1.0)
    whole = BoxPx(0.0, 0.0, float(size.columns), float(size.rows))
    return answer_as_json(HeatMapAnswer(SentHeatMap.of(scaled.astype("<f2")), whole))


def write_answers(answers: Mapping[str, str], path: Path) -> None:
    """Write answers in the format of scripted models."""
    data = json.dumps(dict(answers), indent=1, sort_keys=True).encode()
    write_atomically(path, data)


def keep_answers(answers: Mapping[str, str], folder: Path) -> Path:
    """Write answers to a folder under a name derived from their content; return it."""
    data = json.dumps(dict(answers), indent=1, sort_keys=True).encode()
    return write_by_content(folder, data, ".json")


def profile_of(name: str, path: Path) -> ModelProfile:
    """Return the model of an answer file; raises for an invalid model name."""
    settings = {"answers_file": str(path.absolute()), "convention": NATIVE}
    return profile_from_table({"name": name, "adapter": ADAPTER, **settings})


def model_table(name: str, path: Path) -> str:
    """Return the lines of a study file for the model of an answer file.

    Items that the file does not answer count as unanswered, as for a reader (E000-23).
    """
    rows = {
        "name": name,
        "adapter": ADAPTER,
        "answers_file": str(path.absolute()),
        "answer": "",
        "convention": NATIVE,
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in rows.items()]
    return "\n".join(("[[model]]", *lines))
