"""Synthetic patients on disk, in the layout of CheXpert and CheXlocalize."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.case import View
from viewer.domain.geometry import SizePx
from viewer.domain.plain import plain
from viewer.domain.reference import Mask
from viewer.imaging.bitmap_font import text_mask
from viewer.services.synthetic.phantom.patient import Finding, PhantomPatient
from viewer.services.synthetic.phantom.projection import Projection, project
from viewer.services.synthetic.phantom.rays import spacing_mm
from viewer.writers.dicom_dx import DxHeader, dx_bytes, dx_dataset
from viewer.writers.dicom_seg import seg_bytes
from viewer.writers.files import write_atomically
from viewer.writers.tables import csv_bytes

CHEXPERT_LABELS: Final = (
    "No Finding",
    "Enlarged Cardiomediastinum",
    "Cardiomegaly",
    "Lung Opacity",
    "Lung Lesion",
    "Edema",
    "Consolidation",
    "Pneumonia",
    "Atelectasis",
    "Pneumothorax",
    "Pleural Effusion",
    "Pleural Other",
    "Fracture",
    "Support Devices",
)
_LABEL_OF: Final = {Finding.AIRSPACE_OPACITY: "Lung Opacity"}
_VIEWS: Final = {View.FRONTAL: "view1_frontal", View.LATERAL: "view2_lateral"}
_INK: Final = 3600
_MARGIN_MM: Final = 9.0


@dataclass(frozen=True)
class WrittenImage:
    """One image of the collection: its id, its path and its truth.

    ``masks`` has an entry for each of the ten tasks, ``anatomy`` for each structure.
    """

    key: str
    path: str
    masks: Mapping[str, Mask]
    anatomy: Mapping[str, Mask]

    @cached_property
    def positives(self) -> frozenset[str]:
        """The findings whose mask is not empty."""
        return frozenset(f for f, mask in self.masks.items() if not mask.is_empty)


def write_patient(
    root: Path, patient: PhantomPatient, size: SizePx, split: str, *, compress: bool
) -> tuple[WrittenImage, ...]:
    """Write both views of a patient with their segmentations; return their truth.

    Files that exist are replaced. ``compress`` False keeps every image uncompressed.
    """
    return tuple(
        _write_view(root, patient, view, size, split, compress=compress)
        for view in _VIEWS
    )


def write_truth(root: Path, images: Sequence[WrittenImage], split: str) -> None:
    """Write a split's label table and both mask files, images in their order."""
    rows = [[image.path, *_labels(image)] for image in images]
    write_atomically(
        root / "CheXpert" / f"{split}_labels.csv",
        csv_bytes(("Path", *CHEXPERT_LABELS), rows),
    )
    folder = root / "CheXlocalize"
    positive = {i.key: i.masks for i in images if i.positives}
    write_atomically(folder / f"gt_segmentations_{split}.json", _mask_json(positive))
    anatomy = {i.key: i.anatomy for i in images}
    write_atomically(folder / f"anatomy_{split}.json", _mask_json(anatomy))


def _write_view(
    root: Path,
    patient: PhantomPatient,
    view: View,
    size: SizePx,
    split: str,
    *,
    compress: bool,
) -> WrittenImage:
    projection = project(patient, view, size)
    values = signed(projection, spacing_mm(size))
    header = _header(patient, view, size, compress=compress)
    path = f"CheXpert/{split}/{header.study_name}/{_VIEWS[view]}.dcm"
    dataset = dx_dataset(values, header)
    masks = {str(f): m for f, m in projection.masks.items()}
    shown = {**masks, **projection.anatomy}
    segmentation = seg_bytes(dataset, shown, header.collection)
    write_atomically(root / path, dx_bytes(dataset, compressed=header.compressed))
    write_atomically(root / "seg" / f"{header.name}.dcm", segmentation)
    return WrittenImage(
        key=header.name,
        path=path,
        masks={name: Mask.of_array(mask) for name, mask in masks.items()},
        anatomy={n: Mask.of_array(m) for n, m in projection.anatomy.items()},
    )


def _header(
    patient: PhantomPatient, view: View, size: SizePx, *, compress: bool
) -> DxHeader:
    patient_id = f"patient{patient.index + 1:05d}"
    study = f"{patient_id}/study1"
    return DxHeader(
        collection=f"phantom-{patient.seed}-{size.columns}x{size.rows}",
        patient_id=patient_id,
        study_name=study,
        name=f"{study}/{_VIEWS[view]}".replace("/", "_"),
        number=list(_VIEWS).index(view) + 1,
        view=view,
        sex="F" if patient.build.female else "M",
        spacing_mm=spacing_mm(size),
        inverted=patient.index % 4 == 1,
        compressed=compress and patient.index % 5 == 2,
    )


def _labels(image: WrittenImage) -> list[float]:
    positives = {_LABEL_OF.get(Finding(f), f) for f in image.positives}
    if not positives - {"Support Devices"}:
        positives.add("No Finding")
    return [float(label in positives) for label in CHEXPERT_LABELS]


def _mask_json(images: Mapping[str, Mapping[str, Mask]]) -> bytes:
    document = {
        key: {name: plain(m) for name, m in masks.items()}
        for key, masks in images.items()
    }
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"


def signed(projection: Projection, pitch_mm: float) -> npt.NDArray[np.uint16]:
    """Return the radiograph with PHANTOM and a side marker beside the anatomy."""
    values = projection.values.copy()
    scale = max(1, values.shape[0] // 330)
    taken = projection.body.copy()
    for text in ("PHANTOM", "L"):
        ink = text_mask(text, scale)
        row, column = _free_corner(taken, ink.shape, pitch_mm, last=text == "L")
        area = (slice(row, row + ink.shape[0]), slice(column, column + ink.shape[1]))
        values[area][ink] = _INK
        taken[area] = True
    return values


def _free_corner(
    taken: npt.NDArray[np.bool_], ink: tuple[int, ...], pitch_mm: float, *, last: bool
) -> tuple[int, int]:
    """Return row and column of a box in a corner that the body leaves free.

    ``last`` starts with the right-hand corners, the patient's left in a frontal view.
    """
    rows, columns = taken.shape
    margin = round(_MARGIN_MM / pitch_mm)
    top, bottom = margin, rows - margin - ink[0]
    left, right = margin, columns - margin - ink[1]
    corners = [(top, left), (top, right), (bottom, left), (bottom, right)]
    ordered = [corners[i] for i in ((1, 3, 0, 2) if last else (0, 1, 2, 3))]
    return min(
        ordered,
        key=lambda c: int(taken[c[0] : c[0] + ink[0], c[1] : c[1] + ink[1]].sum()),
    )
