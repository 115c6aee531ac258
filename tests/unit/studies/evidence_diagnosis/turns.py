"""Turns of a trial about a case, with replies, as the run path makes them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.helpers.evidence_cases import ENGLISH
from viewer.domain.case import Dataset, DatasetImage, ImageRef, View
from viewer.domain.evidence import EvidenceCase
from viewer.domain.exchange import ImagePart, ModelReply
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image import Raster, Window
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.interpretability import RandomText
from viewer.domain.places import PlaceWords
from viewer.domain.run import Step, Trial
from viewer.imaging.png import encode_png
from viewer.studies.evidence_diagnosis.params import Params, Task
from viewer.studies.evidence_diagnosis.showing import Showing
from viewer.studies.evidence_diagnosis.steps import Asking
from viewer.studies.steps import SentImage, StepReply, Turn

SEED = 5


def dataset_of(
    *cases: EvidenceCase, missing: Sequence[str] = (), name: str = "cases"
) -> Dataset:
    """Return a data set of cases; the images named are missing."""
    images = tuple(
        DatasetImage(
            key,
            case.key,
            case.key,
            View.OTHER,
            ImageRef(Path(key)),
            ImageGeometry(SizePx(4, 6)),
            "",
            defects={"*": "missing_file"} if key in missing else {},
        )
        for case in cases
        for key in case.images
    )
    items = tuple(case.item() for case in cases)
    root = images[0].ref.path
    return Dataset(name, "medsyn", root, images, (), "", items=items)


def turn_of(
    task: Task,
    replies: Sequence[tuple[Step, ModelReply]] = (),
    showing: Showing | None = None,
    case: EvidenceCase = ENGLISH,
) -> Turn:
    """Return a trial about a case with the replies so far."""
    item = case.item()
    condition = (showing or Showing()).condition(SEED)
    trial = Trial(
        item.named(task), case.key, "", "en", str(task), condition, 0, "model"
    )
    return Turn(trial, item, tuple(StepReply(step, reply) for step, reply in replies))


def asking(
    task: Task,
    params: Params,
    replies: Sequence[tuple[Step, ModelReply]] = (),
    showing: Showing | None = None,
) -> Asking:
    """Return a trial in the study's words."""
    return Asking(turn_of(task, replies, showing), params)


@dataclass
class FakeSources:
    """Images of one colour each, and a tokenizer that repeats a word."""

    dataset: Dataset
    interpretable: bool = False
    why_no_attention: str = ""
    tokens: bool = False
    seed: int = SEED
    asking: str = ""
    place_words: PlaceWords | None = None
    takes_boxes: bool = False
    needs_counts: bool = False
    validation: Dataset | None = None
    read: list[str] = field(default_factory=list)

    def random_text(self, like: str, seed: int) -> RandomText | None:
        """Return as many words as the text has."""
        n = len(like.split())
        text = " ".join(["tok"] * n)
        return RandomText(text, n, f"own {seed}") if self.tokens else None

    def image(self, key: str) -> DatasetImage:
        """Return an image's facts."""
        return next(image for image in self.dataset.images if image.key == key)

    def raster(self, key: str, window: Window | None = None) -> Raster:
        """Return a grey picture."""
        assert window is None
        self.read.append(key)
        return Raster(np.full((4, 6), len(key), dtype=np.uint8))

    def made(self, name: tuple[object, ...], make: Callable[[], Raster]) -> Raster:
        """Return what is made; no case has anything made of its images."""
        raise AssertionError((name, make))

    def example(
        self, image: str, name: tuple[object, ...], draw: Callable[[Raster], Raster]
    ) -> ImagePart:
        """Return nothing; no case begins with examples."""
        raise AssertionError((image, name, draw))

    def written_place(self, finding: str, box: BoxPx, of: SentImage) -> str:
        """Return nothing; no case begins with examples."""
        raise AssertionError((finding, box, of))

    def picture(self, raster: Raster, detail: str | None = None) -> ImagePart:
        """Return the bytes of a raster."""
        return ImagePart(encode_png(raster), detail=detail)
