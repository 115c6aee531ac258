"""The images, masks and words behind a run's numbers, for its figures."""

import numpy as np
import numpy.typing as npt

from viewer.domain.case import DatasetImage
from viewer.domain.conditions import window_of
from viewer.domain.exchange import TextPart
from viewer.domain.result import TrialResult
from viewer.domain.run import Condition, Trial
from viewer.imaging.luts import to_raster
from viewer.readers.pixels import load_pixels
from viewer.services.bench import ANSWER, Bench

_Greys = npt.NDArray[np.uint8]


class RunPictures:
    """A run's images as they were sent; read when they are asked for.

    Asking for those of a study whose answers are no places raises WrongUseError.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        conditions = bench.study.conditions(bench.params)
        self._conditions = {condition.name: condition for condition in conditions}

    def sent(self, image: str, condition: str) -> _Greys:
        """Return what was sent of an image but without its grid: (side, side) greys."""
        return _grey(self._bench.plain(image, self._condition(condition)).pixels)

    def gridded(self, image: str, condition: str) -> _Greys:
        """Return the very image that was sent, (rows, columns, 3)."""
        asked = self._condition(condition)
        raster, _ = self._bench.drawn.raster((image, window_of(asked)))
        pixels = self._bench.places.gridded(raster, asked).pixels
        return pixels if pixels.ndim == 3 else np.stack([pixels] * 3, axis=-1)

    def native(self, image: str, most: int) -> _Greys:
        """Return an image as it is, greys, its longer side about ``most`` pixels."""
        pixels = _grey(to_raster(load_pixels(self._image(image).ref)).pixels)
        step = max(1, -(-max(pixels.shape) // most))
        rows, columns = (n // step * step for n in pixels.shape)
        blocks = pixels[:rows, :columns].reshape(
            rows // step, step, columns // step, step
        )
        return np.asarray(np.rint(blocks.mean(axis=(1, 3))), dtype=np.uint8)

    def mask(self, image: str, finding: str) -> npt.NDArray[np.bool_]:
        """Return a reference mask as it lies on the square sent, (side, side)."""
        mask = self._image(image).masks[finding]
        return self._bench.places.shown_mask(mask)

    def prompt(self, result: TrialResult) -> str:
        """Return the words that a trial was asked in."""
        draft = self._bench.draft(self._trial(result), ANSWER, ())
        parts = (p for m in draft.request.messages for p in m.parts)
        return "\n".join(part.text for part in parts if isinstance(part, TextPart))

    def _image(self, name: str) -> DatasetImage:
        return self._bench.images[name]

    def _condition(self, name: str) -> Condition:
        return self._conditions.get(name, Condition(name))

    def _trial(self, result: TrialResult) -> Trial:
        return Trial(
            item=result.item,
            patient=result.patient,
            image=result.image,
            view=result.view,
            finding=result.finding,
            condition=self._condition(result.condition),
            repeat=result.repeat,
            model=result.model,
        )


def _grey(pixels: _Greys) -> _Greys:
    """Return greys of what may be colour, by the mean of its channels."""
    if pixels.ndim == 2:
        return pixels
    return np.asarray(np.rint(pixels.mean(axis=2)), dtype=np.uint8)
