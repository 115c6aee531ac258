"""Write synthetic studies with reports, tasks, scripted answers and known grades."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from viewer.domain.geometry import SizePx
from viewer.domain.task_selection import Answerable
from viewer.services.synthetic.folder import Collection, begin, write_each
from viewer.services.synthetic.make_phantom import LARGEST, SMALLEST, PhantomSummary
from viewer.services.synthetic.phantom.reader_grades import MODELS, grades_of, output_of
from viewer.services.synthetic.phantom.task_proposals import PROPOSER, proposed, replies
from viewer.services.synthetic.write_readings import (
    WrittenStudy,
    write_answers,
    write_grades,
    write_study,
    write_tasks,
)

_KIND: Final = Collection(
    "synthetic chest studies with reports; no such persons exist",
    "studies",
    "a radiograph",
    SMALLEST,
    LARGEST,
)


def make_readings(
    out: Path,
    n: int,
    seed: int,
    size: SizePx,
    progress: Callable[[int, int], None],
) -> PhantomSummary:
    """Write ``n`` studies of a seed; the same arguments give the same bytes.

    Each has two tasks. There are answers of three scripted models, tasks proposed by a
    fourth, and grades of two readers whose statistics have closed forms if ``n`` is a
    multiple of 5.

    Raises
    ------
    WrongUseError
        If a number is out of range, or the folder has other contents or is not
        writable.
    """
    begin(_KIND, out, n, seed, size)
    studies = write_each(partial(write_study, out, seed, size=size), n, progress)
    write_tasks(out, studies)
    named = list(_named(studies))
    for model in MODELS:
        answers = {
            name: _answer(model, i, study, answerable=able)
            for i, (name, study, able) in enumerate(named)
        }
        write_answers(out, model, answers)
    write_answers(out, PROPOSER, _proposals(studies))
    graded = (
        grades_of(name, i, answerable=able) for i, (name, _, able) in enumerate(named)
    )
    write_grades(out, [grade for grades in graded for grade in grades])
    counts = Counter(name for study in studies for name in study.boxes)
    return PhantomSummary(out, n, sum(study.images for study in studies), dict(counts))


def _proposals(studies: Sequence[WrittenStudy]) -> dict[str, object]:
    """Return the task proposals of a model for every study."""
    return {
        step: words
        for index, study in enumerate(studies)
        for step, words in replies(
            study.key, proposed(index, temporal=study.has_prior)
        ).items()
    }


def _named(
    studies: Sequence[WrittenStudy],
) -> Iterator[tuple[str, WrittenStudy, bool]]:
    """Yield each task's name with its study and whether it is answerable."""
    for study in studies:
        for task in study.tasks:
            able = task.answerable is Answerable.YES
            yield f"{study.key}|{task.id}", study, able


def _answer(model: str, i: int, study: WrittenStudy, *, answerable: bool) -> object:
    """Return a scripted answer: the truth, with the boxes of output i."""
    made = output_of(model, i, answerable=answerable)
    if made.abstains:
        return "This cannot be determined from a radiograph."
    if made.cut:
        return {"text": "The findings are, first of all,", "finish_reason": "length"}
    if not made.images:
        return study.report.findings
    label, box = next(iter(study.boxes.items()), ("whole image", (0, 0, 1000, 1000)))
    boxes = [
        {"image": image, "label": label, "box": list(box)}
        for image in range(1, made.images + 1)
    ]
    return f"{study.report.findings}\n{json.dumps({'boxes': boxes})}"
