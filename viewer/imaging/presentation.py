"""An image with the grey scale of a presentation state (PS3.4 N.2.1)."""

from dataclasses import replace

import numpy as np

from viewer.domain.errors import WrongUseError
from viewer.domain.image import (
    LookupTable,
    Photometric,
    PixelImage,
    PresentationShape,
    VoiFunction,
    Window,
)
from viewer.domain.presentation import PresentationState


def presented(image: PixelImage, state: PresentationState) -> PixelImage:
    """Return an image with the VOI transformation and presentation LUT of a state.

    Its measured values stay in the image's own modality units. The state replaces the
    image's own window and LUTs, and MONOCHROME1 no longer inverts (PS3.4
    N.2.1.4). Colour is returned unchanged.

    Raises
    ------
    WrongUseError
        If the state has a VOI LUT for other modality units than the image's, or a
        window for units that fall where those of the image rise.
    """
    if image.photometric is Photometric.RGB:
        return image
    voi, opposite = state.voi, state.rescale[0] * image.rescale[0] < 0
    if state.rescale != image.rescale and (opposite or isinstance(voi, LookupTable)):
        raise WrongUseError(
            f"{state.path.name} is meant for values rescaled by {state.rescale}, "
            f"the image's are rescaled by {image.rescale}.",
            "Choose another presentation state.",
        )
    return replace(
        image,
        windows=(_window(image, state, voi),)
        if not isinstance(voi, LookupTable)
        else (),
        voi_luts=(voi,) if isinstance(voi, LookupTable) else (),
        presentation_shape=state.shape or PresentationShape.IDENTITY,
        presentation_lut=state.lut,
    )


def _window(image: PixelImage, state: PresentationState, voi: Window | None) -> Window:
    """Return the state's window in the image's modality units."""
    if voi is None:
        low, high = image.value_range or (
            float(np.nanmin(image.values)), float(np.nanmax(image.values))
        )  # fmt: skip
        width = high - low or 1.0
        return Window((low + high) / 2, width, VoiFunction.LINEAR_EXACT)
    if state.rescale == image.rescale:
        return voi
    center, width, function = voi.center, voi.width, voi.function
    if function is VoiFunction.LINEAR:
        # LINEAR's half and whole units are those of the state (C.11.2.1.2.1).
        center, width = center - 0.5, max(width - 1.0, np.finfo(float).eps)
        function = VoiFunction.LINEAR_EXACT
    (of_state, zero), (slope, intercept) = state.rescale, image.rescale
    gain = slope / of_state
    return replace(
        voi,
        center=(center - zero) * gain + intercept,
        width=width * abs(gain),
        function=function,
    )
