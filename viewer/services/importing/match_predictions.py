"""Matching of a file's predictions to questions, and writing them as replies."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from viewer.domain.answer import (
    BoxesAnswer,
    HeatMapAnswer,
    MaskAnswer,
    PointAnswer,
    Status,
    Unparsed,
)
from viewer.domain.answer_json import answer_as_json
from viewer.domain.case import Dataset, DatasetImage
from viewer.domain.counting import counted
from viewer.domain.errors import WrongUseError
from viewer.domain.finding_names import concept
from viewer.domain.geometry import BoxPx, PointPx, PolygonPx, SizePx
from viewer.domain.prediction import NO_PREDICTION, Coordinates, Prediction
from viewer.domain.reference import Mask
from viewer.domain.run import Trial
from viewer.imaging.coco_outline import covered
from viewer.services.importing.answering_file import used_words
from viewer.services.trials.run_context import RunContext

_Key = tuple[str, str, str, str]
_ANYWHERE: Final = ("", "")
"""The condition and repeat of a prediction that holds under any."""
_KINDS: Final[Mapping[type, str]] = {
    str: "cell",
    PointPx: "point",
    BoxPx: "box",
    tuple: "mask",
    Mask: "mask",
    HeatMapAnswer: "map",
    Unparsed: "nothing",
}


@dataclass(frozen=True)
class Matched:
    """The result of matching a file's predictions.

    ``texts`` are the replies by ``item|condition|repeat``; ``items`` were planned and
    ``answered`` of them have a prediction. Unused predictions are counted by name:
    ``images`` that are unknown or ambiguous in the data set, ``findings`` that are not
    asked, and ``others``, items that are not planned or under another condition;
    ``placeless`` are rows and masks without a location.
    """

    texts: Mapping[str, str]
    used: int
    items: int
    answered: int
    images: Mapping[str, int]
    findings: Mapping[str, int]
    others: Mapping[str, int]
    placeless: int = 0

    @property
    def sentence(self) -> str:
        """How many predictions are used, for how many items, and how many have none."""
        used = counted(self.used, "prediction")
        return used_words(used, self.answered, self.items)

    @property
    def unused(self) -> tuple[str, ...]:
        """One line for each name with unused predictions."""
        kinds = (
            ("is not one image of the data set", self.images),
            ("is not asked", self.findings),
            ("is not planned", self.others),
        )
        lines = [
            f"{counted(n, 'prediction')} not used: {name} {why}"
            for why, names in kinds
            for name, n in sorted(names.items())
        ]
        if self.placeless:
            n = counted(self.placeless, "prediction")
            lines.append(f"{n} not used: they contain no location")
        return tuple(lines)


def match_predictions(
    predictions: Sequence[Prediction],
    planned: Sequence[Trial],
    context: RunContext,
    coordinates: Coordinates | None,
) -> Matched:
    """Give each planned trial the answer that a file has for it.

    ``coordinates`` is the unit of numbers if the file does not name one; if neither
    does, a location raises ``WrongUseError``, because the unit is never guessed. A
    trial without a prediction gets the answer ``NO_PREDICTION``.
    """
    find = image_finder(context.dataset)
    groups: dict[_Key, list[Prediction]] = defaultdict(list)
    images: Counter[str] = Counter()
    placeless = 0
    for one in predictions:
        image = find(one)
        if one.place is None:
            placeless += 1
        elif image is None:
            images[one.image or one.patient] += 1
        else:
            key = (image.key, concept(one.finding), one.condition, one.repeat)
            groups[key].append(one)
    trials = [trial for trial in planned if not trial.exclusion]
    texts: dict[str, str] = {}
    used: set[_Key] = set()
    for trial in trials:
        key = _key_of(trial, groups)
        used |= {key} & groups.keys()
        text = _text(context, trial, groups.get(key, ()), coordinates)
        if text is not None:
            texts[f"{trial.item}|{trial.condition.name}|{trial.repeat}"] = text
    findings, others = _left(groups, used, {concept(t.finding) for t in trials})
    return Matched(
        texts=texts,
        used=sum(len(groups[key]) for key in used),
        items=len({trial.item for trial in trials}),
        answered=len({key[:2] for key in used}),
        images=images,
        findings=findings,
        others=others,
        placeless=placeless,
    )


def image_finder(
    dataset: Dataset,
) -> Callable[[Prediction], DatasetImage | None]:
    """Return a function that finds a prediction's image by key, file name or patient.

    A file name may lack its suffix. A name shared by several images finds none.
    """
    by_key = {image.key: image for image in dataset.images}
    named: dict[str, set[str]] = defaultdict(set)
    patients: dict[str, set[str]] = defaultdict(set)
    for image in dataset.images:
        for name in (image.ref.path.name, image.ref.path.stem):
            named[name].add(image.key)
        patients[image.patient].add(image.key)

    def find(one: Prediction) -> DatasetImage | None:
        if one.image in by_key:
            return by_key[one.image]
        name = one.image.replace("\\", "/").rpartition("/")[2]
        keys = named.get(name, set()) if one.image else patients.get(one.patient, set())
        return by_key[next(iter(keys))] if len(keys) == 1 else None

    return find


def _key_of(trial: Trial, groups: Mapping[_Key, object]) -> _Key:
    """Return the most specific key that the file has for a trial."""
    condition, repeat = trial.condition.name, str(trial.repeat)
    for under in ((condition, repeat), (condition, ""), ("", repeat)):
        key = (trial.image, concept(trial.finding), *under)
        if key in groups:
            return key
    return (trial.image, concept(trial.finding), *_ANYWHERE)


def _left(
    groups: Mapping[_Key, Sequence[Prediction]], used: set[_Key], asked: set[str]
) -> tuple[Counter[str], Counter[str]]:
    findings: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for key in groups.keys() - used:
        if key[1] in asked:
            others[" ".join(part for part in key if part)] += len(groups[key])
        else:
            findings.update(one.finding for one in groups[key])
    return findings, others


def _text(
    context: RunContext,
    trial: Trial,
    found: Sequence[Prediction],
    coordinates: Coordinates | None,
) -> str | None:
    """Return a trial's reply; None if the file says that there was none."""
    kinds = {_KINDS[type(one.place)] for one in found}
    if not kinds:
        return answer_as_json(Unparsed(Status.UNPARSED, NO_PREDICTION))
    if len(kinds) > 1:
        return answer_as_json(Unparsed(Status.AMBIGUOUS, "several_kinds"))
    if kinds == {"mask"}:
        size = context.images[trial.image].size
        return answer_as_json(_mask(context, trial, found, coordinates, size))
    if kinds == {"box"}:
        return answer_as_json(_boxes(context, trial, found, coordinates))
    places = list(dict.fromkeys(one.place for one in found))
    if len(places) > 1:
        why = f"several_{kinds.pop()}s"
        return answer_as_json(Unparsed(Status.AMBIGUOUS, why))
    return _single(context, trial, found[0], coordinates)


def _single(
    context: RunContext, trial: Trial, one: Prediction, coordinates: Coordinates | None
) -> str | None:
    place = one.place
    if isinstance(place, str):
        return place
    if isinstance(place, PointPx):
        point = _native(context, trial, one, coordinates)(place)
        return answer_as_json(PointAnswer(point))
    if isinstance(place, Unparsed):
        failed = place.status is Status.PROVIDER_ERROR
        return None if failed else answer_as_json(place)
    assert isinstance(place, HeatMapAnswer)  # noqa: S101 - the other kinds are gone
    return answer_as_json(place)


def _boxes(
    context: RunContext,
    trial: Trial,
    found: Sequence[Prediction],
    coordinates: Coordinates | None,
) -> BoxesAnswer | Unparsed:
    boxes = []
    for one in found:
        box, native = one.place, _native(context, trial, one, coordinates)
        if isinstance(box, BoxPx):
            a, b = native(PointPx(box.x0, box.y0)), native(PointPx(box.x1, box.y1))
            boxes.append(BoxPx(a.x, a.y, b.x, b.y))
    sure = [one.score for one in found if one.score is not None]
    if sure and len(sure) < len(boxes):
        return Unparsed(Status.UNPARSED, "not_a_confidence_each")
    return BoxesAnswer(tuple(boxes), tuple(sure))


def _mask(
    context: RunContext,
    trial: Trial,
    found: Sequence[Prediction],
    coordinates: Coordinates | None,
    size: SizePx,
) -> MaskAnswer | Unparsed:
    whole = np.zeros((size.rows, size.columns), dtype=np.bool_)
    for one in found:
        place = one.place
        if isinstance(place, Mask):
            if place.size != size:
                return Unparsed(Status.UNPARSED, "mask_size")
            whole |= place.array()
        elif isinstance(place, tuple):
            native = _native(context, trial, one, coordinates)
            for outline in place:
                moved = PolygonPx(tuple(map(native, outline.points)))
                whole |= covered(moved, size)
    if not whole.any():
        return Unparsed(Status.UNPARSED, "empty_mask")
    return MaskAnswer(Mask.of_array(whole))


def _native(
    context: RunContext, trial: Trial, one: Prediction, coordinates: Coordinates | None
) -> Callable[[PointPx], PointPx]:
    """Return a function that converts a point as written to native pixels."""
    meant = one.coordinates or coordinates
    shown = context.shown(trial)
    if meant is None:
        raise WrongUseError(
            "The units of these predictions' coordinates are not stated.",
            "State whether they are native, normalised or sent (--coordinates).",
        )
    if meant is Coordinates.SENT:
        return shown.to_sent.inverse().apply
    if meant is Coordinates.NORMALISED:
        size = shown.native
        return lambda p: PointPx(p.x * size.columns, p.y * size.rows)
    return lambda p: p


def findings_of(predictions: Sequence[Prediction]) -> tuple[str, ...]:
    """Return the findings that predictions are about, in the file's order."""
    return tuple(dict.fromkeys(one.finding for one in predictions))


def models_of(predictions: Sequence[Prediction]) -> tuple[str, ...]:
    """Return the models that a file names, in the file's order."""
    return tuple(dict.fromkeys(one.model for one in predictions if one.model))
