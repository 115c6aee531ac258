"""The questions that a run asks, and the relations known for its images."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from viewer.domain.case import Dataset, DatasetImage, Notice
from viewer.domain.errors import WrongUseError
from viewer.domain.item import Item
from viewer.studies.grounded_vqa.items import (
    Unreadable,
    item_of,
    question_of,
    source_of,
)
from viewer.studies.grounded_vqa.params import Params
from viewer.studies.grounded_vqa.questions import (
    Benchmark,
    Question,
    build,
    check_any,
)
from viewer.studies.grounded_vqa.relations import (
    Chart,
    Charted,
    Overlap,
    RuleLoss,
    chart,
    rule_losses,
)


@dataclass(frozen=True)
class Drawn:
    """Questions as items, what could not be asked, and what the relations are.

    ``rules`` say what each rule of relations makes of the images; ``placed`` counts the
    images in which a finding is in an anatomy, by finding.
    """

    items: tuple[Item, ...]
    notices: tuple[Notice, ...]
    rules: tuple[RuleLoss, ...]
    placed: Mapping[str, int]


def drawn_items(
    dataset: Dataset,
    params: Params,
    seed: int,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Drawn:
    """Return questions about a data set's images.

    ``progress`` is called with how many images of how many were looked at.

    Raises
    ------
    WrongUseError
        No image has an anatomy that is asked about, or nothing can be asked.
    """
    charted = chart(dataset.images, params, progress)
    benchmark = build(charted, params, seed)
    check_any(benchmark)
    by_key = {image.key: image for image in dataset.images}
    rule, threshold = params.relation_rule.value, params.threshold
    items = tuple(
        item_of(q, rule, threshold, by_key[q.image].anatomy[q.anatomy])
        for q in benchmark.questions
    )
    placed = Counter(
        finding
        for image in charted.images
        for finding in {finding for _, finding in charted.related(image.image)}
    )
    return Drawn(items, benchmark.notices, rule_losses(charted, params), placed)


def benchmarks_of(dataset: Dataset, params: Params) -> tuple[Benchmark, ...]:
    """Return the questions that a data set holds, with its relations.

    There is one for each data set that its questions come from: pairs occur, and
    regions are given, within one. Relations come from boxes and masks where images have
    boxes, else from what the questions themselves answer.

    Raises
    ------
    WrongUseError
        The data set has no question, or the truth of its questions is that of another
        rule or threshold.
    """
    found = tuple(_benchmark(part, params) for part in _parts(dataset))
    if not any(one.questions for one in found):
        raise WrongUseError(
            f"The data set '{dataset.name}' has no questions about anatomies.",
            "Import HEAL-MedVQA's rows, or draw questions with overread questions.",
        )
    return found


def _parts(dataset: Dataset) -> Iterator[Dataset]:
    """Yield the questions of each source with its images.

    An image that nothing is asked about is of the source that its key begins with.
    """
    sources = tuple(dict.fromkeys(map(source_of, dataset.items)))
    if len(sources) < 2:
        yield dataset
        return
    asked = {key: source_of(item) for item in dataset.items for key in item.images}
    for source in sources:
        images = tuple(
            image
            for image in dataset.images
            if asked.get(image.key, image.key.partition("/")[0]) == source
        )
        items = tuple(i for i in dataset.items if source_of(i) == source)
        yield replace(dataset, images=images, items=items)


def _benchmark(dataset: Dataset, params: Params) -> Benchmark:
    found = [question_of(item, params.findings) for item in dataset.items]
    questions = tuple(q for q in found if isinstance(q, Question))
    notices = tuple(
        Notice(found.reason, item.key, "It is not a question of this study.")
        for item, found in zip(dataset.items, found, strict=True)
        if isinstance(found, Unreadable)
    )
    if not any(image.boxes for image in dataset.images):
        return Benchmark(questions, _chart(dataset.images, questions, params), notices)
    _check_rule(dataset.items, params)
    charted = chart(dataset.images, params)
    return Benchmark(questions, charted, (*notices, *charted.notices))


def _check_rule(items: Iterable[Item], params: Params) -> None:
    mine = (params.relation_rule.value, params.threshold)
    for item in items:
        theirs = (item.reference.get("rule"), item.reference.get("threshold"))
        if theirs not in {mine, (None, None)}:
            raise WrongUseError(
                f"The questions were drawn with {theirs[0]} above {theirs[1]}, but "
                f"the run has {mine[0]} above {mine[1]:g}.",
                "Draw them again, or set relation_rule and its threshold to match.",
            )


def _chart(
    images: Sequence[DatasetImage], questions: Sequence[Question], params: Params
) -> Chart:
    """Return the relations in answers; anything not asked about counts as absent.

    An unreadable image has none.
    """
    by_key = {image.key: image for image in images}
    asked: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        asked[question.image].append(question)
    relations = tuple(
        _of_image(by_key[key], of)
        for key, of in asked.items()
        if "*" not in by_key[key].defects
    )
    return Chart(params.relation_rule, params.threshold, params.touching, relations)


def _of_image(image: DatasetImage, questions: Sequence[Question]) -> Charted:
    pairs = dict.fromkeys((q.anatomy, label) for q in questions for label in q.labels)
    named = dict.fromkeys((*image.anatomy, *(q.anatomy for q in questions)))
    return Charted(
        image=image.key,
        patient=image.patient,
        view=image.view.value,
        anatomies=tuple(named),
        findings=tuple(sorted({finding for _, finding in pairs})),
        overlaps=tuple(Overlap(*pair, 1.0, 1.0) for pair in pairs),
        outlined=tuple(a for a, mask in image.anatomy.items() if not mask.is_empty),
    )
