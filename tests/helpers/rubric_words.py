"""The tables of words of a rexecution2025 pack, and what its figures' files hold."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from tests.helpers.rubric_tables import CODES, METRICS, TESTED, Rows
from tests.helpers.rubric_truth import (
    BROAD,
    IMAGE,
    KNOWS,
    MEASURE,
    MODELS,
    REASONING,
    TEXT,
    WRITES,
    Given,
    Task,
    Truth,
    cut,
    images,
)
from viewer.domain.rubric import RUBRIC


def _gold(task: Task, model: str) -> str:
    """Return what a trial's truth is: who judges it, and what is shown."""
    shown = (1 if model == WRITES else 2) + task.temporal
    answerable = "yes" if task.answerable else "no"
    gold = {"answerable": answerable, "by": "readers", "images": shown}
    return json.dumps(gold)


TAGS = (
    *("anatomical_region", "pathology_type", "imaging_finding", "laterality"),
    *("diagnostic_intent", "temporal_context", "question_type", "subtype"),
)
TARGETS = {
    "lung parenchyma": 37,
    "pleura": 15,
    "cardiac silhouette and mediastinum": 14,
    "hilar regions": 11,
    "devices": 9,
    "osseous structures": 4,
    "diaphragm and soft tissues": 6,
    "airways": 3,
}
_KINDS = {BROAD: "broad query", REASONING: "reasoning", MEASURE: "measurement"}
_JSON = re.compile(r'\{"boxes".*\}', re.DOTALL)


class Hexadecimal:
    """A cell that is a SHA-256 which no other cell is, or which all others are."""

    def __init__(self, *, same: bool = False) -> None:
        self._same = same
        self._seen: set[str] = set()

    def fits(self, cell: str) -> bool:
        """Tell whether a cell is one, and new or not new as it should be."""
        before = len(self._seen)
        self._seen.add(cell)
        expected = 1 if self._same else before + 1
        right = len(self._seen) == expected
        return bool(re.fullmatch("[0-9a-f]{64}", cell)) and right


@dataclass(frozen=True)
class Shifted:
    """A cell that lies at most 0.3 from a whole score."""

    score: int


@dataclass(frozen=True)
class Said:
    """What the scripted models say, as their files have it."""

    truth: Truth
    answers: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, folder: Path, truth: Truth) -> "Said":
        files = ((m, folder / "answers" / f"{m}.json") for m in MODELS)
        return cls(truth, {m: json.loads(f.read_text("utf-8")) for m, f in files})

    def text(self, model: str, task: Task) -> str:
        said = self.answers[model][task.name]
        return str(said["text"] if isinstance(said, dict) else said)

    def label(self, model: str, task: Task) -> str:
        return self._labels(model, task)[0]

    def _labels(self, model: str, task: Task) -> list[str]:
        found = _JSON.search(self.text(model, task))
        assert found is not None
        boxes = json.loads(found[0])["boxes"]
        assert [one["image"] for one in boxes] == list(range(1, len(boxes) + 1))
        assert len(boxes) == images(model, task)
        return [str(box["label"]) for box in boxes]

    def status(self, model: str, task: Task) -> str:
        if cut(model, task):
            return "truncated"
        return "scored_correct" if model == KNOWS else "scored_wrong"

    def tables(self) -> dict[str, Rows]:
        """Return every table of words by name, its header first."""
        return {
            "items": list(self._items()),
            "inputs": list(self._inputs()),
            "prompt_difference": list(_prompts()),
            "rubric": list(_rubric()),
            "selection": list(self._selection()),
            "coverage": list(self._coverage()),
            "tags": list(self._tags()),
            "error_cards": list(self._cards()),
            "figure_5_points": list(self._points("category", "main", "second")),
        }

    def figures(self) -> dict[str, Rows]:
        """Return what the figures' own files hold, the header first."""
        return {
            "figure_2": list(_figure_2()),
            "figure_3": list(self._figure_3()),
            "figure_4": list(self._figure_4()),
            "figure_5": list(self._figure_5()),
            "boxed_outputs": list(self._boxed()),
            "supplementary_1b": list(self._figure_s1b()),
        }

    def _items(self) -> Iterator[tuple[Any, ...]]:
        yield (
            *("item", "patient", "image", "finding", "view", "task_category"),
            *("task_kind", "condition", "repeat"),
            *("model", "status", "reason", "answer", "gold", "correct", "chance"),
            *("reply", "tokens_in", "tokens_out", "seconds", "cost_usd"),
            *("prompt_sha256", "request_sha256", "boxes"),
            *(metric.lower() for metric in TESTED),
        )
        sha256 = Hexadecimal()
        prompts = Hexadecimal(same=True), Hexadecimal(same=True)
        for task, model in product(self.truth.tasks, MODELS):
            gone, n = cut(model, task), images(model, task)
            words = len(self.text(model, task).split())
            said = f"{words} words, {n} box{'' if n == 1 else 'es'}"
            yield (
                *(task.name, task.patient, f"{task.study}/pa"),
                *(task.category, task.view) * 2,
                *("plain", 0, model, self.status(model, task)),
                *("token_limit" if gone else "", "" if gone else said),
                *(_gold(task, model), str(model == KNOWS and not gone), None),
                *(self.text(model, task), None, None, 0.0, None),
                *(prompts[model == WRITES], sha256),
                *((None,) * 6 if gone else (float(n), *self._finals(model, task))),
            )

    def _finals(self, model: str, task: Task) -> Iterator[float]:
        return (float(self.truth.final(model, task, metric)) for metric in TESTED)

    def _inputs(self) -> Iterator[tuple[Any, ...]]:
        yield ("item", "model", "rule", "images", "boxes_asked", "excluded")
        for task, model in product(self.truth.tasks, MODELS):
            one = model == WRITES
            names = ["pa"] if one else ["pa", "lateral"]
            rule = "single_view: PA" if one else "all_views: PA LATERAL"
            if task.temporal:
                names, rule = [*names, "prior_pa"], f"{rule}; prior: PA"
            keys = " ".join(f"{task.study}/{name}" for name in names)
            yield task.name, model, rule, keys, str(not one), ""

    def _selection(self) -> Iterator[tuple[Any, ...]]:
        yield (
            *("item", "task", "words", "category", "origin", "changes", "rescored"),
            *("temporal", "answerable"),
        )
        for task in self.truth.tasks:
            yield (
                *(task.study, task.id, task.words, task.category, "selected", ""),
                *(None, str(task.temporal), "yes" if task.answerable else "no"),
            )

    def _coverage(self) -> Iterator[tuple[Any, ...]]:
        yield ("region", "paper_percent", "tasks", "share")
        regions = [task.region for task in self.truth.tasks]
        for region, target in TARGETS.items():
            n = regions.count(region)
            yield region, target, n, n / len(regions)

    def _tags(self) -> Iterator[tuple[Any, ...]]:
        yield ("tag", "value", "tasks")
        for region, n in self._regions():
            yield "tag_anatomical_region", region, n
        for tag in TAGS[1:]:
            yield f"tag_{tag}", "None", len(self.truth.tasks)

    def _regions(self) -> list[tuple[str, int]]:
        counts = Counter(task.region for task in self.truth.tasks)
        return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))

    def _carded(self) -> Iterator[Given]:
        return (g for g in self.truth.given if g.codes or g.comment)

    def _cards(self) -> Iterator[tuple[Any, ...]]:
        yield (
            *("item", "task", "model", "reader", "image", "codes", "meanings"),
            *("concerns", "excerpt", "comments", "repeat"),
        )
        for one in self._carded():
            words = _JSON.sub("", self.text(one.model, one.task)).split()
            assert len(words) <= 60
            yield (
                *(one.task.name, one.task.words, one.model, one.reader),
                *(one.image or None, one.codes, CODES.get(one.codes, "")),
                *(one.concern, " ".join(words), one.comment, 0),
            )

    def _points(self, *header: str, series: bool = False) -> Iterator[tuple[Any, ...]]:
        yield header
        for metric in (*TEXT, *IMAGE):
            name = (metric, "outputs") if series else (metric,)
            for main, second, _ in self.truth.both(metric):
                yield *name, Shifted(main), Shifted(second)

    def _figure_5(self) -> Iterator[tuple[Any, ...]]:
        return self._points("panel", "series", "x", "y", series=True)

    def _figure_3(self) -> Iterator[tuple[Any, ...]]:
        yield ("group", "bar", "segment", "count", "share", "n")
        for metric, model in product(METRICS, MODELS):
            values = self.truth.finals(model, metric)
            for half in range(2, 11 if values else 2):
                count = float(values.count(half / 2))
                share, n = count / len(values), len(values)
                yield metric, model, f"{half / 2:g}", count, share, n

    def _figure_4(self) -> Iterator[tuple[Any, ...]]:
        yield ("item", "task", "model", "labels", "excerpt", "concerns")
        outputs: dict[tuple[str, int], list[Given]] = {}
        for one in self._carded():
            outputs.setdefault((one.model, one.task.place), []).append(one)
        kinds: list[str] = []
        order = []
        for number, of in enumerate(outputs.values()):
            kind = next((one.codes for one in of if one.codes), "")
            order.append((kind in kinds, number, of))
            kinds.append(kind)
        for _, _, of in sorted(order, key=lambda one: one[:2])[:4]:
            yield self._card(of)

    def _card(self, of: list[Given]) -> tuple[Any, ...]:
        """Return the card of an output: everything that readers said of it."""
        one = of[0]
        last = images(one.model, one.task)
        image = next((g.image for g in of if 0 < g.image <= last), 1)
        said = [
            remark
            for given in of
            for remark in (given.concern, given.comment, _FAILURES[given.codes])
            if remark
        ]
        words = _JSON.sub("", self.text(one.model, one.task)).split()
        return (
            *(one.task.name, one.task.words, one.model),
            self._labels(one.model, one.task)[image - 1] if last else "",
            *(" ".join(words), " | ".join(dict.fromkeys(said))),
        )

    def _boxed(self) -> Iterator[tuple[Any, ...]]:
        yield _TILES
        seen: Counter[str] = Counter()
        for task, model in product(self.truth.tasks, MODELS):
            if images(model, task):
                seen[task.category] += 1
                if seen[task.category] <= 4:
                    label = _short(self.label(model, task), 4)
                    yield self._tile(model, task, _KINDS[task.category], label)

    def _tile(self, model: str, task: Task, kind: str, words: str) -> tuple[Any, ...]:
        status = self.status(model, task)
        return kind, task.name, _short(task.words), model, words, status

    def _figure_s1b(self) -> Iterator[tuple[Any, ...]]:
        yield ("group", "bar", "segment", "count", "share", "n")
        n = len(self.truth.tasks)
        for region, count in self._regions():
            if region != "None":
                parts = {"so tagged": count, "other tasks": n - count}
                for name, k in parts.items():
                    yield "Anatomical region", region, name, float(k), k / n, n


_FAILURES = {
    "": "",
    "box_too_large": "Box too large to be useful",
    "hallucinated_checklist": "Every sign of a checklist claimed to be there",
}
_TILES = ("class", "item", "finding", "model", "cell", "outcome")


def _short(words: str, most: int = 6) -> str:
    """Return the first words."""
    parts = words.split()
    return " ".join(parts[:most]) + (" …" if len(parts) > most else "")


def _rubric() -> Iterator[tuple[Any, ...]]:
    """Yield the words that readers see."""
    yield ("dimension", "heading", *"12345")
    for dimension, row in RUBRIC.items():
        yield dimension.words, row.heading, *row.anchors


def _prompts() -> Iterator[tuple[Any, ...]]:
    yield ("only", "words")
    asked = (
        "Box and label each feature on the image(s). Write the boxes after your",
        'answer as JSON, {"boxes": [{"image": 1, "label": "...", "box": [left, top,',
        "right, bottom]}]}, with coordinates from 0 to 1000 of that image's width and",
        "height, the origin at its upper left corner. Draw no box where there is",
        "nothing to show.",
    )
    yield "with boxes", " ".join(asked)
    yield "without boxes", ""


_HELP = {
    "Process": (
        "Would this plan answer the task?",
        (
            "while gathering evidence of cancer, but only looking for lung lesions "
            "without considering bone lesions"
        ),
    ),
    "Execution": (
        "Is what it saw on the image?",
        "attempting to look for lung lesions, but hallucinating a granulomatous lesion",
    ),
    "Synthesis": (
        "Does the conclusion follow from what it saw?",
        (
            "claiming that a granuloma is suggestive of cancer while ignoring more "
            "plausible explanations such as infection"
        ),
    ),
}


def _figure_2() -> Iterator[tuple[Any, ...]]:
    yield ("step", "words")
    for step, words in _HELP.items():
        yield step, "\n\n".join(words)
