"""How much of each patch of a model's image a region covers."""

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import Affine


def patch_cover(
    mask: npt.NDArray[np.bool_], rows: int, columns: int, to_image: Affine
) -> npt.NDArray[np.float64]:
    """Return (rows, columns) the fraction of each patch's area that a mask covers.

    Exact, including fractional pixels; any part of a patch outside the image is not
    covered.

    Parameters
    ----------
    mask : (height, width) bool array
        The region.
    rows, columns : int
        Patches down and across.
    to_image : Affine
        From patch coordinates (x in columns, y in rows, (0, 0) the corner of the first
        patch) to the mask's pixels, without rotation or shear.
    """
    down = _overlaps(rows, to_image.e, to_image.f, mask.shape[0])
    across = _overlaps(columns, to_image.a, to_image.c, mask.shape[1])
    covered = down @ mask.astype(np.float64) @ across.T
    return np.asarray(covered / (to_image.a * to_image.e))


def share_inside(
    values: npt.ArrayLike, to_image: Affine, mask: npt.NDArray[np.bool_]
) -> float:
    """Return the share of a map's sum inside a mask, NaN if the sum is 0.

    A patch's value is assumed to be spread evenly over it.

    Parameters
    ----------
    values : (rows, columns) array_like
        A number at least 0 for every patch, such as the attention to it.
    to_image : Affine
        From patch coordinates to the mask's pixels, as in ``patch_cover``.
    mask : (height, width) bool array
        The region.
    """
    parts = np.asarray(values, dtype=np.float64)
    rows, columns = parts.shape
    cover = patch_cover(mask, rows, columns, to_image)
    total = parts.sum()
    return float((parts * cover).sum() / total) if total > 0 else float("nan")


def _overlaps(
    patches: int, step: float, start: float, pixels: int
) -> npt.NDArray[np.float64]:
    """Return the (patches, pixels) lengths that each patch shares with each pixel."""
    low = (start + step * np.arange(patches))[:, None]
    pixel = np.arange(pixels)[None, :]
    shared = np.minimum(low + step, pixel + 1) - np.maximum(low, pixel)
    return np.asarray(np.clip(shared, 0.0, None))
