"""Synthetic radiographs on disk in VinDr-CXR's layout, with masks of anatomies."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from viewer.domain.case import View
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image import Raster
from viewer.domain.plain import plain
from viewer.domain.reference import Mask
from viewer.imaging.png import encode_png
from viewer.services.synthetic.phantom.marked import boxes_of
from viewer.services.synthetic.phantom.patient import PhantomPatient
from viewer.services.synthetic.phantom.projection import project
from viewer.services.synthetic.phantom.zones import anatomies
from viewer.writers.files import write_atomically
from viewer.writers.tables import csv_bytes

_COLUMNS = ("image_id", "class_name", "x_min", "y_min", "x_max", "y_max")
_SHIFT = 4
"""Of the film's 12 bits a picture keeps the upper 8."""


@dataclass(frozen=True)
class WrittenChest:
    """One radiograph: its id, the boxes of each finding, the masks of its anatomies."""

    key: str
    boxes: dict[str, tuple[BoxPx, ...]]
    anatomy: dict[str, Mask]


def write_chest(root: Path, patient: PhantomPatient, size: SizePx) -> WrittenChest:
    """Write a patient's frontal radiograph as PNG; return its truth."""
    projection = project(patient, View.FRONTAL, size)
    pixels = (projection.values >> _SHIFT).astype(np.uint8)
    key = f"chest{patient.index + 1:05d}"
    write_atomically(root / "images" / f"{key}.png", encode_png(Raster(pixels)))
    found = anatomies(patient, View.FRONTAL, projection)
    return WrittenChest(
        key,
        {str(f): boxes_of(mask) for f, mask in projection.masks.items() if mask.any()},
        {name: Mask.of_array(mask) for name, mask in found.items()},
    )


def write_chests_truth(root: Path, chests: Sequence[WrittenChest]) -> None:
    """Write the table of boxes and the masks of anatomies of all radiographs."""
    rows: list[tuple[object, ...]] = []
    for chest in chests:
        if not chest.boxes:
            rows.append((chest.key, "No finding", None, None, None, None))
        for finding, boxes in chest.boxes.items():
            rows += [(chest.key, finding, b.x0, b.y0, b.x1, b.y1) for b in boxes]
    write_atomically(root / "annotations_test.csv", csv_bytes(_COLUMNS, rows))
    document = {
        chest.key: {name: plain(m) for name, m in chest.anatomy.items()}
        for chest in chests
    }
    data = json.dumps(document, separators=(",", ":")).encode() + b"\n"
    write_atomically(root / "anatomy_test.json", data)
