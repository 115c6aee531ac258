"""The boxes of stored answers beside those of their references."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import compress

from viewer.domain.answer import Answer, BoxesAnswer, MaskAnswer
from viewer.domain.box_reference import boxes_by_rule
from viewer.domain.case import DatasetImage
from viewer.domain.detection import Detection
from viewer.domain.geometry import BoxPx
from viewer.domain.reference import Mask
from viewer.domain.run import Trial
from viewer.metrics.boxes import cut_to
from viewer.metrics.parts import boxes_around
from viewer.metrics.regions import mask_of_boxes
from viewer.services.bench import Bench
from viewer.services.harmonised import answer_of
from viewer.store.trials import ScoredTrial

_ByReader = tuple[tuple[str, tuple[BoxPx, ...]], ...]


def detection_of(bench: Bench, scored: ScoredTrial) -> Detection | None:
    """Return a trial's boxes and those to find, all cut to what was sent.

    What lies wholly beside it is neither a box nor to be found. There are none
    to find where the finding is absent. None where the trial is excluded, or where the
    answer is of a kind that has no box: a cell, a point or a heat map.
    """
    if scored.trial.exclusion:
        return None
    answer = answer_of(bench, scored)
    if answer is not None and not isinstance(answer, BoxesAnswer | MaskAnswer):
        return None
    image = bench.images[scored.trial.image]
    field = bench.places.field(image.size)
    predicted, confidences = _predicted(answer, field)
    reference, by_reader = _to_find(bench, scored.trial, image, field)
    return Detection(predicted, confidences, reference, by_reader)


def _to_find(
    bench: Bench, trial: Trial, image: DatasetImage, field: BoxPx
) -> tuple[tuple[BoxPx, ...], _ByReader]:
    """Return the boxes by the rule and each reader's; none of what is absent."""
    if bench.reference(trial) is None:
        readers = image.readers if len(image.readers) > 1 else ()
        return (), tuple((reader, ()) for reader in readers)
    rule = bench.places.reader_rule
    by_reader = tuple(
        (reader, _sent(boxes, field))
        for reader, boxes in _by_reader(image, trial.finding)
    )
    drawn = boxes_by_rule(image, trial.finding, rule)
    if drawn:
        return _sent(drawn, field), by_reader
    return _around(image.masks[trial.finding], field), by_reader


def _predicted(
    answer: Answer | None, field: BoxPx
) -> tuple[tuple[BoxPx, ...], tuple[float, ...]]:
    """Return an answer's boxes, cropped to the sent part, and any confidences."""
    if isinstance(answer, BoxesAnswer):
        cut = [cut_to(box, field) for box in answer.boxes]
        sure = compress(answer.confidences, cut)
        return tuple(box for box in cut if box), tuple(sure)
    return (_around(answer.mask, field) if isinstance(answer, MaskAnswer) else ()), ()


def _sent(boxes: Iterable[BoxPx], field: BoxPx) -> tuple[BoxPx, ...]:
    return tuple(cut for box in boxes if (cut := cut_to(box, field)))


def _by_reader(
    image: DatasetImage, finding: str
) -> list[tuple[str, tuple[BoxPx, ...]]]:
    boxes = image.boxes.get(finding, ())
    if not boxes or len(image.readers) < 2:
        return []
    return [
        (reader, tuple(b.box for b in boxes if b.reader == reader))
        for reader in image.readers
    ]


@lru_cache(maxsize=4096)
def _around(mask: Mask, field: BoxPx) -> tuple[BoxPx, ...]:
    return boxes_around(mask.array() & mask_of_boxes((field,), mask.size))
