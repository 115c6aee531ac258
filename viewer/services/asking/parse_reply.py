"""Parsing of a pasted reply: its status and its locations in native pixels."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from viewer.domain.answer import CellAnswer, Unparsed
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import Affine, BoxPx, PointPx, PolygonPx, SizePx
from viewer.domain.grid import Grid
from viewer.domain.places import Place, PlacesReading
from viewer.domain.plain import plain
from viewer.models.coordinates.convention import Convention, GridConvention
from viewer.models.coordinates.conventions import (
    CONVENTIONS,
    Candidate,
    convention_named,
    detect,
)
from viewer.models.coordinates.frame import Frame
from viewer.studies.grid_localization.parse import read_cell

AUTO = "auto"
CONVENTION_NAMES: tuple[str, ...] = tuple(CONVENTIONS)
"""The conventions in the order of the table, as the command line offers them."""
_CODES_NOTE = (
    "The 16 codes are indices into PaliGemma's VQ-VAE codebook; without its decoder "
    "no mask can be drawn from them."
)


def parse_reply(
    convention: str,
    reply: str,
    sent: SizePx,
    seen: SizePx | None = None,
    *,
    native: SizePx | None = None,
    to_sent: Affine | None = None,
    grid: Grid | None = None,
    finding: str = "",
    truncated: bool = False,
) -> dict[str, object]:
    """Return a reply as read under a convention, ready to be written as JSON.

    Parameters
    ----------
    convention : str
        A convention's name, or ``auto``: every convention that fits, with its
        confidence and geometry; none is chosen.
    reply : str
        The model's text.
    sent, seen : SizePx
        The image as it was sent, and as the model saw it (as sent, if not given).
    native, to_sent : SizePx and Affine, optional
        The image itself and the map from its pixels to the sent ones; without them the
        sent image is taken as the native one.
    grid : Grid, optional
        The grid drawn on the sent image, 8 × 8 if not given.
    finding : str
        The finding asked for, which helps to tell a denial from an answer.
    truncated : bool
        Whether the provider stopped at its token limit.
    """
    frame = _frame(sent, seen, native, to_sent, grid)
    if convention == AUTO:
        candidates = detect(reply, frame)
        return _detected(reply, frame, candidates)
    chosen = _as_the_study_reads(convention_named(convention), finding)
    reading = chosen.read(reply, frame, truncated=truncated)
    return {**_of_reading(reading, frame), **_sizes(frame), "raw": reply}


def _frame(
    sent: SizePx,
    seen: SizePx | None,
    native: SizePx | None,
    to_sent: Affine | None,
    grid: Grid | None,
) -> Frame:
    for size in (sent, seen, native):
        if size is not None and min(size.rows, size.columns) < 1:
            raise WrongUseError(
                f"An image cannot have {size.columns} × {size.rows} pixels.",
                "Give its size as width and height, such as 1024x768.",
            )
    if (native is None) != (to_sent is None):
        raise WrongUseError(
            "The native image needs both its size and its map to the sent one.",
            "Give both or neither.",
        )
    frame = Frame.of_sent(sent, seen)
    if native is not None and to_sent is not None:
        frame = replace(frame, native=native, to_sent=to_sent)
    return replace(frame, grid=grid) if grid else frame


def _as_the_study_reads(convention: Convention, finding: str) -> Convention:
    """Parse cells with the grid study's parser, so that both always agree."""
    if not isinstance(convention, GridConvention):
        return convention

    def read(reply: str, grid: Grid, *, truncated: bool) -> CellAnswer | Unparsed:
        return read_cell(reply, grid, finding, truncated=truncated)

    return replace(convention, read_cell=read)


def _of_reading(reading: PlacesReading, frame: Frame) -> dict[str, object]:
    body: dict[str, object] = {
        "convention": reading.convention,
        "status": reading.status.value,
        "reason": reading.reason,
        "flags": plain(reading.flags),
        "scored": bool(reading.scored),
        "places": [_of_place(place, frame) for place in reading.places],
        "rejected": plain(reading.rejected),
    }
    if reading.convention == "grid":
        body["cell"] = reading.places[0].label if reading.scored else None
    return body


def _of_place(place: Place, frame: Frame) -> dict[str, object]:
    body: dict[str, object] = {
        **_geometry(place.shape),
        "label": place.label,
        "flags": plain(place.flags),
    }
    if place.mask is not None:
        body["mask"] = plain(place.mask.mask(frame.native))
    if place.seg_codes:
        body["seg_codes"] = list(place.seg_codes)
        body["note"] = _CODES_NOTE
    return body


def _geometry(shape: PointPx | BoxPx | PolygonPx) -> dict[str, object]:
    """Return a shape's kind and its numbers in native pixels."""
    if isinstance(shape, PointPx):
        return {"kind": "point", "x": shape.x, "y": shape.y}
    if isinstance(shape, BoxPx):
        corners = {"x0": shape.x0, "y0": shape.y0, "x1": shape.x1, "y1": shape.y1}
        return {"kind": "box", **corners}
    return {"kind": "polygon", "points": plain(shape.points)}


def _detected(
    reply: str, frame: Frame, candidates: Sequence[Candidate]
) -> dict[str, object]:
    """Return every interpretation; the status stays ambiguous while there are two."""
    statuses = {0: ("unparsed", "no_convention"), 1: ("ok", "only_convention")}
    status, reason = statuses.get(len(candidates), ("ambiguous", "several_conventions"))
    return {
        "convention": AUTO,
        "status": status,
        "reason": reason,
        "candidates": [
            {"confidence": c.confidence, **_of_reading(c.reading, frame)}
            for c in candidates
        ],
        **_sizes(frame),
        "raw": reply,
    }


def _sizes(frame: Frame) -> Mapping[str, object]:
    """Return the sizes as [width, height], and the native-to-sent map row by row."""
    a = frame.to_sent
    return {
        "native": [frame.native.columns, frame.native.rows],
        "sent": [frame.sent.columns, frame.sent.rows],
        "seen": [frame.seen.columns, frame.seen.rows],
        "native_to_sent": [[a.a, a.b, a.c], [a.d, a.e, a.f]],
    }
