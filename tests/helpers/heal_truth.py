"""What is in a phantom's images, counted pixel by pixel without the study's code."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from viewer.domain.case import Dataset, DatasetImage
from viewer.domain.geometry import BoxPx

ANATOMIES = (
    *("Right upper lung", "Right middle lung", "Right lower lung"),
    *("Left upper lung", "Left middle lung", "Left lower lung"),
    *("Heart", "Aorta"),
)
THRESHOLD = 0.10
LABELS = {
    "Airspace Opacity": "Lung Opacity",
    "Lung Lesion": "Nodule/Mass",
    "Pleural Effusion": "Pleural effusion",
}
"""What phantoms' findings are read as, where it is another word."""
Pair = tuple[str, str]


@dataclass(frozen=True)
class Asked:
    """A question as the data set holds it, ``number`` counting from 0."""

    number: int
    key: str
    image: str
    patient: str
    kind: str
    anatomy: str
    finding: str
    template: int
    labels: frozenset[str]

    @property
    def closed(self) -> bool:
        """Whether yes or no is the answer."""
        return self.kind in {"positive", "hallucinated"}

    @property
    def yes(self) -> bool:
        """Whether yes is the answer."""
        return self.kind == "positive"

    @property
    def told(self) -> str:
        """What its trials are counted under."""
        return self.finding or "any finding"


@dataclass(frozen=True)
class Truth:
    """A data set's questions, and the overlaps (IoU, IoA) of boxes with anatomies."""

    dataset: Dataset
    asked: tuple[Asked, ...]
    overlaps: Mapping[str, Mapping[Pair, tuple[float, float]]]

    def present(self, image: str) -> frozenset[Pair]:
        """Return the pairs that an image has."""
        found = self.overlaps[image].items()
        return frozenset(pair for pair, (iou, _) in found if iou > THRESHOLD)

    def swaps(self, q: Asked, test: str) -> frozenset[Pair]:
        """Return the pairs that may be asked instead: there somewhere, and not here."""
        somewhere = {pair for image in self.overlaps for pair in self.present(image)}
        same = 1 if test == "tpt-anatomy" else 0
        own = (q.anatomy, q.finding)
        return frozenset(
            pair
            for pair in somewhere - self.present(q.image)
            if pair[same] == own[same] and pair[1 - same] != own[1 - same]
        )

    def donors(self, q: Asked, test: str) -> frozenset[str]:
        """Return the images of others that may give their region to a test."""
        own = (q.anatomy, q.finding)
        found = set()
        for image in self.dataset.images:
            here = self.present(image.key)
            has = own in here
            healthy = q.anatomy not in {anatomy for anatomy, _ in here}
            other = image.patient != q.patient and image.view == self.view(q.image)
            if other and (has if test == "vpt-sham-same" else healthy):
                found.add(image.key)
        return frozenset(found)

    def view(self, key: str) -> object:
        """Return the view of an image."""
        return next(i.view for i in self.dataset.images if i.key == key)


def truth_of(dataset: Dataset) -> Truth:
    """Return what is in a data set with drawn questions; they must agree with it."""
    overlaps = {image.key: dict(_overlaps(image)) for image in dataset.images}
    truth = Truth(dataset, tuple(_asked(dataset)), overlaps)
    for q in truth.asked:
        here = truth.present(q.image)
        if q.closed:
            assert ((q.anatomy, q.finding) in here) == q.yes
        else:
            names = {finding for anatomy, finding in here if anatomy == q.anatomy}
            assert {LABELS.get(name, name) for name in names} == q.labels
            assert (q.kind == "abnormality") == bool(names)
    return truth


def _asked(dataset: Dataset) -> Iterator[Asked]:
    patients = {image.key: image.patient for image in dataset.images}
    for number, item in enumerate(dataset.items):
        labels = item.reference["labels"]
        assert isinstance(labels, list)
        yield Asked(
            number=number,
            key=item.key,
            image=item.images[0],
            patient=patients[item.images[0]],
            kind=item.kind,
            anatomy=str(item.facts["anatomy"]),
            finding=str(item.facts["finding"]),
            template=int(str(item.facts["template"])),
            labels=frozenset(LABELS.get(str(name), str(name)) for name in labels),
        )


def _overlaps(image: DatasetImage) -> Iterator[tuple[Pair, tuple[float, float]]]:
    for anatomy in ANATOMIES:
        region = image.anatomy[anatomy].array()
        assert region.any()
        for finding, boxes in image.boxes.items():
            each = [_overlap(inside(box.box, region.shape), region) for box in boxes]
            if max(ioa for _, ioa in each) > 0:
                best = max(iou for iou, _ in each), max(ioa for _, ioa in each)
                yield (anatomy, finding), best


def _overlap(box: np.ndarray, region: np.ndarray) -> tuple[float, float]:
    both, either = int((box & region).sum()), int((box | region).sum())
    return both / either, both / max(int(box.sum()), 1)


def inside(box: BoxPx, shape: Sequence[int]) -> np.ndarray:
    """Return the pixels whose centres a box holds, (rows, columns)."""
    y, x = np.mgrid[0 : shape[0], 0 : shape[1]] + 0.5
    across = (x >= box.x0) & (x < box.x1)
    return np.asarray(across & (y >= box.y0) & (y < box.y1))
