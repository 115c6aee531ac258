"""The demo collection: one real radiograph and twelve synthetic patients."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import MissingDependencyError, where_to_get
from viewer.domain.geometry import SizePx
from viewer.domain.image import Raster
from viewer.imaging.png import encode_png
from viewer.writers.files import write_atomically

NAME: Final = "demo"
"""The collection's name among the data sets of a store."""
VERSION: Final = 1
PATIENTS: Final = 12
SEED: Final = 0
SIZE: Final = SizePx(1250, 1000)
_OUTLINE: Final = "sample_case/rg1_lung_lesion.json"
_README: Final = """\
The demo collection

radiograph/RG1.dcm is a real chest radiograph, RG1 of NEMA's compression samples as
published in the Python package pydicom-data (MIT licence). The mask next to it is a
demo outline, not drawn by a radiologist.

phantom/ contains synthetic chest radiographs of persons who do not exist.
"""


@dataclass(frozen=True)
class DemoCollection:
    """The folders of the collection.

    ``radiograph`` is a plain folder (``import folder``) with RG1 and its outline,
    ``phantom`` a folder in the layout of CheXlocalize (``import chexlocalize``).
    """

    radiograph: Path
    phantom: Path


def prepare_demo(
    home: Path, progress: Callable[[int, int], None], patients: int | None = None
) -> DemoCollection:
    """Make the collection in ``home``/demo unless it is there already.

    ``progress`` is called with (steps done, steps in all) while it is made, with so
    many synthetic ``patients``, by default `PATIENTS`. A folder that cannot be written
    raises WrongUseError.
    """
    root = home / "demo"
    collection = DemoCollection(root / "radiograph", root / "phantom")
    count = PATIENTS if patients is None else patients
    marker = json.dumps({"demo": VERSION}).encode() + b"\n"
    if _holds(root / "demo.json", marker):
        return collection
    _write_radiograph(collection.radiograph)
    progress(1, count + 1)
    from viewer.services.synthetic.make_phantom import (
        make_phantom,  # the radiograph came first
    )

    make_phantom(
        collection.phantom,
        count,
        SEED,
        SIZE,
        lambda done, total: progress(done + 1, total + 1),
    )
    write_atomically(root / "README.txt", _README.encode())
    write_atomically(root / "demo.json", marker)
    return collection


def outline_mask(outline: Mapping[str, Any]) -> npt.NDArray[np.bool_]:
    """Return the (rows, columns) mask of an outline's polygons and ellipses.

    Coordinates are pixels, x to the right and y down, (0, 0) the corner of the first
    pixel; a pixel belongs to the mask if its centre does.
    """
    shape = int(outline["rows"]), int(outline["columns"])
    mask = np.zeros(shape, dtype=bool)
    for polygon in outline["polygons"]:
        mask |= _polygon_mask(polygon, shape)
    y, x = np.ogrid[: shape[0], : shape[1]]
    for ellipse in outline["ellipses"]:
        (cx, cy), (rx, ry) = ellipse["center"], ellipse["radii"]
        mask |= ((x + 0.5 - cx) / rx) ** 2 + ((y + 0.5 - cy) / ry) ** 2 < 1
    return mask


def _holds(path: Path, data: bytes) -> bool:
    return path.is_file() and path.read_bytes() == data


def _write_radiograph(folder: Path) -> None:
    outline = json.loads(
        files("viewer.resources").joinpath(_OUTLINE).read_text(encoding="utf-8")
    )
    mask = outline_mask(outline)
    raster = Raster(np.where(mask, np.uint8(255), np.uint8(0)))
    write_atomically(folder / f"RG1.{outline['finding']}.png", encode_png(raster))
    write_atomically(folder / "RG1.dcm", _rg1().read_bytes())


def _rg1() -> Path:
    from pydicom.data import get_testdata_file

    path = get_testdata_file("RG1_UNCR.dcm", download=False)
    if not isinstance(path, str):
        raise MissingDependencyError(
            "The demo's radiograph RG1 is not installed "
            f"({where_to_get('pydicom-data')})."
        )
    return Path(path)


def _polygon_mask(
    polygon: Sequence[Sequence[float]], shape: tuple[int, int]
) -> npt.NDArray[np.bool_]:
    from PIL import Image, ImageDraw

    image = Image.new("1", (shape[1], shape[0]))
    points = [(x - 0.5, y - 0.5) for x, y in polygon]
    ImageDraw.Draw(image).polygon(points, fill=1)
    return np.asarray(image, dtype=bool)
