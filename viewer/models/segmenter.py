"""Segmentation inside a box: SAM and its relatives, such as MedSAM.

Any folder works whose config.json says ``sam`` and which transformers' SamModel and
SamProcessor can load (Kirillov 2023; Ma 2024). torch and transformers are imported when
a model is first loaded.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import (
    MissingDependencyError,
    OverreadError,
    WrongUseError,
    where_to_get,
)
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image import Raster
from viewer.imaging.resample import shrunk_mask, squared
from viewer.models.loaded import (
    Held,
    Holder,
    Made,
    Progress,
    check_cancelled,
    loading_alone,
)
from viewer.models.transformers_local.failures import is_out_of_memory
from viewer.models.transformers_local.files import ModelFiles, model_files
from viewer.models.transformers_local.foreign import Foreign, transformers
from viewer.models.transformers_local.memory import check_fits, weight_bytes

_KIND: Final = "sam"
_DTYPE: Final = "float32"


@dataclass(frozen=True, eq=False)
class Segmented:
    """A segmenter's result for a box.

    ``mask`` is (rows, columns) bool in native pixels; ``quality`` is the segmenter's
    own estimate of its intersection over union with the truth, 0 to 1.
    """

    box: BoxPx
    mask: npt.NDArray[np.bool_]
    quality: float


@dataclass(frozen=True)
class _Loaded:
    model: Foreign
    processor: Foreign
    device: str


class Segmenter(Held[_Loaded]):
    """One model folder; thread-safe. Segmenting loads it first.

    Parameters
    ----------
    folder : Path
        With config.json, preprocessor or processor config and *.safetensors.
    device : str
        ``cpu``, ``cuda``, or ``auto`` for a GPU if there is one.
    """

    def __init__(self, folder: Path, device: str = "auto") -> None:
        self._folder, self._device = folder.expanduser(), device
        self._holder = Holder(self._make, _release)

    def memory_bytes(self) -> int:
        """Return the size of its weights in bytes, also before they are loaded."""
        return self._holder.memory_bytes or weight_bytes(self._files(), _DTYPE)

    def provenance(self) -> Mapping[str, str]:
        """Return the model's name, the hash of its files, and the versions used."""
        files = self._files()
        return {
            "model": files.name,
            "revision": files.revision,
            "torch": version("torch"),
            "transformers": version("transformers"),
        }

    def segment(self, raster: Raster, boxes: Sequence[BoxPx]) -> tuple[Segmented, ...]:
        """Return the segment in each box, in the order of the boxes.

        Raises
        ------
        WrongUseError
            If a box is outside the image or empty, or the files are not such a model.
        ProviderError
            If the model cannot be loaded.
        """
        inside = [_inside(box, raster.size) for box in boxes]
        shown = squared(raster)
        with self.ready() as loaded:
            masks, qualities = self._answered(
                loaded, shown, [_on(box, raster.size, shown.size) for box in inside]
            )
        return tuple(
            Segmented(box, shrunk_mask(mask, raster.size), quality)
            for box, mask, quality in zip(boxes, masks, qualities, strict=True)
        )

    @contextmanager
    def ready(self) -> Iterator[_Loaded]:
        """Keep the model loaded meanwhile; loading is not part of an answer's time."""
        with self._holder.in_use() as loaded:
            yield loaded

    def _files(self) -> ModelFiles:
        if not self._folder.is_dir():
            raise WrongUseError(
                f"There is no model folder '{self._folder.name}'.",
                "Give the folder of a SAM or MedSAM model.",
            )
        files = model_files(self._folder.name, self._folder)
        if files.model_type != _KIND:
            raise WrongUseError(
                f"The model '{files.name}' is a '{files.model_type}', not a segmenter "
                "that takes boxes.",
                "Give the folder of a SAM or MedSAM model.",
            )
        return files

    def _make(self, progress: Progress, cancelled: threading.Event) -> Made[_Loaded]:
        _check_installed()
        files = self._files()
        device = _device_named(self._device)
        check_fits(files.name, weight_bytes(files, _DTYPE), device)
        progress(0.1, "loading the segmenter")
        with loading_alone(cancelled):
            loaded = _loaded(files, device)
        check_cancelled(cancelled)
        progress(1.0, "loaded")
        return Made(loaded, int(loaded.model.get_memory_footprint()))

    def _answered(
        self, loaded: _Loaded, raster: Raster, boxes: Sequence[BoxPx]
    ) -> tuple[list[npt.NDArray[np.bool_]], list[float]]:
        try:
            return _segmented(loaded, raster, boxes)
        except RuntimeError as error:
            if is_out_of_memory(error):
                raise WrongUseError(
                    "Memory ran out while the segmenter processed the image.",
                    "Unload another model, or segment fewer boxes at once.",
                ) from error
            raise _does_not_answer(self._folder, error) from error


def _segmented(
    loaded: _Loaded, raster: Raster, boxes: Sequence[BoxPx]
) -> tuple[list[npt.NDArray[np.bool_]], list[float]]:
    import torch

    corners = [[[box.x0, box.y0, box.x1, box.y1] for box in boxes]]
    inputs = loaded.processor(
        images=_colour(raster), input_boxes=corners, return_tensors="pt"
    )
    with torch.no_grad():
        output = loaded.model(
            pixel_values=inputs["pixel_values"].to(loaded.device),
            input_boxes=inputs["input_boxes"].float().to(loaded.device),
            # SAM's three masks are for ambiguous prompts, such as a single point.
            multimask_output=False,
        )
    (masks,) = loaded.processor.image_processor.post_process_masks(
        output.pred_masks.cpu(),
        inputs["original_sizes"],
        inputs["reshaped_input_sizes"],
    )
    qualities = output.iou_scores[0, :, 0].float().cpu().tolist()
    return [np.asarray(mask[0], dtype=np.bool_) for mask in masks], qualities


def _loaded(files: ModelFiles, device: str) -> _Loaded:
    library = transformers()
    try:
        model = library.SamModel.from_pretrained(
            files.folder, local_files_only=True, use_safetensors=True
        )
        processor = library.SamProcessor.from_pretrained(
            files.folder, local_files_only=True
        )
        return _Loaded(model.to(device).eval(), processor, device)
    except Exception as error:  # transformers raises whatever comes its way
        raise _cannot_load(files, error) from error


def _cannot_load(files: ModelFiles, error: Exception) -> OverreadError:
    if is_out_of_memory(error):
        return WrongUseError(
            f"Memory ran out while the segmenter {files.name} was loaded.",
            "Unload another model, or choose a smaller one.",
        )
    return WrongUseError(
        f"The segmenter {files.name} cannot be loaded ({type(error).__name__}).",
        "Its files are damaged or do not belong together; download it again.",
    )


def _does_not_answer(folder: Path, error: Exception) -> OverreadError:
    return WrongUseError(
        f"The segmenter {folder.name} could not process the image "
        f"({type(error).__name__}).",
        "Its files do not belong together; download it again.",
    )


def _inside(box: BoxPx, size: SizePx) -> BoxPx:
    """Return the part of a box that lies on the image; raises if there is none."""
    cut = BoxPx(
        max(box.x0, 0.0),
        max(box.y0, 0.0),
        min(box.x1, float(size.columns)),
        min(box.y1, float(size.rows)),
    )
    if not (cut.x0 < cut.x1 and cut.y0 < cut.y1):
        raise WrongUseError(
            "A box to segment is empty or lies outside the image of "
            f"{size.columns} × {size.rows} pixels.",
            "Write it as x0,y0,x1,y1 in pixels, x to the right and y down.",
        )
    return cut


def _on(box: BoxPx, native: SizePx, shown: SizePx) -> BoxPx:
    """Convert a native box to the displayed image, which has square pixels."""
    x, y = shown.columns / native.columns, shown.rows / native.rows
    return BoxPx(box.x0 * x, box.y0 * y, box.x1 * x, box.y1 * y)


def _colour(raster: Raster) -> npt.NDArray[np.uint8]:
    pixels = raster.pixels
    return pixels if pixels.ndim == 3 else np.repeat(pixels[..., None], 3, axis=2)


def _device_named(device: str) -> str:
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise WrongUseError(
            "The segmenter is set to run on cuda, which torch does not find.",
            "Set the device to auto or cpu, or install torch for this GPU.",
        )
    return device


def _check_installed() -> None:
    from importlib.util import find_spec

    for module in ("torch", "transformers"):
        if find_spec(module) is None:
            raise MissingDependencyError(
                f"Segmenting needs {module} ({where_to_get('overread[local]')})."
            )


def _release() -> None:
    """Release the GPU memory that torch has cached."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
