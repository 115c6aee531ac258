"""Small images with anatomy masks and boxes, whose relations are known."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from viewer.domain.case import DatasetImage, ImageRef, ReferenceBox, View
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask

SIDE = 40
ANATOMIES = ("Left lung", "Right lung", "Heart")
_WHERE = {
    "Left lung": (slice(5, 35), slice(24, 38)),
    "Right lung": (slice(5, 35), slice(2, 16)),
    "Heart": (slice(18, 34), slice(17, 23)),
}


def block(rows: slice, columns: slice) -> Mask:
    mask = np.zeros((SIDE, SIDE), dtype=np.bool_)
    mask[rows, columns] = True
    return Mask.of_array(mask)


def box_in(anatomy: str) -> BoxPx:
    """Return the box of a whole anatomy: IoU and IoA are 1."""
    rows, columns = _WHERE[anatomy]
    return BoxPx(columns.start, rows.start, columns.stop, rows.stop)


def image(
    key: str,
    pairs: Sequence[tuple[str, str]] = (),
    *,
    patient: str = "",
    anatomies: Sequence[str] = ANATOMIES,
    boxes: Mapping[str, Sequence[BoxPx]] | None = None,
    view: View = View.FRONTAL,
) -> DatasetImage:
    """Return an image in which the (anatomy, finding) pairs are present."""
    drawn: dict[str, list[ReferenceBox]] = {}
    for anatomy, finding in pairs:
        drawn.setdefault(finding, []).append(ReferenceBox(box_in(anatomy)))
    for finding, of in (boxes or {}).items():
        drawn.setdefault(finding, []).extend(map(ReferenceBox, of))
    return DatasetImage(
        key=key,
        patient=patient or f"patient of {key}",
        study="",
        view=view,
        ref=ImageRef(Path(f"{key}.png")),
        geometry=ImageGeometry(SizePx(SIDE, SIDE)),
        sha256="",
        anatomy={name: block(*_WHERE[name]) for name in anatomies},
        boxes={finding: tuple(of) for finding, of in drawn.items()},
    )
