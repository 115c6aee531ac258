"""Questions and their answers, drawn from the relations of images (E002-03)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final

import numpy as np

from viewer.domain.case import Notice
from viewer.domain.errors import WrongUseError
from viewer.metrics.seeding import generator
from viewer.studies.grounded_vqa.params import HallucinatedFrom, Params
from viewer.studies.grounded_vqa.relations import Chart, Pair
from viewer.studies.grounded_vqa.templates import PROMPTS, name_of, templates
from viewer.studies.prompts import BUILT_IN, OwnPrompts, fill


class Kind(StrEnum):
    """What a question probes (HEAL-MedVQA 3.2)."""

    POSITIVE = "positive"
    """Closed, about a finding that is there: Yes."""
    HALLUCINATED = "hallucinated"
    """Closed, about a finding that is not there: No."""
    ABNORMALITY = "abnormality"
    """Open, about an anatomy with findings."""
    NORMAL = "normal"
    """Open, about an anatomy without."""


CLOSED: Final = frozenset({Kind.POSITIVE, Kind.HALLUCINATED})
"""The kinds that are answered with yes or no."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one image.

    ``finding`` is "" for an open one. ``labels`` are the findings in the anatomy; for a
    closed question only the one asked about, if present.
    """

    key: str
    image: str
    patient: str
    kind: Kind
    anatomy: str
    finding: str
    template: int
    text: str
    labels: tuple[str, ...]

    @property
    def closed(self) -> bool:
        """Whether yes or no is the answer."""
        return self.kind in CLOSED

    @property
    def yes(self) -> bool:
        """Whether a closed question's answer is yes."""
        return self.kind is Kind.POSITIVE

    @property
    def pair(self) -> Pair:
        """Anatomy and finding."""
        return self.anatomy, self.finding


@dataclass(frozen=True)
class Benchmark:
    """Questions in the order of their images, the chart they came from, and notices."""

    questions: tuple[Question, ...]
    chart: Chart
    notices: tuple[Notice, ...] = ()

    @cached_property
    def counts(self) -> Mapping[Kind, int]:
        """How many questions there are of each kind."""
        return {kind: sum(q.kind is kind for q in self.questions) for kind in Kind}


def build(chart: Chart, params: Params, seed: int) -> Benchmark:
    """Return 2 to 5 questions per image, drawn from a seed.

    An image's questions depend on the seed, its own relations and the pairs that occur
    in the data set. Images with too few possible questions are reported.
    """
    questions: list[Question] = []
    notices = list(chart.notices)
    for image in chart.images:
        drawn = _drawn(image.image, chart, params, seed)
        questions += drawn
        if len(drawn) < params.fewest_questions:
            text = f"Only {len(drawn)} questions can be asked about it."
            notices.append(Notice("few_questions", image.image, text))
    return Benchmark(tuple(questions), chart, tuple(notices))


def closed_text(
    anatomy: str, finding: str, template: int, prompts: OwnPrompts = BUILT_IN
) -> str:
    """Return the words of a closed question."""
    words = PROMPTS.text(name_of("closed", template), prompts)
    return fill(words, {"anatomy": anatomy, "disease": finding})


def open_text(anatomy: str, template: int, prompts: OwnPrompts = BUILT_IN) -> str:
    """Return the words of an open question."""
    return fill(PROMPTS.text(name_of("open", template), prompts), {"anatomy": anatomy})


def pools(key: str, chart: Chart, params: Params) -> Mapping[Kind, tuple[Pair, ...]]:
    """Return the possible questions about an image, by kind; open ones have no finding.

    Pairs that are neither present nor absent are not asked about.
    """
    image, present = chart.image(key), set(chart.related(key))
    unclear = chart.unclear(key)
    absent = tuple(
        pair
        for pair in _askable(chart, params)
        if pair[0] in image.anatomies and pair not in present | unclear
    )
    sick = {anatomy for anatomy, _ in present}
    return {
        Kind.POSITIVE: tuple(sorted(present)),
        Kind.HALLUCINATED: absent,
        Kind.ABNORMALITY: tuple((a, "") for a in image.anatomies if a in sick),
        Kind.NORMAL: tuple(
            (a, "") for a in image.anatomies if chart.is_healthy(key, a)
        ),
    }


def _askable(chart: Chart, params: Params) -> tuple[Pair, ...]:
    if params.hallucinated_from is HallucinatedFrom.CO_OCCURRING:
        return chart.co_occurring
    findings = sorted({f for image in chart.images for f in image.findings})
    return tuple((a, f) for a in params.anatomies for f in findings)


def _drawn(key: str, chart: Chart, params: Params, seed: int) -> list[Question]:
    rng = generator(seed, "questions", key)
    left = {
        kind: [pool[i] for i in rng.permutation(len(pool))]
        for kind, pool in pools(key, chart, params).items()
    }
    n = int(rng.integers(params.fewest_questions, params.most_questions + 1))
    kinds = _kinds(left, n, params, rng)
    return [
        _question(f"{key}#q{i}", key, chart, kind, left[kind].pop(), rng)
        for i, kind in enumerate(kinds, start=1)
    ]


def _kinds(
    left: Mapping[Kind, list[Pair]], n: int, params: Params, rng: np.random.Generator
) -> Iterator[Kind]:
    """Yield at most ``n`` kinds; one that is used up gives way to the next.

    A kind is taken from ``left`` before the next is drawn.
    """
    for _ in range(n):
        asks_open = bool(rng.random() < params.open_share)
        positive = bool(rng.random() < params.positive_share)
        closed = [Kind.POSITIVE, Kind.HALLUCINATED][:: 1 if positive else -1]
        opens = [Kind.ABNORMALITY, Kind.NORMAL][:: 1 if positive else -1]
        order = [*opens, *closed] if asks_open else [*closed, *opens]
        kind = next((kind for kind in order if left[kind]), None)
        if kind is None:
            return
        yield kind


def _question(
    name: str,
    key: str,
    chart: Chart,
    kind: Kind,
    pair: Pair,
    rng: np.random.Generator,
) -> Question:
    anatomy, finding = pair
    closed = kind in CLOSED
    template = int(rng.integers(len(templates("closed" if closed else "open"))))
    labels: tuple[str, ...]
    if closed:
        text = closed_text(anatomy, finding, template)
        labels = (finding,) if kind is Kind.POSITIVE else ()
    else:
        text, labels = open_text(anatomy, template), chart.findings_in(key, anatomy)
    patient = chart.image(key).patient
    return Question(name, key, patient, kind, anatomy, finding, template, text, labels)


def check_any(benchmark: Benchmark) -> None:
    """Raise if no image yields any question."""
    if not benchmark.questions:
        raise WrongUseError(
            "No question can be asked: no image has both an anatomy's mask and a "
            "finding's box.",
            "Import masks of anatomies and boxes of findings for the same images.",
        )
