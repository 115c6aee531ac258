"""Small DICOM files of codestreams, each with the samples that a right reader finds."""

import io
from collections.abc import Callable, Iterator
from itertools import product
from typing import Final

import numpy as np
from imagecodecs import htj2k_decode, jpeg2k_decode
from PIL import Image
from pydicom import uid
from pydicom.encaps import encapsulate_extended
from pydicom.uid import UID

from tests.helpers import encoders, gauntlet_words
from tests.helpers.gauntlet_words import (
    COLUMNS,
    NATIVE,
    ROWS,
    Case,
    Samples,
    beside,
    encapsulated,
    header,
    looks_of,
    native,
    noise,
    ow,
    set_palette,
    smooth,
    with_pixels,
)

Coder = Callable[[Samples, int], bytes]
LOSSLESS: Final[dict[str, tuple[UID, Coder]]] = {
    "rle": (uid.RLELossless, lambda s, b: encoders.run_lengths(_words(s, b))),
    "jpeg-sv1": (uid.JPEGLosslessSV1, encoders.lossless_jpeg),
    "jpeg-14": (uid.JPEGLossless, lambda s, b: encoders.lossless_jpeg(s, b, 6)),
    "jls": (uid.JPEGLSLossless, encoders.jpeg_ls_of),
    "j2k": (uid.JPEG2000Lossless, lambda s, b: encoders.jpeg_2000(_words(s, b), b)),
    "j2k-any": (uid.JPEG2000, lambda s, b: encoders.jpeg_2000(_words(s, b), b)),
    "htj2k": (uid.HTJ2KLossless, lambda s, b: encoders.high_throughput(_words(s, b))),
    "htj2k-rpcl": (
        uid.HTJ2KLosslessRPCL,
        lambda s, b: encoders.high_throughput(_words(s, b)),
    ),
    "htj2k-any": (uid.HTJ2K, lambda s, b: encoders.high_throughput(_words(s, b))),
}


if not encoders.HAS_JPEG_LS:
    del LOSSLESS["jls"]


def _words(samples: Samples, bits: int) -> Samples:
    kind = "i" if samples.min() < 0 else "u"
    return samples.astype(f"{kind}{1 if bits <= 8 else 2}")


def _coded(key: str, true: Samples, bits: int) -> Samples:
    """Return signed samples as JPEG and JPEG-LS code them: as unsigned bits."""
    if key.startswith(("jpeg", "jls", "rle")):
        return true & ((1 << bits) - 1)
    return true


def grey_encapsulated() -> Iterator[Case]:
    number = 0
    for (key, (syntax, coder)), (allocated, bits), signed in product(
        LOSSLESS.items(), [(8, 8), (16, 16), (16, 12), (16, 9)], (False, True)
    ):
        if key.startswith("htj2k") and bits not in {8, 16}:
            continue
        name = f"{key}/grey-{allocated}-{bits}{'-signed' if signed else ''}"
        true = noise(name, bits, (1, ROWS, COLUMNS), signed=signed)
        looks = looks_of(int(true.min()), int(true.max()))
        dataset = header(true[0], bits, allocated, **looks[number % len(looks)])
        number += 5
        coded = coder(_coded(key, true[0], bits), bits if key != "rle" else allocated)
        yield Case(name, encapsulated(dataset, [coded], syntax), true, "GREY", bits)


def color_encapsulated() -> Iterator[Case]:
    for (key, (syntax, coder)), (allocated, bits), planar, tag in product(
        LOSSLESS.items(), [(8, 8), (16, 16)], (0, 1, None), ("RGB", "YBR_FULL")
    ):
        if tag == "YBR_FULL" and bits != 8:
            continue
        if key.startswith("htj2k") and tag == "YBR_FULL":
            continue  # the encoder always transforms, so the samples are RGB
        name = f"{key}/color-{tag}-{bits}-planar-{planar}"
        true = noise(name, bits, (1, ROWS, COLUMNS, 3))
        transformed = key.startswith("htj2k")
        tags = {
            "PlanarConfiguration": planar,
            "PhotometricInterpretation": "YBR_RCT" if transformed else tag,
        }
        dataset = header(true[0], bits, allocated, **tags)
        pixels = encapsulated(dataset, [coder(true[0], bits)], syntax)
        yield Case(name, pixels, true, tag, bits)
    yield from _more_color()


def _more_color() -> Iterator[Case]:
    true = noise("more", 8, (1, ROWS, COLUMNS, 3))
    for interleave, planar in product(
        (0, 1, 2) if encoders.HAS_JPEG_LS else (), (0, 1)
    ):
        dataset = header(true[0], 8, 8, PlanarConfiguration=planar)
        coded = encoders.jpeg_ls_of(true[0], 8, interleave=interleave)
        pixels = encapsulated(dataset, [coded], uid.JPEGLSLossless)
        yield Case(f"jls/interleave-{interleave}-{planar}", pixels, true, "RGB", 8)
    for tag, transformed in product(
        ("RGB", "YBR_RCT", "YBR_FULL", "YBR_ICT"), (False, True)
    ):
        if tag == "YBR_FULL" and not transformed:
            continue
        dataset = header(true[0], 8, 8, PhotometricInterpretation=tag)
        coded = encoders.jpeg_2000(_words(true[0], 8), 8, transformed=transformed)
        pixels = encapsulated(dataset, [coded], uid.JPEG2000Lossless)
        name = f"j2k/{tag}-{'' if transformed else 'not-'}transformed"
        yield Case(name, pixels, true, "RGB", 8)


def lossy() -> Iterator[Case]:
    """Yield lossy coding; right is what another decoder makes of it.

    Where there is none it is the source, to which lossy coding comes near.
    """
    rgb = smooth(8, color=True).astype(np.uint8)[None]
    for subsampling, tag, planar in product(
        ("444", "422", "420"), ("YBR_FULL_422", "YBR_FULL", "RGB"), (0, 1)
    ):
        tags = {"PhotometricInterpretation": tag, "PlanarConfiguration": planar}
        coded = encoders.lossy_jpeg(rgb[0], 8, subsampling)
        other = np.array(Image.open(io.BytesIO(coded)))[None]
        pixels = encapsulated(
            header(rgb[0], 8, 8, **tags), [coded], uid.JPEGBaseline8Bit
        )
        name = f"jpeg/color-{subsampling}-{tag}-planar-{planar}"
        yield Case(name, pixels, other, "RGB", 8)
    for marked, tag in ((False, "RGB"), (True, "RGB"), (True, "YBR_FULL_422")):
        coded = encoders.rgb_jpeg(rgb[0], marked=marked)
        dataset = header(rgb[0], 8, 8, PhotometricInterpretation=tag)
        pixels = encapsulated(dataset, [coded], uid.JPEGBaseline8Bit)
        name = f"jpeg/rgb-{'marked' if marked else 'unmarked'}-{tag}"
        yield Case(name, pixels, rgb, "RGB", 8, tolerance=8.0)
    yield from _lossy_grey()
    dataset = header(rgb[0], 8, 8, PhotometricInterpretation="YBR_ICT")
    coded = encoders.jpeg_2000(rgb[0], 8, transformed=True, ratio=4)
    pixels = encapsulated(dataset, [coded], uid.JPEG2000)
    yield Case("j2k/lossy-color", pixels, jpeg2k_decode(coded)[None], "RGB", 8)


def _lossy_grey() -> Iterator[Case]:
    for bits, syntax in (
        (8, uid.JPEGBaseline8Bit),
        (8, uid.JPEGExtended12Bit),
        (12, uid.JPEGExtended12Bit),
    ):
        grey = smooth(bits).astype(np.uint8 if bits == 8 else np.uint16)[None]
        jpeg = encoders.lossy_jpeg(grey[0], bits)
        # T.81 B.2.3 wants Se = 63; a set of samples that many know has 0
        end = jpeg.index(b"\xff\xda") + 2 + 6
        odd = jpeg[:end] + b"\0" + jpeg[end + 1 :]
        other = np.array(Image.open(io.BytesIO(jpeg)))[None] if bits == 8 else grey
        for name, coded in (("grey", jpeg), ("spectrum", odd)):
            dataset = header(grey[0], bits, 8 if bits == 8 else 16)
            pixels = encapsulated(dataset, [coded], syntax)
            case = f"jpeg/{name}-{bits}-{syntax[-2:]}"
            yield Case(case, pixels, other, "GREY", bits, tolerance=bits / 8)
    for bits, near in product((8, 12) if encoders.HAS_JPEG_LS else (), (1, 3)):
        grey = noise("near", bits, (1, ROWS, COLUMNS))
        dataset = header(grey[0], bits, 8 if bits == 8 else 16)
        coded = encoders.jpeg_ls_of(grey[0], bits, near=near)
        other = encoders.jpeg_ls_decoded(coded)
        pixels = encapsulated(dataset, [coded], uid.JPEGLSNearLossless)
        yield Case(f"jls/near-{bits}-{near}", pixels, other[None], "GREY", bits)
    for bits in (8, 12):
        grey = smooth(bits)[None]
        dataset = header(grey[0], bits, 8 if bits == 8 else 16)
        coded = encoders.jpeg_2000(_words(grey[0], bits), bits, ratio=4)
        pixels = encapsulated(dataset, [coded], uid.JPEG2000)
        other = jpeg2k_decode(coded)[None]
        yield Case(f"j2k/lossy-{bits}", pixels, other, "GREY", bits)
    grey = _words(smooth(16), 16)
    coded = encoders.high_throughput(grey, lossless=False)
    pixels = encapsulated(header(grey, 16, 16), [coded], uid.HTJ2K)
    yield Case("htj2k/lossy-16", pixels, htj2k_decode(coded)[None], "GREY", 16)


def several_frames() -> Iterator[Case]:
    frames = (0, 1, 2)
    for key, (syntax, coder) in LOSSLESS.items():
        true = noise(f"{key}/frames", 16, (3, ROWS, COLUMNS))
        coded = [coder(frame, 16) for frame in true]
        dataset = header(true[0], 16, 16, NumberOfFrames=3)
        pixels = encapsulated(dataset, coded, syntax)
        yield Case(f"{key}/frames", pixels, true, "GREY", 16, frames=frames)
        dataset = header(true[0], 16, 16, NumberOfFrames=3)
        data, offsets, lengths = encapsulate_extended(coded)
        with_pixels(dataset, data, syntax, "OB")
        dataset.ExtendedOffsetTable = offsets
        dataset.ExtendedOffsetTableLengths = lengths
        yield Case(f"{key}/extended-offsets", dataset, true, "GREY", 16, frames=frames)
    for key, syntax in NATIVE.items():
        for planar in (0, 1):
            true = noise(f"{key}/frames", 8, (3, 5, 7, 3))
            dataset = header(
                true[0], 8, 8, NumberOfFrames=3, PlanarConfiguration=planar
            )
            pixels = native(dataset, true, syntax, "OW" if key == "big" else "OB")
            name = f"color/{key}/frames-planar-{planar}"
            yield Case(name, pixels, true, "RGB", 8, frames=frames)


def beyond_bits_stored() -> Iterator[Case]:
    """Yield codestreams of more bits than Bits Stored, with noise in those above."""
    for (key, (syntax, coder)), signed, high in product(
        LOSSLESS.items(), (False, True), (11, 13)
    ):
        name = f"beyond/{key}/12-of-16-high-{high}{'-signed' if signed else ''}"
        true = noise(name, 12, (1, ROWS, COLUMNS), signed=signed)
        words = beside(name, true, 16, 12, high)
        dataset = header(true[0], 12, 16, HighBit=high)
        pixels = encapsulated(dataset, [coder(words[0], 16)], syntax)
        yield Case(name, pixels, true, "GREY", 12)
    for key, (syntax, coder) in LOSSLESS.items():
        if key == "rle":
            continue
        true = noise(f"{key}/fewer", 8, (1, ROWS, COLUMNS))
        dataset = header(true[0], 12, 16, HighBit=11)
        pixels = encapsulated(dataset, [coder(true[0], 8)], syntax)
        yield Case(f"beyond/{key}/8-of-12", pixels, true, "GREY", 8)
        rgb = noise(f"{key}/fewer", 8, (1, ROWS, COLUMNS, 3))
        dataset = header(rgb[0], 12, 16)
        if key.startswith("htj2k"):
            dataset.PhotometricInterpretation = "YBR_RCT"
        pixels = encapsulated(dataset, [coder(rgb[0], 8)], syntax)
        yield Case(f"beyond/{key}/color-8-of-12", pixels, rgb, "RGB", 8)
        true = noise(f"{key}/more", 16, (1, ROWS, COLUMNS))
        dataset = header(true[0], 8, 8)
        pixels = encapsulated(dataset, [coder(true[0], 16)], syntax)
        yield Case(f"beyond/{key}/16-of-8-allocated", pixels, true, "GREY", 16)
    bright = smooth(12).astype(np.uint16)[None]
    bright[0, :6] = 1023
    bright[0, 6:] = np.minimum(bright[0, 6:], 1023)
    dataset = header(bright[0], 10, 16)
    pixels = encapsulated(
        dataset, [encoders.lossy_jpeg(bright[0], 12, level=60)], uid.JPEGExtended12Bit
    )
    yield Case("beyond/jpeg-12/overshoot", pixels, bright, "GREY", 10, tolerance=40)


def signs() -> Iterator[Case]:
    """Yield JPEG 2000 whose sign contradicts Pixel Representation."""
    true = noise("signs", 12, (1, ROWS, COLUMNS), signed=True)
    dataset = header(true[0], 12, 16)
    coded = encoders.jpeg_2000(_words(true[0] & 4095, 12), 12)
    pixels = encapsulated(dataset, [coded], uid.JPEG2000Lossless)
    yield Case("signs/j2k-unsigned-of-signed", pixels, true, "GREY", 12)
    dataset = header(true[0], 12, 16, PixelRepresentation=0)
    coded = encoders.jpeg_2000(_words(true[0], 12), 12)
    pixels = encapsulated(dataset, [coded], uid.JPEG2000Lossless)
    yield Case("signs/j2k-signed-of-unsigned", pixels, true, "GREY", 12)


def palettes_encapsulated() -> Iterator[Case]:
    values = np.random.default_rng(5).integers(0, 65536, (3, 256))
    tables = [ow(v, NATIVE["explicit"]) for v in values]
    for key, (syntax, coder) in LOSSLESS.items():
        indices = noise(f"{key}/palette", 8, (1, ROWS, COLUMNS))
        dataset = header(indices[0], 8, 8)
        set_palette(dataset, tables, [256, 0, 16], "")
        pixels = encapsulated(dataset, [coder(indices[0], 8)], syntax)
        yield Case(f"{key}/palette", pixels, indices, "PALETTE", 8)


def refusals() -> Iterator[Case]:
    """Yield files whose values contradict one another where no rule decides."""
    true = noise("refused", 8, (1, ROWS, COLUMNS))
    rgb = noise("refused", 8, (1, ROWS, COLUMNS, 3))
    explicit = NATIVE["explicit"]

    def plain(samples: Samples, name: str, *words: str, **tags: object) -> Case:
        dataset = native(header(samples[0], 8, 8), samples, explicit)
        for keyword, value in tags.items():
            if value is None:
                delattr(dataset, keyword)
            else:
                setattr(dataset, keyword, value)
        return Case(f"refused/{name}", dataset, samples, "", 8, words)

    yield plain(true, "rgb-of-one", "RGB", "1", PhotometricInterpretation="RGB")
    yield plain(
        rgb,
        "grey-of-three",
        "MONOCHROME2",
        "3",
        PhotometricInterpretation="MONOCHROME2",
    )
    yield plain(
        rgb,
        "palette-of-three",
        "PALETTE COLOR",
        "3",
        PhotometricInterpretation="PALETTE COLOR",
    )
    yield plain(rgb, "four-samples", "Samples per Pixel", "4", SamplesPerPixel=4)
    yield plain(true, "stored-over-allocated", "12", "8", BitsStored=12)
    yield plain(true, "odd-allocated", "Bits Allocated", "12", BitsAllocated=12)
    yield plain(true, "sign", "Pixel Representation", "3", PixelRepresentation=3)
    yield plain(true, "no-bits-stored", "Bits Stored", BitsStored=None)
    yield plain(true, "no-bits-allocated", "Bits Allocated", BitsAllocated=None)
    yield plain(true, "no-sign", "Pixel Representation", PixelRepresentation=None)
    yield plain(rgb, "planar-2", "Planar Configuration", "2", PlanarConfiguration=2)
    yield plain(true, "sepia", "SEPIA", PhotometricInterpretation="SEPIA")
    yield plain(
        rgb,
        "rct-not-coded",
        "YBR_RCT",
        "Explicit VR Little Endian",
        PhotometricInterpretation="YBR_RCT",
    )
    yield plain(rgb, "retired-hsv", "HSV", PhotometricInterpretation="HSV")
    yield plain(
        true, "no-palette", "PALETTE COLOR", PhotometricInterpretation="PALETTE COLOR"
    )
    halved = noise("refused", 8, (1, ROWS, COLUMNS + 1, 3))
    yield plain(
        halved,
        "422-of-three",
        "YBR_FULL_422",
        "3",
        PhotometricInterpretation="YBR_FULL_422",
    )
    yield plain(
        rgb[:, :, :-2],
        "422-odd",
        "YBR_FULL_422",
        "35",
        PhotometricInterpretation="YBR_FULL_422",
    )
    for key, (syntax, coder) in LOSSLESS.items():
        size = (f"{COLUMNS} × {ROWS + 3}", f"{COLUMNS} × {ROWS}")
        dataset = header(true[0], 8, 8, Rows=ROWS + 3)
        pixels = encapsulated(dataset, [coder(true[0], 8)], syntax)
        if key != "rle":  # whose runs are as many as they are
            yield Case(f"refused/{key}/size", pixels, true, "", 8, size)
        dataset = header(true[0], 8, 8)
        pixels = encapsulated(dataset, [coder(rgb[0], 8)], syntax)
        yield Case(f"refused/{key}/components", pixels, true, "", 8, ("1", "3"))
    dataset = header(true[0], 8, 16)
    pixels = encapsulated(
        dataset, [encoders.run_lengths(_words(true[0], 8))], uid.RLELossless
    )
    yield Case("refused/rle/segments", pixels, true, "", 8, ("2", "1"))


FAMILIES: Final = (
    *gauntlet_words.FAMILIES, grey_encapsulated, color_encapsulated, lossy,
    several_frames, beyond_bits_stored, signs, refusals, palettes_encapsulated,
)  # fmt: skip


def all_cases() -> list[Case]:
    """Return every case, each under a name of its own."""
    cases = [case for family in FAMILIES for case in family()]
    assert len({case.name for case in cases}) == len(cases)
    return cases
