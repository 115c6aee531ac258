"""How a DICOM header says that its pixels are stored (PS3.3 C.7.6.3, PS3.5 8.1)."""

from dataclasses import dataclass
from typing import Final

from pydicom.dataset import Dataset
from pydicom.uid import UID, JPEG2000TransferSyntaxes, RLELossless

from viewer.readers.dicom.bounds import frame_count
from viewer.readers.files.refusal import ContradictionError

TRANSFORMED: Final = frozenset({"YBR_RCT", "YBR_ICT"})
"""RGB that JPEG 2000 transforms for coding, and back (PS3.5 8.2.4)."""
HALVED: Final = frozenset({"YBR_FULL_422", "YBR_PARTIAL_422"})
"""Two pixels share one pair of chrominances (PS3.3 C.7.6.3.1.2)."""
_SAMPLES: Final = {
    **dict.fromkeys(("MONOCHROME1", "MONOCHROME2", "PALETTE COLOR"), 1),
    **dict.fromkeys(("RGB", "YBR_FULL", *HALVED, *TRANSFORMED), 3),
}
_WORDS: Final = (1, 8, 16, 32, 64)


@dataclass(frozen=True, slots=True)
class PixelForm:
    """How one frame is stored; ``allocated``, ``stored`` and ``high`` are in bits."""

    rows: int
    columns: int
    samples: int
    photometric: str
    frames: int
    allocated: int
    stored: int
    high: int
    signed: bool
    planar: bool

    @property
    def frame_bits(self) -> int:
        """The number of bits in an uncompressed frame."""
        samples = 2 if self.photometric in HALVED else self.samples
        return self.rows * self.columns * samples * self.allocated


def pixel_form(dataset: Dataset) -> PixelForm:
    """Return how Pixel Data, Float or Double Float Pixel Data is stored.

    High Bit is taken as Bits Stored - 1 if it is absent, or lower than PS3.5 8.1.1
    allows. Planar Configuration is 0 if it is absent, and with subsampled chrominance,
    which allows no other. Colours are never signed (C.7.6.3.1.2).

    Raises
    ------
    ContradictionError
        If a value without a default is missing, or two contradict each other.
    """
    photometric = _photometric(dataset)
    samples = _samples(dataset, photometric)
    allocated = _number(dataset, "BitsAllocated", "Bits Allocated")
    stored, signed, planar = allocated, False, False
    if "PixelData" in dataset:
        stored = _number(dataset, "BitsStored", "Bits Stored")
        signed = _is_set(dataset, "PixelRepresentation", "Pixel Representation")
    if dataset.get("PlanarConfiguration") is not None and photometric not in HALVED:
        planar = _is_set(dataset, "PlanarConfiguration", "Planar Configuration")
    form = PixelForm(
        rows=int(dataset.Rows),
        columns=int(dataset.Columns),
        samples=samples,
        photometric=photometric,
        frames=frame_count(dataset),
        allocated=allocated,
        stored=stored,
        high=max(int(dataset.get("HighBit") or 0), stored - 1),
        signed=signed and samples == 1,
        planar=planar,
    )
    _check(form, dataset.file_meta.TransferSyntaxUID)
    return form


def _photometric(dataset: Dataset) -> str:
    photometric = str(dataset.get("PhotometricInterpretation") or "")
    if not photometric:
        raise ContradictionError("does not say its Photometric Interpretation")
    if photometric not in _SAMPLES:
        raise ContradictionError(
            f"says Photometric Interpretation {photometric[:16]}, which is not read"
        )
    return photometric


def _samples(dataset: Dataset, photometric: str) -> int:
    """Return Samples per Pixel, which follows from the photometric interpretation."""
    settled = _SAMPLES[photometric]
    samples = int(dataset.get("SamplesPerPixel") or settled)
    if samples != settled:
        raise _contradiction(
            f"Photometric Interpretation {photometric}", f"Samples per Pixel {samples}"
        )
    return settled


def _check(form: PixelForm, syntax: UID) -> None:
    """Check combinations of photometric interpretation, transfer syntax and bits."""
    photometric = f"Photometric Interpretation {form.photometric}"
    if form.photometric in TRANSFORMED and syntax not in JPEG2000TransferSyntaxes:
        raise _contradiction(photometric, f"Transfer Syntax {syntax.name}")
    # The codestream decides about bits and subsampling; an RLE frame does not say them.
    if syntax.is_encapsulated and syntax != RLELossless:
        return
    allocated = f"Bits Allocated {form.allocated}"
    if form.allocated not in _WORDS:
        raise ContradictionError(f"says {allocated}, not 1, 8, 16, 32 or 64")
    if not 1 <= form.stored <= form.allocated:
        raise _contradiction(allocated, f"Bits Stored {form.stored}")
    if form.photometric in HALVED and form.columns % 2:
        raise _contradiction(photometric, f"Columns {form.columns}")


def _contradiction(first: str, second: str) -> ContradictionError:
    return ContradictionError(f"says {first} and {second}, which contradict each other")


def _number(dataset: Dataset, keyword: str, name: str) -> int:
    value = dataset.get(keyword)
    if value is None or value == "":
        raise ContradictionError(f"does not say its {name}")
    return int(value)


def _is_set(dataset: Dataset, keyword: str, name: str) -> bool:
    number = _number(dataset, keyword, name)
    if number not in {0, 1}:
        raise ContradictionError(f"says {name} {number}, not 0 or 1")
    return number == 1
