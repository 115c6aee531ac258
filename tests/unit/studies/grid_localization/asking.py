"""What a question of the study is made of, without a run."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from viewer.domain.case import Dataset, DatasetImage
from viewer.domain.exchange import ImagePart, ModelReply
from viewer.domain.geometry import BoxPx
from viewer.domain.image import Raster, Window
from viewer.domain.interpretability import RandomText
from viewer.domain.item import Item
from viewer.domain.places import PlaceWords
from viewer.domain.run import Step, Trial
from viewer.imaging.png import encode_png
from viewer.studies.steps import SentImage, StepReply, Turn

RAMP = Raster(
    np.add.outer(np.arange(300), np.arange(400)).clip(0, 255).astype(np.uint8)
)


@dataclass
class FakeSources:
    """The same picture whatever is asked about."""

    dataset: Dataset
    shown: Raster = RAMP
    seed: int = 0
    asking: str = ""
    place_words: PlaceWords | None = None
    takes_boxes: bool = False
    needs_counts: bool = False
    interpretable: bool = False
    why_no_attention: str = ""
    validation: Dataset | None = None
    windows: list[Window | None] = field(default_factory=list)

    def random_text(self, like: str, seed: int) -> RandomText | None:
        """Return nothing; no trial of the study asks for any."""
        raise AssertionError((like, seed))

    def image(self, key: str) -> DatasetImage:
        """Return an image's facts."""
        return next(image for image in self.dataset.images if image.key == key)

    def raster(self, key: str, window: Window | None = None) -> Raster:
        """Return the picture."""
        assert key
        self.windows.append(window)
        return self.shown

    def made(self, name: tuple[object, ...], make: Callable[[], Raster]) -> Raster:
        """Return what is made."""
        assert name
        return make()

    def picture(self, raster: Raster, detail: str | None = None) -> ImagePart:
        """Return the bytes of a raster."""
        return ImagePart(encode_png(raster), detail=detail)

    def example(
        self, image: str, name: tuple[object, ...], draw: Callable[[Raster], Raster]
    ) -> ImagePart:
        """Return the picture as it is drawn."""
        assert image
        assert name
        return ImagePart(encode_png(draw(self.shown)))

    def written_place(self, finding: str, box: BoxPx, of: SentImage) -> str:
        """Return the box in pixels of the square that is sent."""
        scale = of.sent.columns / (of.field.x1 - of.field.x0)
        x0, x1 = ((x - of.field.x0) * scale for x in (box.x0, box.x1))
        y0, y1 = ((y - of.field.y0) * scale for y in (box.y0, box.y1))
        return f"{finding}: {x0:g}, {y0:g}, {x1:g}, {y1:g}"


def turn_of(
    trial: Trial, dataset: Dataset, *replies: ModelReply, placed: object = None
) -> Turn:
    """Return where a trial stands after some replies."""
    said = tuple(StepReply(Step("answer"), one, lambda: placed) for one in replies)  # type: ignore[arg-type, return-value]
    item = Item(trial.item, trial.patient, images=(trial.image,))
    return Turn(trial, item, said, {image.key: image for image in dataset.images})
