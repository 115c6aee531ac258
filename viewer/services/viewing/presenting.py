"""Presentation states of opened files, and images shown by them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from viewer.domain.annotation import STATE_LINE, CornerLine
from viewer.domain.case import ImageRef
from viewer.domain.counting import counted
from viewer.domain.errors import UnreadableInputError
from viewer.domain.image_geometry import TURNS
from viewer.domain.presentation import PresentationState
from viewer.imaging.presentation import presented
from viewer.imaging.pyramid import Pyramid
from viewer.services.viewing.opened_image import OpenedImage
from viewer.services.viewing.view_image import ShownImage, field_of


def presentation_states(
    ref: ImageRef, files: Sequence[Path]
) -> tuple[tuple[PresentationState, ...], tuple[UnreadableInputError, ...]]:
    """Return the states of some files that refer to an image, and what is damaged."""
    from viewer.readers.presentation_states import (
        is_presentation_state,
        presentation_state,
    )

    found, damaged = list[PresentationState](), list[UnreadableInputError]()
    for path in filter(is_presentation_state, files):
        try:
            state = presentation_state(path, ref)
        except UnreadableInputError as error:
            damaged.append(error)
        else:
            found += [state] if state is not None else []
    return tuple(found), tuple(damaged)


def present(shown: ShownImage, state: PresentationState | None) -> OpenedImage:
    """Return an image as a state wants it shown, or as its own file does.

    Raises
    ------
    WrongUseError
        If the state does not fit the image.
    """
    if state is not None:
        line = CornerLine(_words(state), state.path.name)
        corners = replace(shown.corners, bottom_left=(*shown.corners.bottom_left, line))
        if state.voi is not None:
            corners = replace(corners, window_source=f"{STATE_LINE} {state.path.name}")
        image = presented(shown.image, state)
        shown = replace(shown, image=image, corners=corners, state=state)
    pyramid = Pyramid(shown.image).build()
    return OpenedImage(shown, field_of(shown.image.geometry), pyramid)


def _words(state: PresentationState) -> str:
    """Return what a state is called, what of it is shown, and what is not."""
    turn = TURNS[state.orientation]
    parts = {
        "window": state.voi is not None,
        "presentation LUT": state.lut is not None,
        "inverse": state.shape is not None and state.shape == "INVERSE",
        "turned": turn != TURNS[1],
        "part of the image": state.area is not None,
        f"magnified {state.magnified or 1:g} ×": bool(
            state.magnified and state.true_size is None
        ),
        "true size": state.true_size is not None,
        "overlays": state.planes is not None,
        "shutter": state.shutter is not None,
        counted(len(state.outlines), "graphic"): bool(state.outlines),
        counted(len(state.notes), "text"): bool(state.notes),
        f"not shown: {', '.join(state.left_out)}": bool(state.left_out),
    }
    applied = ", ".join(words for words, applies in parts.items() if applies)
    return f"{STATE_LINE} {state.name}" + (f" ({applied})" if applied else "")
