"""What the synthetic studies of ReXecution hold, told again from their rules.

Nothing of the program is used: tasks, outputs and grades are counted out from the place
of a study and of an output, so that every cell of a pack can be held against them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from statistics import mean

KNOWS, DRAWS, WRITES = "knows", "draws", "writes"
MODELS = (KNOWS, DRAWS, WRITES)
A, B = "Reader A", "Reader B"
TEXT = ("Process", "Execution", "Synthesis", "Language")
IMAGE = ("Image Content", "Image Style")
BROAD = "broad_abnormality_query"
REASONING = "high_level_diagnostic_reasoning"
MEASURE = "measurements_and_temporal_comparisons"
LUNGS, HEART = "lung parenchyma", "cardiac silhouette and mediastinum"
_FIRST = (
    ("Describe all pleural abnormalities.", "pleura"),
    ("Describe all abnormalities of the lungs.", LUNGS),
    ("List all visible devices and assess for complications.", "devices"),
)
_REASONED = (
    ("Gather evidence of congestive heart failure.", HEART),
    ("Perform differential diagnosis for any lung opacity.", LUNGS),
)


@dataclass(frozen=True)
class Task:
    """A task of a study; ``place`` counts the tasks of all studies from 0."""

    place: int
    study: str
    id: str
    words: str
    region: str
    category: str
    temporal: bool = False
    answerable: bool = True

    @property
    def name(self) -> str:
        return f"{self.study}|{self.id}"

    @property
    def patient(self) -> str:
        return self.study.replace("study", "patient")

    @property
    def view(self) -> str:
        return "temporal" if self.temporal else "single study"


@dataclass(frozen=True)
class Given:
    """What a reader gave a text (``image`` 0), or an image of it."""

    reader: str
    model: str
    task: Task
    image: int
    scores: dict[str, int]

    @property
    def codes(self) -> str:
        if self.image:
            return "box_too_large" if self.scores["Image Content"] == 1 else ""
        wrong = self.scores["Execution"] == 1 and self.reader == A
        return "hallucinated_checklist" if wrong else ""

    @property
    def concern(self) -> str:
        said = self.codes and not self.image
        return "Signs are claimed that are not there." if said else ""

    @property
    def comment(self) -> str:
        said = self.scores.get("Execution") == 2
        return "Execution: One sign is described on the wrong side." if said else ""


@dataclass(frozen=True)
class Truth:
    """Everything about ``n`` studies."""

    n: int

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        return tuple(task for s in range(self.n) for task in _tasks(s))

    @cached_property
    def given(self) -> tuple[Given, ...]:
        """All grades, by reader, task and model."""
        grades = (
            grade
            for task in self.tasks
            for model in MODELS
            if not cut(model, task)
            for grade in _grades(model, task)
        )
        return tuple(sorted(grades, key=lambda g: (g.reader, g.task.name, g.model)))

    def delivered(self, model: str) -> list[Task]:
        return [task for task in self.tasks if not cut(model, task)]

    def texts(self, model: str, task: Task) -> list[Given]:
        return self.of(model, task, 0)

    def of(self, model: str, task: Task, image: int) -> list[Given]:
        """Return the grades of one output, or of one image of it."""
        return self._by_output.get((model, task.place, image), [])

    @cached_property
    def _by_output(self) -> dict[tuple[str, int, int], list[Given]]:
        found: dict[tuple[str, int, int], list[Given]] = {}
        for one in self.given:
            found.setdefault((one.model, one.task.place, one.image), []).append(one)
        return found

    def final(self, model: str, task: Task, metric: str, first: str = "mean") -> float:
        """Return a text's final score; ``first`` what of Content comes first."""
        grades = [one.scores for one in self.texts(model, task)]
        if metric != "Content":
            return mean(one[metric] for one in grades)
        parts = TEXT[:3]
        if first == "mean":
            return min(mean(one[part] for one in grades) for part in parts)
        return mean(min(one[part] for part in parts) for one in grades)

    def finals(self, model: str, metric: str, first: str = "mean") -> list[float]:
        """Return all final scores of a model on a metric, of texts or of images."""
        if metric in IMAGE:
            return [
                mean(one.scores[metric] for one in self.of(model, task, number))
                for task in self.delivered(model)
                for number in range(1, images(model, task) + 1)
            ]
        return [self.final(model, t, metric, first) for t in self.delivered(model)]

    def both(self, metric: str) -> list[tuple[int, int, Task]]:
        """Return both readers' scores of whatever both graded, in the file's order."""
        return [
            (one.scores[metric], other.scores[metric], one.task)
            for one in self.given
            if one.reader == A and metric in one.scores
            for other in self.of(one.model, one.task, one.image)
            if other.reader == B
        ]


def _tasks(s: int) -> Iterator[Task]:
    study = f"study{s + 1:05d}"
    yield Task(2 * s, study, "t1", *_FIRST[s % 3], BROAD)
    words, region, category = "Measure the cardiothoracic ratio.", HEART, MEASURE
    prior, trick = s % 3 == 0, s % 3 != 0 and s % 5 == 4
    if prior:
        words, region = "Describe what has changed since the prior.", LUNGS
    elif trick:
        words = "State the patient's serum sodium from the radiograph."
        region = "None"
    elif s % 2 == 0:
        (words, region), category = _REASONED[s // 2 % 2], REASONING
    yield Task(2 * s + 1, study, "t2", words, region, category, prior, not trick)


def cut(model: str, task: Task) -> bool:
    """Tell whether the token limit cut an output short."""
    return model == WRITES and task.place % 5 == 4


def abstains(model: str, task: Task) -> bool:
    """Tell whether an output says that it cannot be answered."""
    return model != WRITES and not task.answerable


def images(model: str, task: Task) -> int:
    """Return on how many images an output draws a box."""
    if model == WRITES or abstains(model, task):
        return 0
    if model == KNOWS:
        return 1
    rest = task.place % 5
    return 2 if rest == 0 else int(rest < 3)


def _scores(names: tuple[str, ...], *values: int) -> dict[str, int]:
    return dict(zip(names, values, strict=True))


def _grades(model: str, task: Task) -> Iterator[Given]:
    if model == KNOWS:
        for reader in (A, B)[: 2 - task.place % 2]:
            yield Given(reader, model, task, 0, _scores(TEXT, 5, 5, 5, 5))
            for n in range(1, images(model, task) + 1):
                yield Given(reader, model, task, n, _scores(IMAGE, 5, 5))
    elif model == DRAWS:
        yield from _of_draws(task)
    else:
        i = task.place
        values = (4, 1 + (i + 1) % 5, 3 + i % 2, 5)
        for reader in (A, B)[: 2 - i % 2]:
            yield Given(reader, model, task, 0, _scores(TEXT, *values))


def _of_draws(task: Task) -> Iterator[Given]:
    i, second = task.place, task.place % 2 == 0
    process, execution, synthesis, language = 5 - i % 2, 1 + i % 5, 4, 4 + i % 2
    first = (process, execution, synthesis, language)
    yield Given(A, DRAWS, task, 0, _scores(TEXT, *first))
    if second:
        other = (process, min(5, execution + 1), synthesis, language - (i % 5 == 0))
        if i % 10 == 2:
            other = (2, 5, synthesis, language)
        yield Given(B, DRAWS, task, 0, _scores(TEXT, *other))
    for n in range(1, images(DRAWS, task) + 1):
        content, style = 1 + 2 * (i % 3), 6 - n
        yield Given(A, DRAWS, task, n, _scores(IMAGE, content, style))
        if second:
            yield Given(B, DRAWS, task, n, _scores(IMAGE, max(1, content - 1), style))
