"""Small data sets, masks and run specifications for the study's tests."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from viewer.domain.case import Dataset, DatasetImage, ImageRef, View
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.plain import plain
from viewer.domain.reference import Mask
from viewer.domain.run import Condition, RunSpec
from viewer.studies.grid_localization.params import read_params

Bools = npt.NDArray[np.bool_]
SIZE = SizePx(64, 64)


def block(y0: int, y1: int, x0: int, x1: int, side: int = 64) -> Bools:
    """Return a square mask with rows y0 to y1 and columns x0 to x1 set."""
    mask = np.zeros((side, side), dtype=bool)
    mask[y0:y1, x0:x1] = True
    return mask


def image(
    key: str,
    masks: Mapping[str, Mask] | None = None,
    *,
    view: View = View.FRONTAL,
    labels: Mapping[str, bool] | None = None,
    defects: Mapping[str, str] | None = None,
    zero: tuple[str, ...] = (),
    size: SizePx = SIZE,
) -> DatasetImage:
    """Return an image whose patient is the first part of its key."""
    return DatasetImage(
        key=key,
        patient=key.split("_", maxsplit=1)[0],
        study="study1",
        view=view,
        ref=ImageRef(Path(f"{key}.png")),
        geometry=ImageGeometry(size),
        sha256="0" * 64,
        labels=labels or {},
        masks=masks or {},
        zero_masks=frozenset(zero),
        defects=defects or {},
    )


def dataset(*images: DatasetImage, root_sha256: str = "f" * 64) -> Dataset:
    """Return a data set of some images."""
    return Dataset("test", "folder", Path(), images, (), root_sha256)


def condition(rows: int, columns: int | None = None) -> Condition:
    """Return a grid's condition."""
    columns = columns or rows
    name = str(rows) if rows == columns else f"{rows}x{columns}"
    return Condition(f"grid={name}", (("rows", rows), ("columns", columns)))


def spec(
    models: tuple[str, ...] = ("m",),
    repeats: int = 1,
    limit: int | None = None,
    seed: int = 0,
    **overrides: object,
) -> RunSpec:
    """Return a run of the study with some parameters replaced."""
    return RunSpec(
        "grid_localization",
        "test",
        "gosai2025",
        seed,
        repeats,
        tuple(ModelProfile(name, "scripted") for name in models),
        plain(read_params("gosai2025", overrides)),
        limit,
    )
