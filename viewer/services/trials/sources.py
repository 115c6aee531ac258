"""Images for a run's questions, recording which were used."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from viewer.domain.case import Dataset, DatasetImage, ImageRef
from viewer.domain.errors import PrivacyError, WrongUseError
from viewer.domain.exchange import ImagePart, ModelProfile
from viewer.domain.geometry import BoxPx
from viewer.domain.image import PixelImage, Raster, Window
from viewer.domain.interpretability import RandomText
from viewer.domain.item import Item
from viewer.domain.places import PlaceWords
from viewer.domain.privacy import pixels_sha256
from viewer.imaging.luts import to_raster
from viewer.imaging.png import encode_png
from viewer.imaging.resample import squared
from viewer.models.catalog import adapter_for, reader_for, spec_of
from viewer.models.interpretability import is_interpretable, why_no_attention
from viewer.models.loaded import not_loaded
from viewer.models.protocol import SamplesTokens
from viewer.readers.pixels import load_pixels
from viewer.services.privacy.burned_in import check_pixels, windowed
from viewer.services.privacy.gate import About, Gate, Looked
from viewer.services.trials.memo import Memo
from viewer.services.trials.placed_answer import (
    Shown,
    asking_of,
    place_words_of,
    written_place,
)
from viewer.studies.controls import NOISE_MEAN, NOISE_SD, noise_for
from viewer.studies.steps import Question, SentImage

PIXEL_IMAGES_KEPT: Final = 4
RASTERS_KEPT: Final = 8
PICTURES_KEPT: Final = 8
"""What was made of images, and their bytes: enough for trials beside one another."""
EXAMPLES_KEPT: Final = 512


@dataclass(frozen=True)
class Made:
    """A cache by name for what is expensive to make."""

    name: tuple[object, ...]
    make: Callable[[], Raster] = field(compare=False)


@dataclass(frozen=True)
class Example:
    """An image of the examples' data set, as ``draw`` renders it under a name."""

    image: str
    name: tuple[object, ...]
    draw: Callable[[Raster], Raster] = field(compare=False)


class RunImages:
    """The images of a run, as displayed and as PNG bytes; the latest are cached.

    Thread-safe. Examples come from ``validation``.
    """

    def __init__(
        self, dataset: Dataset, gate: Gate, validation: Dataset | None = None
    ) -> None:
        self.dataset, self.gate, self.validation = dataset, gate, validation
        self.by_key: Mapping[str, DatasetImage] = {i.key: i for i in dataset.images}
        self.pixels = Memo[ImageRef, PixelImage](load_pixels, PIXEL_IMAGES_KEPT)
        self.raster = Memo[tuple[str, Window | None], tuple[Raster, str]](
            self._raster, RASTERS_KEPT
        )
        self.made = Memo[Made, Raster](lambda wanted: wanted.make(), PICTURES_KEPT)
        self.png = Memo[Raster, bytes](encode_png, PICTURES_KEPT)
        self.example = Memo[Example, tuple[bytes, Looked]](self._example, EXAMPLES_KEPT)
        self._looks = Memo[tuple[ImageRef, Window | None, str], None](
            self._look, 1 << 20
        )

    def pixels_of(self, image: str) -> PixelImage:
        """Return an image with the geometry registered for it in the data set.

        References and answers refer to that geometry.
        """
        return _as_known(self.by_key[image], self.pixels)

    def _raster(self, key: tuple[str, Window | None]) -> tuple[Raster, str]:
        """Return a displayed image, and the SHA-256 of its pixels."""
        name, window = key
        image = self.pixels_of(name)
        shown = windowed(self.gate.as_sent(image), window)
        return to_raster(shown), pixels_sha256(image)

    def _example(self, wanted: Example) -> tuple[bytes, Looked]:
        """Return an example as PNG bytes, with redactions applied, and its source."""
        assert self.validation is not None  # noqa: S101 - examples are drawn from it
        known = next(one for one in self.validation.images if one.key == wanted.image)
        image = _as_known(known, self.pixels)
        raster = to_raster(self.gate.as_sent(image))
        return encode_png(wanted.draw(raster)), Looked(known, pixels_sha256(image))

    def check_pixels(self, looked: Looked) -> None:
        """Raise if an image's pixels must stay on this machine.

        Only pixels with the given hash are checked, as they would be sent: a file may
        change during a run.
        """
        self._looks((looked.image.ref, looked.window, looked.pixels_sha256))

    def _look(self, key: tuple[ImageRef, Window | None, str]) -> None:
        ref, window, sha256 = key
        image = self.pixels(ref)
        # The raster may come from the cache: the file is hashed as it is now.
        if pixels_sha256(image) != sha256:
            raise PrivacyError(
                "An image was not sent: its file changed in the meantime.",
                "Ask again.",
            )
        check_pixels(ref, image, self.gate.reviews, window)


def _as_known(
    known: DatasetImage, pixels: Callable[[ImageRef], PixelImage]
) -> PixelImage:
    return replace(pixels(known.ref), geometry=known.geometry)


class RunSources:
    """The images for one question; it records every image that was read.

    Under a control of images, ``noise`` or others (``instead``, by key) are shown in
    their place.
    """

    def __init__(
        self,
        images: RunImages,
        seed: int,
        asked: ModelProfile | None = None,
        *,
        noise: bool = False,
        instead: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._images, self._seed, self._asked = images, seed, asked
        self._noise, self._instead = noise, instead
        self._looked: dict[tuple[str, Window | None], Looked] = {}
        self._examples: dict[str, Looked] = {}
        self._made: set[bytes] = set()

    @property
    def dataset(self) -> Dataset:
        """The data set asked about."""
        return self._images.dataset

    @property
    def seed(self) -> int:
        """The run's seed."""
        return self._seed

    @property
    def interpretable(self) -> bool:
        """Whether the model gives access to its attention and likelihoods."""
        asked = self._asked
        return asked is not None and is_interpretable(spec_of(asked), asked)

    @property
    def asking(self) -> str:
        """The convention whose wording asks the model for a location, "" for a cell."""
        return "" if self._asked is None else asking_of(self._asked)

    @property
    def place_words(self) -> PlaceWords | None:
        """How the model asked is told to write places, None without a convention."""
        return None if self._asked is None else place_words_of(self._asked)

    @property
    def takes_boxes(self) -> bool:
        """Whether the model segments boxes that it is given."""
        return self._asked is not None and spec_of(self._asked).takes_boxes

    @property
    def needs_counts(self) -> bool:
        """Whether the model needs other patients' reference counts."""
        return self._asked is not None and spec_of(self._asked).needs_counts

    @property
    def validation(self) -> Dataset | None:
        """The data set of few-shot examples, None if there are none."""
        return self._images.validation

    @property
    def why_no_attention(self) -> str:
        """Why the attention of the model cannot be measured, "" if it can."""
        if self._asked is None:
            return "No model is asked."
        return why_no_attention(spec_of(self._asked), self._asked)

    def random_text(self, like: str, seed: int) -> RandomText | None:
        """Return as many random tokens of the model as ``like`` has, if possible."""
        if self._asked is None:
            return None
        adapter = adapter_for(self._asked, self._images.gate.allowance(self._asked))
        if not isinstance(adapter, SamplesTokens):
            return None
        try:
            reader_for(self._asked).identity(0)
        except WrongUseError as error:
            raise not_loaded(error) from error  # nothing more of it can be asked
        return adapter.random_text(like, seed)

    def image(self, key: str) -> DatasetImage:
        """Return an image of the data set, without its pixels."""
        return self._images.by_key[key]

    def raster(self, key: str, window: Window | None = None) -> Raster:
        """Return a displayed image; the gate checks it before anything is sent."""
        if self._noise:
            return noise_for(key, key, self, NOISE_MEAN, NOISE_SD)
        key = self._instead.get(key, key)
        raster, sha256 = self._images.raster((key, window))
        self._looked[key, window] = Looked(self.image(key), sha256, window)
        return raster

    def made(self, name: tuple[object, ...], make: Callable[[], Raster]) -> Raster:
        """Return a picture by name, made once for concurrent trials."""
        shown = "noise" if self._noise else "others" if self._instead else ""
        return self._images.made(Made((shown, *name), make))

    def picture(self, raster: Raster, detail: str | None = None) -> ImagePart:
        """Return a raster as the exact bytes to send, with square pixels."""
        png = self._images.png(squared(raster))
        self._made.add(png)
        return ImagePart(png, detail=detail)

    def example(
        self, image: str, name: tuple[object, ...], draw: Callable[[Raster], Raster]
    ) -> ImagePart:
        """Return an image of the validation data set, rendered once per name."""
        png, looked = self._images.example(Example(image, name, draw))
        self._examples[image] = looked
        self._made.add(png)
        return ImagePart(png)

    def written_place(self, finding: str, box: BoxPx, of: SentImage) -> str:
        """Return a native box as the model would answer with it."""
        assert self._asked is not None  # noqa: S101 - a model is asked for places
        shown = Shown(finding, of.native, of.field, of.sent, of.grid)
        return written_place(self._asked, box, shown)

    def about(self, item: Item | None, question: Question) -> About:
        """Return the images that the gate checks: those read, and those of the item.

        A reply's text was never in a file's header, but may repeat what a question
        contained; only the template is known to be ours.
        """
        beside = tuple(self.image(key) for key in item.images) if item else ()
        return About(
            (*self._looked.values(), *self._examples.values()),
            frozenset(self._made),
            (question.template,),
            beside,
            item,
        )
