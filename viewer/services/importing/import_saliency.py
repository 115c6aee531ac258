"""Conversion of CheXlocalize's saliency maps to files without code."""

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from viewer.domain.errors import OverreadError, WrongUseError
from viewer.domain.plain import plain
from viewer.readers.predictions.saliency import Saliency, read_saliency, saliency_files
from viewer.services.importing.place_answers import (
    answer_of_map,
    item_of,
    write_answers,
)
from viewer.writers.files import write_atomically

POINTS_FILE: Final = "points.json"
"""{image: {finding: [[x, y]]}}, as CheXlocalize keeps its readers' salient points."""
ANSWERS_FILE: Final = "answers.json"
"""The maps as answers of a scripted model, which a run asks for."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Converted:
    """The result: files written, and a sentence for each refused one."""

    written: tuple[Path, ...]
    refused: tuple[str, ...]


def import_saliency(
    paths: Sequence[Path], out: Path, progress: Progress = lambda _done, _all: None
) -> Converted:
    """Convert pickles, and those in folders, into .npz files, points and answers.

    Each ``<image>_<finding>.npz`` contains ``map`` (rows, columns) float32, ``size``
    (rows, columns) of the image in pixels, and ``probability`` if available. A file
    that cannot be read is refused with a sentence, without affecting the others.

    Raises
    ------
    UnreadableInputError
        If there are no files.
    WrongUseError
        If two files are about the same image and finding, or the folder is not
        writable.
    """
    files = saliency_files(paths)
    points: dict[str, dict[str, list[list[int]]]] = {}
    answers: dict[str, str] = {}
    written: list[Path] = []
    refused: list[str] = []
    for number, file in enumerate(files, 1):
        try:
            saliency = read_saliency(file)
        except OverreadError as error:
            refused.append(str(error))
        else:
            _check_new(saliency, points)
            x, y = saliency.most_salient_pixel
            points.setdefault(saliency.image, {})[saliency.finding] = [[x, y]]
            item = item_of(saliency.image, saliency.finding)
            answers[item] = answer_of_map(saliency.values, saliency.size)
            written.append(_write(saliency, out))
        progress(number, len(files))
    if written:
        data = json.dumps(points, indent=1, sort_keys=True).encode()
        write_atomically(out / POINTS_FILE, data)
        write_answers(answers, out / ANSWERS_FILE)
    return Converted(tuple(written), tuple(refused))


def _check_new(
    saliency: Saliency, points: dict[str, dict[str, list[list[int]]]]
) -> None:
    if saliency.finding in points.get(saliency.image, {}):
        raise WrongUseError(
            f"Two files contain the map of {saliency.finding} on {saliency.image}.",
            "Convert the maps of one network and method at a time.",
        )


def _write(saliency: Saliency, out: Path) -> Path:
    arrays = {
        "map": saliency.values,
        "size": np.array(plain(saliency.size)),
    }
    if saliency.probability is not None:
        arrays["probability"] = np.array(saliency.probability)
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **arrays)
    path = out / f"{saliency.image}_{saliency.finding}.npz"
    write_atomically(path, stream.getvalue())
    return path
