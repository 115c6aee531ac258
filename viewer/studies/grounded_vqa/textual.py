"""The textual perturbation test: another anatomy or finding in the question (TPT).

HEAL-MedVQA 3.1 and E002-09: of each true positive one of the two is replaced, so that
the new pair occurs in the data set; a grounded model then says No.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from viewer.metrics.seeding import generator
from viewer.studies.grounded_vqa.params import Params, Swaps
from viewer.studies.grounded_vqa.questions import Benchmark, Question
from viewer.studies.grounded_vqa.relations import Pair
from viewer.studies.grounded_vqa.templates import templates


class Swapped(StrEnum):
    """What of a question is replaced; the paper scores the two apart."""

    ANATOMY = "anatomy"
    FINDING = "disease"


@dataclass(frozen=True, slots=True)
class TextEdit:
    """A changed question and the one it came from.

    ``sham`` asks the same in other words, from ``template``.
    """

    of: str
    image: str
    swapped: Swapped | None
    anatomy: str
    finding: str
    template: int

    @property
    def sham(self) -> bool:
        """Whether nothing that matters was changed."""
        return self.swapped is None


@dataclass(frozen=True)
class TextPlan:
    """Edits of true positives, and those that have no valid swap, counted by kind."""

    edits: tuple[TextEdit, ...]
    without_swap: tuple[tuple[str, Swapped], ...]


def valid_swaps(
    question: Question, swapped: Swapped, benchmark: Benchmark, params: Params
) -> tuple[Pair, ...]:
    """Return the pairs that may replace a question's, sorted.

    They differ only in the swapped part and occur in the data set; if only absent pairs
    are wanted, they are neither present nor doubtful in the image, and the image has
    the anatomy's mask.
    """
    chart = benchmark.chart
    image = chart.image(question.image)
    pairs = [p for p in chart.co_occurring if _differs(p, question, swapped)]
    if not params.swap_absent_only:
        return tuple(pairs)
    taken = {*chart.related(question.image), *chart.unclear(question.image)}
    return tuple(p for p in pairs if p not in taken and p[0] in image.anatomies)


def plan_text_edits(
    true_positives: Iterable[Question], benchmark: Benchmark, params: Params, seed: int
) -> TextPlan:
    """Return the perturbed questions of a model's true positives, and their shams."""
    edits: list[TextEdit] = []
    without: list[tuple[str, Swapped]] = []
    for question in true_positives:
        for swapped in Swapped:
            pairs = valid_swaps(question, swapped, benchmark, params)
            if not pairs:
                without.append((question.key, swapped))
            edits += _swaps(question, swapped, pairs, params, seed)
        if params.sham:
            edits.append(_paraphrase(question, seed))
    return TextPlan(tuple(edits), tuple(without))


def _swaps(
    question: Question,
    swapped: Swapped,
    pairs: Sequence[Pair],
    params: Params,
    seed: int,
) -> list[TextEdit]:
    chosen = list(pairs)
    if params.swaps is Swaps.ONE and pairs:
        rng = generator(seed, "textual perturbation", question.key, swapped)
        chosen = [pairs[int(rng.integers(len(pairs)))]]
    return [
        TextEdit(question.key, question.image, swapped, *pair, question.template)
        for pair in chosen
    ]


def _paraphrase(question: Question, seed: int) -> TextEdit:
    """Return the same question after another template (E002-11)."""
    others = [i for i in range(len(templates("closed"))) if i != question.template]
    rng = generator(seed, "textual sham", question.key)
    template = others[int(rng.integers(len(others)))]
    return TextEdit(question.key, question.image, None, *question.pair, template)


def _differs(pair: Pair, question: Question, swapped: Swapped) -> bool:
    same_anatomy = pair[0] == question.anatomy
    same_finding = pair[1] == question.finding
    if swapped is Swapped.ANATOMY:
        return same_finding and not same_anatomy
    return same_anatomy and not same_finding
