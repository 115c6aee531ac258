"""Readers review the edited images of the visual perturbation test (E002-10).

A reader sees each edited image beside the original and says whether the anatomy was
really replaced, and whether the image is plausible. What any reader rejects is left out
of the test. Whether the pasted region has the finding is not told.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from viewer.domain.answer import Status
from viewer.domain.case import Dataset
from viewer.domain.form import ChoiceQuestion, Form, Option, Part
from viewer.domain.item import Item, item_of
from viewer.domain.reading import Exhibit, Material
from viewer.studies.grounded_vqa.arms import change_of, perturbation_of
from viewer.studies.grounded_vqa.items import question_of
from viewer.studies.grounded_vqa.params import Params
from viewer.studies.grounded_vqa.questions import Question
from viewer.studies.grounded_vqa.request import edited_raster
from viewer.studies.grounded_vqa.visual import Arm
from viewer.studies.reading_tasks import (
    CaseRead,
    Entry,
    MadeImage,
    Output,
    ReadingCase,
    ReadingTask,
)

EDITED_IMAGES: Final = "edited_images"
"""Names the list in an item's reference that has what readers said of its images.

An entry has the reader, the name of the edited question with the patient that its
region is from, the parameters that its image was made with, and what it failed.
"""


def rejected_edits(items: Iterable[Item], params: Params) -> frozenset[str]:
    """Return the names of the edited questions whose image any reader rejected.

    What was made with other parameters is another image, and was not seen.
    """
    how = made_with(params)
    return frozenset(
        str(name)
        for item in items
        for _, name, made, failed in _verdicts(item)
        if failed and made == how
    )


def made_with(params: Params) -> Mapping[str, object]:
    """Return the parameters that an edited image depends on."""
    return {
        "blend": params.blend.value,
        "feather": params.feather,
        "match_histogram": params.match_histogram,
    }


def _verdicts(item: Item) -> Iterator[Any]:
    listed = item.reference.get(EDITED_IMAGES, ())
    yield from listed if isinstance(listed, list) else ()


REPLACED, PLAUSIBLE = "replaced", "plausible"
_NO: Final = "no"
_YES_OR_NO: Final = (Option("yes", "Yes"), Option(_NO, "No"))
_PASTED: Final = frozenset({Arm.DONOR.value, Arm.SAME.value})
"""The sham with the image's own region replaces nothing."""
_NOT_ASKED: Final = frozenset({Status.EXCLUDED, Status.PENDING})
_FORM: Final = Form(
    "heal_edited_images",
    "1",
    "Review of edited images",
    (
        ChoiceQuestion(REPLACED, "Was this anatomy really replaced?", _YES_OR_NO),
        ChoiceQuestion(PLAUSIBLE, "Is the edited image plausible?", _YES_OR_NO),
    ),
    shown=frozenset({Part.ORIGINAL}),
    briefing=(
        "In each edited image one anatomy, which is named, was to be replaced by that "
        "of another patient; the original is shown beside it. Say whether the anatomy "
        "was really replaced, and whether the edited image could be a real one. What "
        "you reject is left out of the test."
    ),
)


def _cases(dataset: Dataset, outputs: Sequence[Output]) -> Iterator[ReadingCase]:
    """Yield each edited image that any model was asked about, once."""
    items = {item.key: item for item in dataset.items}
    asked: dict[str, Output] = {}
    for output in outputs:
        test = perturbation_of(output.trial.condition.name)
        if test in _PASTED and output.status not in _NOT_ASKED:
            asked.setdefault(output.trial.item, output)
    for name, output in asked.items():
        params = output.params
        assert isinstance(params, Params)  # noqa: S101 - of a run of this study
        question = question_of(item_of(items, name), params.findings)
        if isinstance(question, Question):
            yield _case(question, output, params)


def _case(asked: Question, output: Output, params: Params) -> ReadingCase:
    name, condition = output.trial.item, output.trial.condition.name
    donor, arm = change_of(name, condition).donor, Arm(perturbation_of(condition))
    make = partial(edited_raster, asked, donor, arm, params=params)
    material = Material(
        exhibits=(Exhibit("Original", image=asked.image),),
        notes={"made": made_with(params)},
    )
    image = MadeImage("Edited", make)
    return ReadingCase(name, asked.image, material, made=image, subject=asked.anatomy)


def _entries(read: CaseRead) -> Iterator[Entry]:
    """Yield a reader's verdict on an edited image: what it failed, if anything."""
    failed = [name for name in (REPLACED, PLAUSIBLE) if read.values[name] == _NO]
    made = dict(read.material.notes["made"])
    yield EDITED_IMAGES, [read.reader, read.item, made, failed]


REVIEW: Final = ReadingTask(
    "edited_images",
    "Review edited images",
    "A reader sees each edited image of a run's visual test beside the original, and "
    "says whether the anatomy was really replaced and the image is plausible. What any "
    "reader rejects is left out of the test at once.",
    lambda _, __: _FORM,
    _cases,
    _entries,
    of_run=True,
    case_s=20,
)
