"""Which pixels of a picture are the finding: one rule for every mask file.

- Grey: 0 is background. Of two values the other is the finding, be it 1 or 255. Of
  more, as smooth edges and JPEG make them, those from half of the greatest up.
- Indices of a palette: every colour but the background is the finding. The background
  is what most of the border has, if that is black or colour 0; else black, if that is
  colour 0. Greys are grey, unless the border has colour 0 and that is not black.
- RGB: the same, with black for background, else white where nothing is black. Up to 16
  flat colours all count; shades of one colour are cut at half of their distance from
  the background.
- Alpha that varies over one colour is read instead of the colour.

What stays open after that is refused: no part of a reference is guessed.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import UnreadableInputError
from viewer.readers.rasters.page import RasterPage, Samples, colours_of, eight_bits

Marked = npt.NDArray[np.bool_]
_Colour = tuple[int, int, int]

WRITE_PLAINLY: Final = "Write a grey PNG: 0 outside the finding, 255 inside."
CAUTIONS: Final = frozenset({"mask_levels", "mask_colours", "mask_jpeg", "mask_area"})
"""The kinds of notices on a mask that the user should check."""
_BLACK: Final = (0, 0, 0)
_FLAT_COLOURS: Final = 16
"""As many colours may be labels; more are shades, of smooth edges or of JPEG."""
_NEAR: Final = 32
"""How far JPEG takes black and white from 0 and 255."""
_ALIKE: Final = 16
"""How far the channels of a grey, or two pixels of one colour, may lie apart."""
_SAME_HUE: Final = 0.98
"""The least cosine between shades of one colour."""


@dataclass(frozen=True, slots=True)
class Caution:
    """A doubt that a person should check, as a stable word and in words.

    The mask is the subject of the ``clause``: ``has 254 grey levels; …``.
    """

    kind: str
    clause: str


@dataclass(frozen=True, eq=False)
class ReadMask:
    """A (rows, columns) mask, True in the finding, and doubts about it."""

    marked: Marked
    cautions: tuple[Caution, ...] = ()


def binarized(page: RasterPage, path: Path) -> ReadMask:
    """Return the mask of a page of a picture.

    Raises
    ------
    UnreadableInputError
        If it is unclear which of its values or colours are the finding.
    """
    if page.alpha is not None and _has_clear_pixels(page.alpha):
        return _by_alpha(page, page.alpha, path)
    return _by_colour(page, path)


def mask_of_values(values: Samples, path: Path, white: float | None = None) -> ReadMask:
    """Return the mask of (rows, columns) numbers or (rows, columns, 3) colours.

    ``white`` is the greatest possible value; by default that of the dtype, and for
    floats 1, or 255 if any value is greater than 1.
    """
    if values.ndim == 3:
        return _mask_of_colours(values, path)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise UnreadableInputError(
            f"The mask {path.name} contains values that are not numbers.", WRITE_PLAINLY
        )
    levels = _levels(values)
    least, greatest = levels[0].item(), levels[-1].item()
    if len(levels) <= 2:
        if len(levels) == 2 and 0 not in levels:
            raise UnreadableInputError(
                f"{path.name} contains the values {least} and {greatest}, neither of "
                "which is 0.",
                WRITE_PLAINLY,
            )
        return ReadMask(values != 0)
    if least < 0 or 2 * greatest < (white or _white(values, greatest)):
        raise UnreadableInputError(
            f"{path.name} contains {len(levels)} values from {least} to {greatest}, "
            "which may be labels of several findings.",
            WRITE_PLAINLY,
        )
    # Rounded up for whole numbers, so that 127 of 255 is outside and 128 inside.
    half = greatest / 2 if values.dtype.kind == "f" else (greatest + 1) // 2
    clause = f"has {len(levels)} grey levels; those of {half:g} or more"
    caution = Caution("mask_levels", f"{clause} count as the finding")
    return ReadMask(values >= half, (caution,))


def _levels(values: Samples) -> Samples:
    """Return the distinct values, ascending."""
    return _counted(values)[0]


def _counted(values: Samples) -> tuple[Samples, Samples]:
    """Return the distinct values, ascending, with their counts.

    Masks have few runs of equal values along their rows, and only these are sorted.
    """
    flat = values.ravel()
    starts = np.flatnonzero(np.concatenate([[True], flat[1:] != flat[:-1]]))
    lengths = np.diff(starts, append=flat.size)
    found, which = np.unique(flat[starts], return_inverse=True)
    return found, np.bincount(which, weights=lengths).astype(np.int64)


def _colour_counts(rgb: Samples) -> tuple[Samples, Samples]:
    """Return the (n, 3) distinct colours of (…, 3) uint8, and the pixels of each."""
    # Bytes cannot be shifted by 16; one number a colour sorts faster than rows.
    red, green, blue = np.moveaxis(rgb.astype(np.int64), -1, 0)
    codes, counts = _counted(red << 16 | green << 8 | blue)
    return np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=-1), counts


def _white(values: Samples, greatest: float) -> float:
    if values.dtype.kind == "f":
        return 1.0 if greatest <= 1 else 255.0
    return 1.0 if values.dtype == np.bool_ else float(np.iinfo(values.dtype).max)


def _has_clear_pixels(alpha: Samples) -> bool:
    return bool(2 * int(alpha.min()) < int(alpha.max()))


def _by_alpha(page: RasterPage, alpha: Samples, path: Path) -> ReadMask:
    """Return what alpha covers, if it has one colour or colours mark it too."""
    covered = alpha >= int(alpha.max()) / 2
    colours = _shown(page, path)[covered]
    apart = colours.max(axis=0).astype(int) - colours.min(axis=0)
    if np.max(apart) <= _ALIKE:
        return ReadMask(covered, _shades(len(_levels(alpha)), "levels of opacity"))
    by_colour = _by_colour(page, path)
    if (by_colour.marked != covered).any():
        raise UnreadableInputError(
            f"{path.name} marks different pixels in its alpha channel and in its "
            "colours.",
            WRITE_PLAINLY,
        )
    return by_colour


def _shades(levels: int, named: str) -> tuple[Caution, ...]:
    if levels <= 2:
        return ()
    clause = f"has {levels} {named}; those of at least half the maximum"
    return (Caution("mask_levels", f"{clause} count as the finding"),)


def _by_colour(page: RasterPage, path: Path) -> ReadMask:
    if page.palette is not None:
        return _mask_of_palette(page, page.palette, path)
    if page.samples.ndim == 3:
        return _mask_of_colours(_shown(page, path), path)
    if not page.white_is_zero:
        return mask_of_values(page.samples, path, _white_of(page))
    if page.samples.dtype.kind != "u":
        raise UnreadableInputError(
            f"{path.name} says that 0 is white, but not which of its values is black.",
            WRITE_PLAINLY,
        )
    return mask_of_values(page.white - page.samples, path, page.white)


def _white_of(page: RasterPage) -> float | None:
    return page.white if page.samples.dtype.kind == "u" else None


def _shown(page: RasterPage, path: Path) -> Samples:
    """Return grey as it is, or RGB of 8 bits."""
    colours = colours_of(page, path)
    return colours if colours.ndim == 2 else eight_bits(colours, page.white)


def _mask_of_palette(page: RasterPage, palette: Samples, path: Path) -> ReadMask:
    shown = colours_of(page, path)
    used = {_colour(palette[index]) for index in _levels(page.samples)}
    first, border = _colour(palette[0]), _colour_of_border(shown)
    if all(len(set(colour)) == 1 for colour in used):
        # By colour it is background, by grey value the finding: neither may be guessed.
        if border == first != _BLACK:
            raise UnreadableInputError(
                f"{path.name} has palette colour 0 at its border, like a background, "
                f"but as grey {first[0]} it would be the finding.",
                WRITE_PLAINLY,
            )
        return mask_of_values(shown[..., 0], path)
    if border in {first, _BLACK}:
        background = border
    elif first == _BLACK:
        background = first
    else:
        raise _open(path, first, border)
    marked = (shown != np.array(background)).any(axis=2)
    return ReadMask(marked, _several(len(used - {background})))


def _open(path: Path, first: _Colour, border: _Colour | None) -> UnreadableInputError:
    most = (
        f"most of the border is {border}"
        if border
        else "its border has several colours"
    )
    return UnreadableInputError(
        f"{path.name} does not say which of its colours is background: colour 0 of its "
        f"palette is {first}, {most}.",
        WRITE_PLAINLY,
    )


def _colour_of_border(shown: Samples) -> _Colour | None:
    """Return the colour of more than half of the border's pixels, None without one."""
    colours, counts = _colour_counts(_border(shown))
    most = int(counts.argmax())
    return _colour(colours[most]) if 2 * counts[most] > counts.sum() else None


def _border(shown: Samples) -> Samples:
    """Return the (n, 3) pixels along the four edges."""
    inner = shown[1:-1]
    return np.concatenate([shown[0], shown[-1], inner[:, 0], inner[:, -1]])


def _colour(values: Samples) -> _Colour:
    red, green, blue = (int(value) for value in values)
    return red, green, blue


def _several(colours: int) -> tuple[Caution, ...]:
    if colours <= 1:
        return ()
    clause = f"has {colours} colours besides its background; all count as the finding"
    return (Caution("mask_colours", clause),)


def _mask_of_colours(rgb: Samples, path: Path) -> ReadMask:
    greatest = rgb.max(axis=2)
    if np.max(greatest - rgb.min(axis=2)) <= _ALIKE:
        return mask_of_values(greatest, path)
    colours, counts = _colour_counts(rgb)
    background = np.array(_background(colours, counts, _border(rgb), path))
    away = colours - background
    others = away[away.any(axis=1)]
    distance = np.abs(rgb - background.astype(np.int16)).max(axis=2)
    if len(others) <= _FLAT_COLOURS and not _are_shades(others):
        return ReadMask(distance > 0, _several(len(others)))
    marked = 2 * distance >= distance.max()
    return ReadMask(marked, _shades(len(colours), "shades of colour"))


def _background(
    colours: Samples, counts: Samples, border: Samples, path: Path
) -> _Colour:
    """Return the most frequent black, else the most frequent white."""
    is_black = colours.max(axis=1) < _NEAR
    light = border.min(axis=1) > 255 - _NEAR
    is_white_around = bool(2 * light.sum() > len(light))
    if is_black.any() == is_white_around:
        why = (
            "has black inside and white around it, and either may be the background"
            if is_white_around
            else "has neither a black nor a white background"
        )
        raise UnreadableInputError(f"{path.name} {why}.", WRITE_PLAINLY)
    is_white = colours.min(axis=1) > 255 - _NEAR
    of_ground = is_white if is_white_around else is_black
    return _colour(colours[np.where(of_ground, counts, 0).argmax()])


def _are_shades(away: Samples) -> bool:
    """Tell whether several colours lie on one line from the background's."""
    if len(away) <= 1:
        return False
    lengths = np.linalg.norm(away, axis=1)
    main = away[lengths.argmax()]
    cosines = (away @ main) / (lengths * lengths.max())
    return bool((cosines >= _SAME_HUE).all())
