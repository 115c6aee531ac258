"""People score answers that a judge scored, blinded to its score (E004-09).

They give the judge's own scale to a drawn subset; the report compares both and corrects
the judge's mean by them (Chen 2026, 3.2).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from viewer.domain.answer import RankedAnswer
from viewer.domain.case import Dataset
from viewer.domain.evidence import EvidenceCase
from viewer.domain.form import ChoiceQuestion, FlagQuestion, Form, Option, Part
from viewer.domain.item import item_of
from viewer.domain.reading import Exhibit, Material
from viewer.studies.evidence_diagnosis.frames import JUDGE_LABELS
from viewer.studies.evidence_diagnosis.params import Arm, Task
from viewer.studies.reading_tasks import (
    CaseRead,
    Entry,
    Output,
    ReadingCase,
    ReadingTask,
)

SCORE, PROBLEM = "score", "problem"
_LEVELS: Final[Mapping[Task, Mapping[int, str]]] = {
    Task.DDX: {
        5: "The diagnosis is in the list",
        4: "A very close diagnosis is in it",
        3: "A closely related one that could help the workup",
        2: "A somewhat related one, unlikely to help",
        0: "Nothing close or related",
    },
    Task.OPEN_FDX: {
        5: "It is the diagnosis",
        4: "Very close, but not the same",
        3: "Closely related and plausibly helpful",
        2: "Related, but unlikely to help",
        1: "Unrelated",
    },
}
"""The judge's levels in short words; its prompt has the paper's (E004-06, -08)."""
_FORM: Final = Form(
    "medsyn_judging",
    "1",
    "Scores of judged answers",
    (
        ChoiceQuestion(SCORE, "How close is the answer?"),
        FlagQuestion(PROBLEM, "Something is wrong with this case"),
    ),
    shown=frozenset({Part.ANSWER}),
)


def _cases(dataset: Dataset, outputs: Sequence[Output]) -> Iterator[ReadingCase]:
    """Yield the first answers to raw images that a judge scores."""
    items = {item.key: item for item in dataset.items}
    for output in outputs:
        trial, answer = output.trial, output.answer
        is_first = trial.repeat == 0 and trial.condition.name == Arm.RAW.value
        if not isinstance(answer, RankedAnswer) or not is_first:
            continue
        task = Task(trial.finding)
        if task not in _LEVELS:
            continue
        case = EvidenceCase.of_item(item_of(items, trial.item))
        yield ReadingCase(
            case.key,
            case.images[0],
            _material(case, task, answer),
            group=f"{case.key} {task} {output.id}",
            output=output.id,
        )


def _material(case: EvidenceCase, task: Task, answer: RankedAnswer) -> Material:
    numbered = [f"{n}. {entry}" for n, entry in enumerate(answer.entries, 1)]
    options = tuple(Option(str(n), words) for n, words in _LEVELS[task].items())
    return Material(
        f"Confirmed diagnosis: {case.diagnosis}",
        "\n".join(numbered),
        tuple(images_of(case)),
        options={SCORE: options},
        notes={"task": task.value},
    )


def images_of(case: EvidenceCase) -> Iterator[Exhibit]:
    """Yield every image under the title of its evidence."""
    for one in case.evidence:
        for number, key in enumerate(one.images, 1):
            of = f", {number} of {len(one.images)}" if len(one.images) > 1 else ""
            yield Exhibit(f"{one.title}{of}", image=key, kind=one.type.value)


def _labels(read: CaseRead) -> Iterator[Entry]:
    """Yield the score, as ``judge_labels.csv`` would bring it."""
    task, score = read.material.notes["task"], int(str(read.values[SCORE]))
    yield JUDGE_LABELS, [task, read.model, score]


JUDGING: Final = ReadingTask(
    "judging",
    "Score judged answers",
    "People score answers on the judge's scale without seeing its score. The report "
    "shows how far they agree, and the mean as corrected by them.",
    lambda _, __: _FORM,
    _cases,
    _labels,
    of_run=True,
    unit="outputs",
)
