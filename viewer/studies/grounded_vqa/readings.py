"""Annotators outline anatomies on the study's images (Nguyen 2025, 3.2; E002-01).

A mask for each anatomy; what two annotators drew is compared by Dice coefficient, and
exported as the file that a data set's folder takes. The other task, the review of
edited images, is in ``composites``.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from viewer.domain.answer import BoxesAnswer, MaskAnswer
from viewer.domain.case import Dataset
from viewer.domain.form import FlagQuestion, Form, PlaceKind, PlaceQuestion
from viewer.domain.form_values import Values
from viewer.domain.reading import Material
from viewer.studies.grounded_vqa.composites import REVIEW
from viewer.studies.grounded_vqa.vocabulary import EIGHT, TRACHEA
from viewer.studies.reading_tasks import (
    CaseRead,
    Entry,
    Output,
    ReadingCase,
    ReadingTask,
)

PROBLEM: Final = "problem"
_NOTHING_DRAWN: Final = "Outline at least one anatomy, or say that it is not there."

_BOX_DRAWN: Final = "A box is no outline yet: turn to it and press Mask to fill it."


def id_of(anatomy: str) -> str:
    """Return the question of an anatomy: its name with underscores."""
    return re.sub(r"\W+", "_", anatomy.casefold())


def _form(dataset: Dataset, _: object) -> Form:
    """Return a question for each anatomy of the data set, or of the paper's eight."""
    known = {name for image in dataset.images for name in image.anatomy}
    others = sorted(known - {*EIGHT, TRACHEA})
    return Form(
        "heal_anatomies",
        "2",
        "Outlines of anatomies",
        (
            *(
                PlaceQuestion(
                    id_of(name),
                    name,
                    (PlaceKind.MASK, PlaceKind.BOXES),
                    can_be_absent=True,
                    required=False,
                )
                for name in (*EIGHT, TRACHEA, *others)
            ),
            FlagQuestion(PROBLEM, "Something is wrong with this image"),
        ),
    )


def _cases(dataset: Dataset, _: Sequence[Output]) -> Iterator[ReadingCase]:
    for image in dataset.images:
        if "*" not in image.defects:
            yield ReadingCase(image.key, image.key, Material("Outline the anatomies"))


def _problem(values: Values) -> str:
    if any(isinstance(value, BoxesAnswer) for value in values.values()):
        return _BOX_DRAWN
    return "" if set(values) - {PROBLEM} else _NOTHING_DRAWN


def _no_entry(_: CaseRead) -> Iterator[Entry]:
    """Yield nothing: masks belong to images, and come back as a file of the folder."""
    yield from ()


def _files(form: Form, read: Sequence[CaseRead]) -> Mapping[str, bytes]:
    """Return a file of masks for each reader, as ``anatomy*.json`` is imported."""
    names = {q.id: q.text for q in form.questions}
    found: dict[str, dict[str, dict[str, object]]] = {}
    for case in read:
        masks = found.setdefault(case.reader, {}).setdefault(case.item, {})
        for question, value in case.values.items():
            if isinstance(value, MaskAnswer):
                mask = value.mask
                size = [mask.size.rows, mask.size.columns]
                masks[names[question]] = {"size": size, "counts": mask.counts}
    return {
        f"anatomy_{id_of(reader)}.json": json.dumps(masks, indent=1).encode()
        for reader, masks in found.items()
    }


READING_TASKS: Final = (
    ReadingTask(
        "anatomies",
        "Outline anatomies",
        "Annotators outline the anatomies of each image with brush and eraser. "
        "overread export readings writes their masks for the data set's folder.",
        _form,
        _cases,
        _no_entry,
        problem=_problem,
        files=_files,
        case_s=300,
        suits=lambda held: held.places,
    ),
    REVIEW,
)
