"""A codestream's own header, and the samples it contains.

The codestream determines size, bits and colours, not the tags around it (PS3.5 8.2.1 to
8.2.4); tags are used only for what it leaves open.
"""

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from viewer.readers.dicom.pixel_form import PixelForm
from viewer.readers.files.refusal import ContradictionError


@dataclass(frozen=True, eq=False)
class Decoded:
    """(rows, columns) or (rows, columns, 3) samples of ``precision`` bits.

    ``color`` is a Photometric Interpretation, ``lossy`` is True if decoded values may
    differ from the original ones.
    """

    samples: npt.NDArray[Any]
    precision: int
    color: str
    signed: bool
    lossy: bool


def check_frame(rows: int, columns: int, components: int, form: PixelForm) -> None:
    """Refuse a codestream whose frame differs from the header's description.

    Raises
    ------
    ContradictionError
        With both values.
    """
    if (rows, columns) != (form.rows, form.columns):
        raise ContradictionError(
            f"says {form.columns} × {form.rows} pixels, and its codestream "
            f"{columns} × {rows}"
        )
    if components != form.samples:
        raise ContradictionError(
            f"says Samples per Pixel {form.samples}, and its codestream {components}"
        )
