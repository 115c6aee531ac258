"""A disc as a mask in every form that annotation tools and image editors write.

Each is the same finding, or cannot say what is. A saliency map is what CheXlocalize
pickles.
"""

import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFilter

from tests.helpers.make_raster import Page, write_tiff

SIDE: Final = 96
_y, _x = np.mgrid[0:SIDE, 0:SIDE]
DISC: Final[npt.NDArray[np.bool_]] = (_y - 40) ** 2 + (_x - 50) ** 2 < 21**2
"""(96, 96), True in the finding: 15 % of the image, nowhere at its border."""
_CLEAR, _RED, _WHITE = (0, 0, 0), (255, 0, 0), (255, 255, 255)
Write = Callable[[Path], object]


def _grey(inside: int, outside: int = 0, kind: str = "u1") -> Write:
    values = np.where(DISC, inside, outside).astype(kind)
    return lambda path: Image.fromarray(values).save(path)


def _rgb(inside: Any, outside: Any) -> npt.NDArray[np.uint8]:  # noqa: ANN401 - a colour
    rgb: npt.NDArray[np.uint8] = np.where(DISC[..., None], inside, outside).astype("u1")
    return rgb


def _colours(inside: Any, outside: Any) -> Write:  # noqa: ANN401 - a colour
    return lambda path: Image.fromarray(_rgb(inside, outside)).save(path)


def _palette(*colours: tuple[int, int, int], finding: int = 1, other: int = 0) -> Write:
    def write(path: Path) -> None:
        image = Image.fromarray(np.where(DISC, finding, other).astype(np.uint8))
        image.putpalette([value for colour in colours for value in colour])
        image.save(path)

    return write


def _smooth(mode: str = "L") -> Image.Image:
    """Return the disc with smooth edges."""
    grown = Image.fromarray(DISC).convert("L").resize((SIDE * 8,) * 2)
    small = grown.filter(ImageFilter.GaussianBlur(6)).resize((SIDE, SIDE))
    return small.convert(mode)


def _smooth_red(path: Path) -> None:
    level = np.asarray(_smooth())
    Image.fromarray(np.dstack([level, level * 0, level * 0])).save(path)


def _jpeg(image: Image.Image) -> Write:
    return lambda path: image.save(path, "JPEG", quality=75)


def _in_alpha(colour: tuple[int, int, int], opacity: int = 255) -> Write:
    alpha = np.where(DISC, opacity, 0).astype(np.uint8)
    flat = np.full((SIDE, SIDE, 3), colour, np.uint8)
    return lambda path: Image.fromarray(np.dstack([flat, alpha])).save(path)


def _on_clear_white(path: Path) -> None:
    alpha = np.where(DISC, 255, 0).astype(np.uint8)
    Image.fromarray(np.dstack([_rgb(_RED, _WHITE), alpha])).save(path)


def _against_alpha(path: Path) -> None:
    alpha = np.where(_x < SIDE // 2, 255, 0).astype(np.uint8)
    Image.fromarray(np.dstack([_rgb(_RED, _CLEAR), alpha])).save(path)


def _instances(path: Path) -> None:
    rgb = _rgb(_RED, _CLEAR)
    rgb[DISC & (_x > 50)] = (0, 100, 0)
    Image.fromarray(rgb).save(path)


def _labels(path: Path) -> None:
    values = np.where(DISC, np.where(_x > 50, 2, 1), 0).astype(np.uint8)
    Image.fromarray(values).save(path)


def _drawn(path: Path) -> None:
    image = Image.new("RGB", (SIDE, SIDE), _WHITE)
    ImageDraw.Draw(image).ellipse((29, 19, 71, 61), outline=_CLEAR, fill=_RED)
    image.save(path)


def _turned(path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # stored a quarter turn against the clock from what is shown
    values = np.rot90(np.where(DISC, 255, 0).astype(np.uint8))
    Image.fromarray(values).save(path, exif=exif)


def _white_is_zero(path: Path) -> None:
    write_tiff(path, Page(np.where(DISC, 0, 255).astype(np.uint8), 0))


READ: Final[Mapping[str, Write]] = {
    "grey-255.png": _grey(255),
    "grey-1.png": _grey(1),
    "grey-7.png": _grey(7),
    "grey-65535.png": _grey(65535, kind="u2"),
    "bits.png": lambda path: Image.fromarray(DISC).save(path),
    "float.tif": _grey(1, kind="f4"),
    "red-on-black.png": _colours(_RED, _CLEAR),
    "red-on-white.png": _colours(_RED, _WHITE),
    "label-colour-1.png": _colours((1, 0, 0), _CLEAR),
    "palette-black.png": _palette(_CLEAR, _RED),
    "palette-white.png": _palette(_WHITE, _RED),
    "palette-sorted.png": _palette(_RED, _CLEAR, finding=0, other=1),
    "palette-grey.png": _palette(_WHITE, _CLEAR, finding=0, other=1),
    "alpha-white.png": _in_alpha(_WHITE),
    "alpha-red.png": _in_alpha(_RED, 128),
    "alpha-black.png": _in_alpha(_CLEAR),
    "alpha-over-white.png": _on_clear_white,
    "turned.png": _turned,
    "white-is-zero.tif": _white_is_zero,
    "smooth.png": lambda path: _smooth().save(path),
    "smooth-red.png": _smooth_red,
    "grey.jpg": _jpeg(Image.fromarray(DISC).convert("L")),
    "red.jpg": _jpeg(Image.fromarray(_rgb(_RED, _CLEAR))),
    "red-on-white.jpg": _jpeg(Image.fromarray(_rgb(_RED, _WHITE))),
    "instances.png": _instances,
}
"""Files that say which pixels are the finding."""

OPEN: Final[Mapping[str, Write]] = {
    "values-1-and-2.png": _grey(2, 1),
    "labels.png": _labels,
    "palette-black-on-white.png": _palette(_WHITE, _CLEAR),
    "palette-two-colours.png": _palette((9, 9, 90), _RED, _WHITE, finding=1, other=2),
    "red-on-blue.png": _colours(_RED, (0, 0, 255)),
    "drawn.png": _drawn,
    "against-alpha.png": _against_alpha,
}
"""Files that leave it open."""


SALIENCY_IMAGE = "patient1_study1_view1_frontal"


def write_map(folder: Path, finding: str, peak: tuple[int, int]) -> Path:
    """Write a map of 8 × 8 with one peak, over an image of 80 × 160."""
    values = np.zeros((1, 1, 8, 8), np.float32)
    values[0, 0, peak[0], peak[1]] = 1
    path = folder / f"{SALIENCY_IMAGE}_{finding}_map.pkl"
    path.parent.mkdir(parents=True, exist_ok=True)
    value = {"map": values, "cxr_dims": (160, 80), "prob": 0.75}
    path.write_bytes(pickle.dumps(value))
    return path
