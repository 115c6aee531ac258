"""Write a benchmark of questions about synthetic chest radiographs."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Final

from viewer.domain.geometry import SizePx
from viewer.services.synthetic.folder import Collection, begin, write_each
from viewer.services.synthetic.make_phantom import LARGEST, SMALLEST, PhantomSummary
from viewer.services.synthetic.phantom.chest_questions import (
    PER_PATIENT,
    chest_questions,
)
from viewer.services.synthetic.phantom.patient import make_patient
from viewer.services.synthetic.write_chests import write_chest
from viewer.services.synthetic.write_question_set import (
    AskedChest,
    write_question_set,
)

_KIND: Final = Collection(
    "a benchmark about synthetic radiographs; no such persons exist",
    "questions",
    "a radiograph",
    SMALLEST,
    LARGEST,
)


def make_question_set(
    out: Path,
    n: int,
    seed: int,
    size: SizePx,
    progress: Callable[[int, int], None],
) -> PhantomSummary:
    """Write ``n`` questions; the same arguments give the same bytes.

    The folder is imported as ``question-set``.

    Parameters
    ----------
    out : Path
        An empty or new folder, or one of the same collection, which is completed.
    n : int
        Number of questions, four about each radiograph of another patient.
    seed : int
        Seed of the collection; a patient does not depend on ``n``.
    size : SizePx
        Rows and columns of every radiograph.
    progress : callable
        Called with (radiographs done, all of them) from this thread.

    Returns
    -------
    PhantomSummary
        Its positives count the questions by topic.

    Raises
    ------
    WrongUseError
        If a number is out of range, or the folder has other contents or is not
        writable.
    """
    begin(_KIND, out, n, seed, size)
    patients = -(-n // PER_PATIENT)
    chests = write_each(partial(_write_one, out, seed, size), patients, progress)
    write_question_set(out, chests, n)
    asked = islice(chain.from_iterable(chest.questions for chest in chests), n)
    counts = Counter(one.topic for one in asked)
    return PhantomSummary(out, patients, patients, dict(counts))


def _write_one(out: Path, seed: int, size: SizePx, index: int) -> AskedChest:
    patient = make_patient(seed, index)
    written = write_chest(out, patient, size)
    sex = "F" if patient.build.female else "M"
    questions = tuple(chest_questions(patient, written.boxes, size))
    return AskedChest(written.key, sex, questions)
