"""Two tasks for each synthetic study, over the three categories of ReXecution."""

from typing import Final

from viewer.domain.task_selection import (
    NO_TAG,
    TAGS,
    Answerable,
    Category,
    SelectedTask,
    Source,
)
from viewer.services.synthetic.phantom.patient import PhantomPatient

BROAD: Final = (
    ("Describe all pleural abnormalities.", "pleura"),
    ("Describe all abnormalities of the lungs.", "lung parenchyma"),
    ("List all visible devices and assess for complications.", "devices"),
)
_HEART: Final = "cardiac silhouette and mediastinum"
REASONING: Final = (
    ("Gather evidence of congestive heart failure.", _HEART),
    ("Perform differential diagnosis for any lung opacity.", "lung parenchyma"),
)
MEASURE: Final = ("Measure the cardiothoracic ratio.", _HEART)
COMPARE: Final = (
    "Describe what has changed since the prior.",
    "lung parenchyma",
)
_TRICK: Final = ("State the patient's serum sodium from the radiograph.", NO_TAG)
_TRICK_EVERY: Final = 5


def tasks_of(
    study: str, patient: PhantomPatient, *, temporal: bool
) -> tuple[SelectedTask, ...]:
    """Return a study's two tasks; the second compares where there is a prior.

    Of every five studies the last has a task that no image answers.
    """
    index = patient.index
    first, region = BROAD[index % len(BROAD)]
    one = _task(study, "t1", first, region, Category.BROAD)
    if temporal:
        text, area = COMPARE
        category = Category.MEASUREMENT
        return one, _task(study, "t2", text, area, category, temporal=True)
    if index % _TRICK_EVERY == _TRICK_EVERY - 1:
        text, area = _TRICK
        kind = Answerable.NO
        return one, _task(study, "t2", text, area, Category.MEASUREMENT, kind)
    if index % 2:
        return one, _task(study, "t2", *MEASURE, Category.MEASUREMENT)
    text, area = REASONING[index // 2 % len(REASONING)]
    return one, _task(study, "t2", text, area, Category.REASONING)


def _task(
    study: str,
    name: str,
    text: str,
    region: str,
    category: Category,
    answerable: Answerable = Answerable.YES,
    *,
    temporal: bool = False,
) -> SelectedTask:
    tags = {**dict.fromkeys(TAGS, (NO_TAG,)), TAGS[0]: (region,)}
    return SelectedTask(
        study,
        name,
        text,
        category,
        Source.FINDINGS,
        text,
        None,
        tags,
        temporal,
        answerable,
    )
