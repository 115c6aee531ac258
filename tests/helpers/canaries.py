"""Phantoms with a canary in every place that could name a patient."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pydicom
from PIL import Image, ImageDraw, ImageFont
from pydicom.dataset import Dataset

from tests.helpers.phantom_folders import write_phantom
from viewer.domain.geometry import BoxPx, SizePx
from viewer.services.synthetic.make_phantom import make_phantom

SIZE = SizePx(500, 400)
FINDING = "Edema"
_INK = 100
_TEXT_VRS = frozenset({"LO", "LT", "SH", "ST", "UC", "UT"})
_KEPT = frozenset(
    {"SpecificCharacterSet", "RescaleType", "WindowCenterWidthExplanation"}
)
_MORE = (
    "AccessionNumber AdditionalPatientHistory InstitutionAddress InstitutionName "
    "OtherPatientIDs PatientAddress PatientTelephoneNumbers RequestedProcedureID "
    "RequestingService StationName"
)


@dataclass(frozen=True)
class Canary:
    """An image file, every word that must not leave, and where one is burned in."""

    path: Path
    words: tuple[str, ...]
    burned_in: BoxPx


def write_canaries(folder: Path, n: int) -> tuple[Canary, ...]:
    """Write ``n`` radiographs, each with a mask of FINDING beside it."""
    write_phantom(make_phantom, folder / "plain", n, 5, SIZE, compress=False)
    out = folder / "CANARYFOLDER"
    out.mkdir()
    files = sorted((folder / "plain").glob("CheXpert/**/view1_frontal.dcm"))
    return tuple(_write(out, i, path) for i, path in enumerate(files))


def _write(out: Path, i: int, plain: Path) -> Canary:
    dataset = pydicom.dcmread(plain)
    number = 48_000 + 37 * i
    words = tuple(_mark(dataset, number))
    written = f"CANARY ZEBRAFINCH {number}"
    box = _burn(dataset, written, i)
    dataset.BurnedInAnnotation = "NO" if i % 2 else "YES"
    path = out / f"CANARYFILE_{number}.dcm"
    dataset.save_as(path, enforce_file_format=True)
    mask = Image.new("L", (SIZE.columns, SIZE.rows))
    ImageDraw.Draw(mask).rectangle((120, 200, 200, 280), fill=255)
    mask.save(path.with_name(f"{path.stem}.{FINDING}.png"))
    return Canary(path, ("CANARY", "ZEBRAFINCH", str(number), *words), box)


def _mark(dataset: Dataset, number: int) -> Iterator[str]:
    """Put a canary into every text, name and date; yield those without the word."""
    for keyword in _MORE.split():
        setattr(dataset, keyword, "CANARY")
    dates = (f"19{number % 89 + 10}0217", f"18{number % 89 + 10}1105")
    for element in dataset:
        if element.VR in _TEXT_VRS and element.keyword not in _KEPT:
            element.value = f"CANARY{number}"
        elif element.VR == "DA":
            element.value = dates[0]
    dataset.PatientName = f"CANARY{number}^Zebrafinch"
    dataset.ReferringPhysicianName = f"CANARYDOC{number}^Okapiwarbler"
    dataset.PatientBirthDate = dates[1]
    block = dataset.private_block(0x0099, "CANARYMAKER", create=True)
    block.add_new(1, "LO", f"CANARY private {number}")
    block.add_new(2, "UN", b"CANARY unknown " + str(number).encode())
    dataset.add_new(0x60000010, "US", SIZE.rows)
    dataset.add_new(0x60000011, "US", SIZE.columns)
    dataset.add_new(0x60000022, "LO", f"CANARY overlay {number}")
    dataset.add_new(0x60000040, "CS", "G")
    dataset.add_new(0x60000050, "SS", [1, 1])
    dataset.add_new(0x60000100, "US", 1)
    dataset.add_new(0x60000102, "US", 0)
    bits = np.packbits(_drawn("CANARY OVERLAY", 60, 300)[0] > 0, bitorder="little")
    dataset.add_new(0x60003000, "OW", bits.tobytes())
    dataset.file_meta.SourceApplicationEntityTitle = "CANARYAE"
    dataset.preamble = b"CANARY preamble".ljust(128, b"\0")
    yield from ("Okapiwarbler", *dates)


def _drawn(text: str, x: int, y: int) -> tuple[npt.NDArray[np.uint8], BoxPx]:
    image = Image.new("L", (SIZE.columns, SIZE.rows))
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(20)
    draw.text((x, y), text, fill=255, font=font)
    drawn = np.asarray(image)
    rows, columns = np.nonzero(drawn > _INK)
    box = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    return drawn, BoxPx(*map(float, box))


def _burn(dataset: Dataset, text: str, i: int) -> BoxPx:
    """Write a text into the pixels, as a modality does, brighter than anything."""
    rng = np.random.default_rng(i)
    x, y = int(rng.integers(5, 125)), int(rng.integers(30, 460))
    drawn, box = _drawn(text, x, y)
    pixels = dataset.pixel_array.copy()
    bright = dataset.PhotometricInterpretation != "MONOCHROME1"
    pixels[drawn > _INK] = 4095 if bright else 0
    dataset.PixelData = pixels.astype("<u2").tobytes()
    return box


def everything_in(data: bytes) -> bytes:
    """Return a PNG with its compressed lines unpacked beside it."""
    start, lines = 8, b""
    while start + 12 <= len(data):
        length = int.from_bytes(data[start : start + 4], "big")
        if data[start + 4 : start + 8] == b"IDAT":
            lines += data[start + 8 : start + 8 + length]
        start += 12 + length
    return data + zlib.decompress(lines)
