"""Synthetic cases on disk: a folder with a case.json each, in MEDSYN's layout."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from viewer.domain.evidence import EvidenceCase
from viewer.domain.geometry import SizePx
from viewer.domain.image import Raster
from viewer.imaging.bitmap_font import text_mask
from viewer.imaging.png import encode_png
from viewer.services.synthetic.phantom.evidence_cases import PhantomCase
from viewer.services.synthetic.phantom.evidence_pictures import LabTable, Picture
from viewer.services.synthetic.phantom.evidence_reports import report_of
from viewer.writers.files import write_atomically

_PAPER, _INK = 245, 25
_MARGIN: Final = 12
_STEP: Final = 3
"""Line height as a multiple of the letters' height."""


def write_case(root: Path, made: PhantomCase, size: SizePx) -> None:
    """Write a case's folder: its case.json, and a PNG of each image."""
    for key in made.images:
        write_atomically(root / key, _png(made, key, size))
    document = json.dumps(made.case.document(), indent=1, ensure_ascii=False)
    write_atomically(root / made.case.key / "case.json", document.encode() + b"\n")


def write_report(root: Path, made: PhantomCase, size: SizePx) -> None:
    """Write the folder of the report that a case is made from: its text and images.

    The images are named after their type of evidence, as a review proposes them.
    """
    report = report_of(made.case)
    values = {
        "id": report.key,
        "language": str(report.language),
        "background": report.background,
        "caption": report.caption,
        "diagnosis": report.diagnosis,
    }
    for name, key in _named_by_type(made.case):
        write_atomically(root / report.key / name, _png(made, key, size))
    document = json.dumps(values, indent=1, ensure_ascii=False)
    write_atomically(root / report.key / "report.json", document.encode() + b"\n")


def _named_by_type(case: EvidenceCase) -> Iterator[tuple[str, str]]:
    """Yield a name such as ``xray_1.png`` for each image, with its key."""
    for one in case.evidence:
        *_, word = re.split("[ /]", str(one.type).casefold().replace("-", ""))
        for number, key in enumerate(one.images, start=1):
            yield f"{word}_{number}.png", key


def _png(made: PhantomCase, key: str, size: SizePx) -> bytes:
    image = made.images[key]
    pixels = lab_picture(image, size) if isinstance(image, LabTable) else image
    return encode_png(Raster(pixels))


def lab_picture(table: LabTable, size: SizePx) -> Picture:
    """Return a laboratory table as it would be scanned: names, values, flags."""
    page = np.full((size.rows, size.columns), _PAPER, dtype=np.uint8)
    scale = max(1, size.columns // 80)
    columns = (_MARGIN, size.columns * 9 // 20, size.columns * 17 // 20)
    for number, row in enumerate(table.rows):
        texts = (row.name, str(row.value), row.flag)
        for left, text in zip(columns, texts, strict=True):
            if text:
                _print(page, text, left, number, scale)
    return page


def _print(page: Picture, text: str, left: int, number: int, scale: int) -> None:
    mask = text_mask(text, scale)
    height, width = mask.shape
    top = _MARGIN + number * height * _STEP
    part = page[top : top + height, left : left + width]
    part[mask[: part.shape[0], : part.shape[1]]] = _INK
