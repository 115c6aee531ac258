"""Image files of every kind, each with what it shows by the words of its standard.

What a file shows is worked out here by NumPy from the samples that are written into it,
without a reader of images.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from PIL import Image

from tests.helpers.make_raster import (
    DEFLATE,
    NONE,
    PACKBITS,
    ColourType,
    Page,
    orientation_chunk,
    write_png,
    write_tiff,
)

Array = npt.NDArray[Any]
_ROWS, _COLUMNS = 21, 34
_SMOOTH: Final = 12.0
"""Grey levels by which a compression with losses may change smooth pictures."""


@dataclass(frozen=True, eq=False)
class RasterCase:
    """A file, and what it shows.

    ``shown`` is (rows, columns) or (rows, columns, 3), 0 black to 255 white; ``values``
    the native values where they are grey, None for colour. ``within`` is how many grey
    levels may be lost in writing.
    """

    name: str
    write: Callable[[Path], object]
    shown: Array
    values: Array | None = None
    frame: int = 0
    within: float = 0.5

    def written(self, folder: Path) -> Path:
        """Write the file into a folder; return its path."""
        path = folder / self.name
        self.write(path)
        return path


def upright(stored: Array, orientation: int) -> Array:
    """Return what an Orientation shows, place by place (TIFF 6.0, page 36).

    The 0th row and the 0th column of what is stored are the sides that it names.
    """
    rows, columns = stored.shape[:2]
    row_at, column_at = np.indices((rows, columns))
    last_row, last_column = rows - 1 - row_at, columns - 1 - column_at
    row, column = {
        1: (row_at, column_at),  # top, left
        2: (row_at, last_column),  # top, right
        3: (last_row, last_column),  # bottom, right
        4: (last_row, column_at),  # bottom, left
        5: (column_at, row_at),  # left, top
        6: (column_at, last_row),  # right, top
        7: (last_column, last_row),  # right, bottom
        8: (last_column, row_at),  # left, bottom
    }[orientation]
    shown = (
        np.empty_like(stored)
        if orientation < 5
        else np.empty_like(stored, shape=(columns, rows, *stored.shape[2:]))
    )
    shown[row, column] = stored
    return shown


def raster_cases() -> tuple[RasterCase, ...]:
    """Return every file, TIFF first."""
    makers = (
        _tiff_grey, _tiff_numbers, _tiff_colour, _tiff_alpha, _tiff_palette, _tiff_ink,
        _tiff_turned, _big_tiff, _tiff_pages, _png, _png_transparent, _png_gamma,
        _png_turned, _jpeg, _jpeg_turned, _webp, _jpeg2000, _bmp, _gif,
    )  # fmt: skip
    return tuple(case for make in makers for case in make())


def _random(seed: int, top: int, *shape: int) -> Array:
    kind = np.uint8 if top <= 256 else np.uint16 if top <= 1 << 16 else np.uint32
    drawn = np.random.default_rng(seed).integers(0, top, (_ROWS, _COLUMNS, *shape))
    return drawn.astype(kind)


def _smooth(channels: int) -> Array:
    """Return a picture without edges: (rows, columns, channels) uint8."""
    y, x = np.mgrid[0:_ROWS, 0:_COLUMNS]
    waves = [127 + 100 * np.sin((x * (n + 1) + y) / 19 + n) for n in range(channels)]
    return np.stack(waves, axis=-1).round().astype(np.uint8)


def _eighths(rgb: Array, white: int) -> Array:
    """Return colour as 8 bits, linear and rounded."""
    return np.floor(rgb.astype(np.float64) * 255 / white + 0.5)


def _stored(n: int, bits: int) -> dict[str, Any]:
    """Return the n-th way of storing: compression and predictor, strips or tiles."""
    ways = [(NONE, 1), (PACKBITS, 1), (DEFLATE, 1), (DEFLATE, 2)]
    compression, predictor = ways[n % (4 if bits in {8, 16, 32} else 3)]
    part = {"tile": 16} if n // 4 % 2 else {"rows_per_strip": 5}
    return {"compression": compression, "predictor": predictor, **part}


def _tiff(
    name: str,
    pages: Page | tuple[Page, ...],
    shown: Array,
    values: Array | None = None,
    frame: int = 0,
    **form: bool,
) -> RasterCase:
    of_file = pages if isinstance(pages, tuple) else (pages,)
    return RasterCase(
        f"{name}.tif",
        lambda path: write_tiff(path, *of_file, **form),
        shown,
        values,
        frame,
    )


def _tiff_grey() -> Iterator[RasterCase]:
    every = product((1, 2, 4, 8, 12, 16, 32), (0, 1), (False, True), range(2))
    for n, (bits, photometric, big, _) in enumerate(every):
        stored, white, turn = _random(n, 1 << bits), (1 << bits) - 1, n % 8 + 1
        way, tags = _stored(n + n // 8, bits), {274: turn}
        page = Page(stored, photometric, bits, tags=tags, **way)
        values = upright(stored, turn)
        share = values / white
        shown = 255 * (1 - share if photometric == 0 else share)
        values = values if bits > 8 else _eighths(values, white)
        sense = "white" if photometric == 0 else "black"
        name = f"grey-{bits}bit-{sense}IsZero-{'MM' if big else 'II'}-{n}"
        yield _tiff(name, page, shown, values, big_endian=big)


def _tiff_numbers() -> Iterator[RasterCase]:
    kinds = ("i1", "i2", "i4", "f2", "f4", "f8")
    for n, (kind, photometric, big) in enumerate(product(kinds, (0, 1), (False, True))):
        share = np.random.default_rng(n).random((_ROWS, _COLUMNS))
        share[0, :2] = 0, 1
        if kind.startswith("i"):
            info = np.iinfo(kind)
            share = np.round(share * 100) / 100
            values = (info.min + share * (2**info.bits - 1)).astype(kind)
        else:
            values = share.astype(kind)
        low, high = (float(end) for end in (values.min(), values.max()))
        share = (values.astype(np.float64) - low) / (high - low)
        shown = 255 * (1 - share if photometric == 0 else share)
        page = Page(values, photometric, **_stored(3 * n % 7, 0))
        sense = "white" if photometric == 0 else "black"
        name = f"numbers-{kind}-{sense}IsZero-{'MM' if big else 'II'}"
        yield _tiff(name, page, shown, values, big_endian=big)


def _tiff_colour() -> Iterator[RasterCase]:
    every = product((4, 8, 12, 16), (1, 2), (False, True), range(2))
    for n, (bits, planar, big, _) in enumerate(every):
        stored, turn = _random(n, 1 << bits, 3), (3 * n) % 8 + 1
        page = Page(stored, 2, bits, planar, tags={274: turn}, **_stored(n, bits))
        shown = _eighths(upright(stored, turn), (1 << bits) - 1)
        name = f"rgb-{bits}bit-planar{planar}-{'MM' if big else 'II'}-{n}"
        yield _tiff(name, page, shown, big_endian=big)
    grey = np.repeat(_random(99, 1 << 16)[..., None], 3, axis=2)
    yield _tiff(
        "rgb-16bit-without-colour", Page(grey, 2), grey[..., 0] / 257, grey[..., 0]
    )


def _tiff_alpha() -> Iterator[RasterCase]:
    for n, (bits, planar, extra) in enumerate(product((8, 16), (1, 2), (0, 1, 2))):
        white, colour = (1 << bits) - 1, _random(n, 1 << bits, 3)
        alpha = np.maximum(_random(n + 50, 1 << bits), white // 2)
        stored = colour
        if extra == 1:  # colours are multiplied by alpha, pages 31 and 77
            wide = colour.astype(np.float64) * alpha[..., None] / white
            stored = np.round(wide).astype(colour.dtype)
        samples = np.dstack([stored, alpha])
        page = Page(samples, 2, bits, planar, tags={338: extra}, **_stored(n, bits))
        case = _tiff(
            f"rgba-{bits}bit-planar{planar}-extra{extra}", page, _eighths(colour, white)
        )
        yield replace(case, within=2.5) if extra == 1 else case
    grey = _random(7, 256, 2)
    page = Page(grey, 1, tags={338: 2})
    yield _tiff("grey-with-alpha", page, grey[..., 0], grey[..., 0])


def _tiff_palette() -> Iterator[RasterCase]:
    for bits, big in product((1, 2, 4, 8), (False, True)):
        colours = _random(bits, 256, 3).reshape(-1, 3)[: 1 << bits]
        stored = _random(bits, 1 << bits)
        wide = (colours.astype(int).T * 257).ravel().tolist()
        page = Page(stored, 3, bits, tags={320: wide})
        name = f"palette-{bits}bit-{'MM' if big else 'II'}"
        yield _tiff(name, page, colours[stored], big_endian=big)


def _tiff_ink() -> Iterator[RasterCase]:
    for bits, planar in product((8, 16), (1, 2)):
        ink, white = _random(bits, 1 << bits, 4), (1 << bits) - 1
        left = 1 - ink.astype(np.float64) / white
        page = Page(ink, 5, bits, planar)
        yield _tiff(
            f"cmyk-{bits}bit-planar{planar}", page, 255 * left[..., :3] * left[..., 3:]
        )
    luma = _random(1, 256, 3)
    for turn in (1, 6):
        page = Page(luma, 6, tags={530: [1, 1], 274: turn})
        yield _tiff(f"ycbcr-turned{turn}", page, upright(_of_luma(luma), turn))


def _of_luma(stored: Array) -> Array:
    """Return YCbCr as RGB (TIFF 6.0, page 91, with the coefficients of CCIR 601-1)."""
    luma, blue, red = (stored[..., n].astype(np.float64) for n in range(3))
    r, b = luma + 1.402 * (red - 128), luma + 1.772 * (blue - 128)
    g = (luma - 0.299 * r - 0.114 * b) / 0.587
    return np.stack([r, g, b], axis=-1).clip(0, 255)


def _tiff_turned() -> Iterator[RasterCase]:
    for turn, compression, channels in product(range(1, 9), (NONE, DEFLATE), (1, 3)):
        stored = _random(turn, 256, channels).squeeze()
        page = Page(
            stored, 2 if channels == 3 else 1, compression=compression, tags={274: turn}
        )
        shown = upright(stored, turn)
        name = f"turned{turn}-compression{compression}-{channels}"
        yield _tiff(name, page, shown, shown if channels == 1 else None)


def _big_tiff() -> Iterator[RasterCase]:
    for bits, big in product((8, 16), (False, True)):
        stored = _random(bits, 1 << bits)
        page = Page(stored, bits=bits, rows_per_strip=5)
        shown = stored * 255.0 / ((1 << bits) - 1)
        name = f"big-{bits}bit-{'MM' if big else 'II'}"
        yield _tiff(name, page, shown, stored, big_endian=big, big_tiff=True)


def _tiff_pages() -> Iterator[RasterCase]:
    grey, colour, deep = (
        _random(1, 256),
        _random(2, 256, 3)[:9],
        _random(3, 1 << 16)[:, :11],
    )
    pages = (Page(grey, tags={274: 8}), Page(colour, 2, planar=2), Page(deep, 0))
    turned = upright(grey, 8)
    yield _tiff("pages-0", pages, turned, turned, 0)
    yield _tiff("pages-1", pages, colour, None, 1)
    yield _tiff("pages-2", pages, 255 - deep / 257, deep, 2)


def _png_case(
    name: str,
    samples: Array,
    kind: int,
    shown: Array,
    values: Array | None = None,
    **written: Any,  # noqa: ANN401 - what write_png takes
) -> RasterCase:
    return RasterCase(
        f"{name}.png",
        lambda path: write_png(path, samples, kind, **written),
        shown,
        values,
    )


def _png() -> Iterator[RasterCase]:
    for bits in (1, 2, 4, 8, 16):
        stored, white = _random(bits, 1 << bits), (1 << bits) - 1
        values = stored if bits > 8 else _eighths(stored, white)
        name = f"grey-{bits}bit"
        yield _png_case(
            name, stored, ColourType.GREY, stored * 255.0 / white, values, bits=bits
        )
    for bits in (8, 16):
        white = (1 << bits) - 1
        for kind, channels in ((ColourType.RGB, 3), (ColourType.RGB_ALPHA, 4)):
            stored = _random(bits, 1 << bits, channels)
            shown = _eighths(stored[..., :3], white)
            yield _png_case(f"rgb{channels}-{bits}bit", stored, kind, shown, bits=bits)
        stored = _random(bits, 1 << bits, 2)
        grey = stored[..., 0]
        name = f"grey-alpha-{bits}bit"
        yield _png_case(
            name, stored, ColourType.GREY_ALPHA, grey * 255.0 / white, grey, bits=bits
        )
    for bits in (1, 2, 4, 8):
        colours, stored = (
            _random(bits, 256, 3).reshape(-1, 3)[: 1 << bits],
            _random(bits, 1 << bits),
        )
        table = [(b"PLTE", colours.tobytes())]
        yield _png_case(
            f"palette-{bits}bit",
            stored,
            ColourType.PALETTE,
            colours[stored],
            bits=bits,
            before=table,
        )


def _png_transparent() -> Iterator[RasterCase]:
    grey, deep, rgb = _random(1, 256), _random(2, 1 << 16), _random(3, 256, 3)
    clear = int(grey[0, 0]).to_bytes(2)
    yield _png_case(
        "clear-grey", grey, ColourType.GREY, grey, grey, before=[(b"tRNS", clear)]
    )
    clear = int(deep[0, 0]).to_bytes(2)
    yield _png_case(
        "clear-grey16",
        deep,
        ColourType.GREY,
        deep / 257,
        deep,
        bits=16,
        before=[(b"tRNS", clear)],
    )
    clear = b"".join(int(value).to_bytes(2) for value in rgb[0, 0])
    yield _png_case("clear-rgb", rgb, ColourType.RGB, rgb, before=[(b"tRNS", clear)])
    colours, stored = _random(4, 256, 3).reshape(-1, 3)[:256], _random(4, 256)
    table = [(b"PLTE", colours.tobytes()), (b"tRNS", bytes(range(256)))]
    yield _png_case(
        "clear-palette", stored, ColourType.PALETTE, colours[stored], before=table
    )


def _png_gamma() -> Iterator[RasterCase]:
    for gamma, bits in product((100_000, 45_455), (8, 16)):
        chunk, stored = [(b"gAMA", gamma.to_bytes(4))], _random(bits, 1 << bits)
        shown = stored * 255.0 / ((1 << bits) - 1)
        yield _png_case(
            f"gamma{gamma}-grey{bits}",
            stored,
            ColourType.GREY,
            shown,
            stored,
            bits=bits,
            before=chunk,
        )
    rgb = _random(5, 256, 3)
    yield _png_case("gamma100000-rgb", rgb, ColourType.RGB, rgb, before=chunk)


def _png_turned() -> Iterator[RasterCase]:
    for turn, place in product(range(1, 9), ("before", "behind")):
        grey = _random(turn, 256)
        shown, chunk = upright(grey, turn), {place: [orientation_chunk(turn)]}
        yield _png_case(
            f"turned{turn}-{place}", grey, ColourType.GREY, shown, shown, **chunk
        )


def _pillow(
    name: str,
    stored: Array,
    shown: Array,
    values: Array | None = None,
    **saved: Any,  # noqa: ANN401 - what Pillow takes
) -> RasterCase:
    mode = saved.pop("mode", None)
    turn = saved.pop("turn", 1)
    if turn > 1:
        saved["exif"] = Image.Exif()
        saved["exif"][0x0112] = turn

    def write(path: Path) -> None:
        image = Image.fromarray(stored)
        (image.convert(mode) if mode else image).save(path, **saved)

    within = _SMOOTH if {"quality", "quality_mode"} & set(saved) else 0.5
    return RasterCase(name, write, shown, values, within=within)


def _indexed(name: str, stored: Array, colours: Array) -> RasterCase:
    """Return indices into a palette of the first 256 of some colours."""
    palette = colours.reshape(-1, 3)[:256]

    def write(path: Path) -> None:
        image = Image.fromarray(stored)
        image.putpalette(palette.tobytes(), "RGB")
        image.save(path)

    return RasterCase(name, write, palette[stored])


def _jpeg() -> Iterator[RasterCase]:
    rgb, grey = _smooth(3), _smooth(1)[..., 0]
    for way in ({}, {"progressive": True}, {"subsampling": 0}, {"subsampling": 2}):
        name = "-".join(f"{key}{value}" for key, value in way.items()) or "plain"
        yield _pillow(f"rgb-{name}.jpg", rgb, rgb, quality=95, **way)
    yield _pillow("grey.jpg", grey, grey, grey, quality=95)
    yield _pillow("cmyk.jpg", rgb, rgb, mode="CMYK", quality=95)


def _jpeg_turned() -> Iterator[RasterCase]:
    for turn in range(1, 9):
        rgb = _smooth(3)
        yield _pillow(
            f"turned{turn}.jpg", rgb, upright(rgb, turn), quality=95, turn=turn
        )


def _webp() -> Iterator[RasterCase]:
    rgb = _random(1, 256, 3)
    for turn in range(1, 9):
        yield _pillow(
            f"turned{turn}.webp", rgb, upright(rgb, turn), lossless=True, turn=turn
        )
    smooth = _smooth(3)
    yield _pillow("lossy.webp", smooth, smooth, quality=95)
    rgba = np.dstack([rgb, np.maximum(_random(2, 256), 1)])
    yield _pillow("alpha.webp", rgba, rgb, lossless=True, exact=True)


def _jpeg2000() -> Iterator[RasterCase]:
    from imagecodecs import jpeg2k_encode

    for bits, kind, suffix in product((8, 12, 16), (1, 2, 3, 4), ("jp2", "j2k")):
        stored, white = _random(bits, 1 << bits, kind).squeeze(), (1 << bits) - 1
        colour = stored[..., : kind - 1] if kind in {2, 4} else stored
        colour = colour[..., 0] if kind == 2 else colour
        coded = jpeg2k_encode(
            stored, level=0, reversible=True, codecformat=suffix, bitspersample=bits
        )
        grey = kind <= 2
        shown = colour * 255.0 / white if grey else _eighths(colour, white)
        yield RasterCase(
            f"{bits}bit-{kind}.{suffix}",
            lambda path, coded=coded: path.write_bytes(coded),  # type: ignore[misc]
            shown,
            colour if grey else None,
        )
    rgb = _smooth(3)
    yield _pillow("lossy.jp2", rgb, rgb, quality_mode="rates", quality_layers=[4])


def _bmp() -> Iterator[RasterCase]:
    grey, rgb = _random(1, 256), _random(2, 256, 3)
    bits = np.where(grey > 127, 255, 0).astype(np.uint8)
    yield _pillow("bits.bmp", bits, bits, bits, mode="1")
    yield _pillow("grey.bmp", grey, grey, grey)
    yield _pillow("rgb.bmp", rgb, rgb)
    yield _pillow("alpha.bmp", np.dstack([rgb, grey]), rgb)
    yield _indexed("palette.bmp", grey, rgb)


def _gif() -> Iterator[RasterCase]:
    grey, rgb = _random(1, 256), _random(2, 256, 3)
    yield _pillow("grey.gif", grey, grey, grey)
    yield _indexed("palette.gif", grey, rgb)
    yield _pillow("clear.gif", grey, grey, grey, transparency=int(grey[0, 0]))
    later = [Image.fromarray(255 - grey)]
    yield _pillow("pages.gif", grey, grey, grey, save_all=True, append_images=later)
