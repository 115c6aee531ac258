"""The boxes of stored answers beside those of their references."""

from functools import lru_cache

from viewer.domain.answer import Answer, BoxesAnswer, MaskAnswer
from viewer.domain.box_reference import boxes_by_rule
from viewer.domain.case import DatasetImage
from viewer.domain.detection import Detection
from viewer.domain.geometry import BoxPx
from viewer.domain.reference import Mask
from viewer.domain.run import Trial
from viewer.metrics.parts import boxes_around
from viewer.services.bench import Bench
from viewer.services.harmonised import answer_of
from viewer.store.trials import ScoredTrial

_ByReader = tuple[tuple[str, tuple[BoxPx, ...]], ...]


def detection_of(bench: Bench, scored: ScoredTrial) -> Detection | None:
    """Return a trial's boxes and those to find.

    There are none to find where the finding is absent. None where the trial is
    excluded, or where the answer is of a kind that has no box: a cell, a point or a
    heat map.
    """
    if scored.trial.exclusion:
        return None
    answer = answer_of(bench, scored)
    if answer is not None and not isinstance(answer, BoxesAnswer | MaskAnswer):
        return None
    reference, by_reader = _to_find(bench, scored.trial)
    confidences = answer.confidences if isinstance(answer, BoxesAnswer) else ()
    return Detection(_predicted(answer), confidences, reference, by_reader)


def _to_find(bench: Bench, trial: Trial) -> tuple[tuple[BoxPx, ...], _ByReader]:
    """Return the boxes by the rule and each reader's; none of what is absent."""
    image = bench.images[trial.image]
    if bench.reference(trial) is None:
        readers = image.readers if len(image.readers) > 1 else ()
        return (), tuple((reader, ()) for reader in readers)
    rule = bench.places.reader_rule
    by_reader = tuple(_by_reader(image, trial.finding))
    return _reference(image, trial.finding, rule), by_reader


def _predicted(answer: Answer | None) -> tuple[BoxPx, ...]:
    if isinstance(answer, BoxesAnswer):
        return answer.boxes
    return _around(answer.mask) if isinstance(answer, MaskAnswer) else ()


def _reference(image: DatasetImage, finding: str, rule: str) -> tuple[BoxPx, ...]:
    return boxes_by_rule(image, finding, rule) or _around(image.masks[finding])


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
def _around(mask: Mask) -> tuple[BoxPx, ...]:
    return boxes_around(mask.array())
