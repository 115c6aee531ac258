import hashlib

import numpy as np
import numpy.typing as npt

from viewer.domain.image import Photometric, PixelImage
from viewer.domain.privacy import how_to_allow, pixels_sha256


def test_that_only_an_encrypted_endpoint_is_allowed_without_a_warning() -> None:
    assert how_to_allow("https://a.example", "d") == (
        "To allow it, type: overread allow https://a.example --for d"
    )
    said = how_to_allow("http://a.example", "d")
    assert said.endswith("overread allow http://a.example --unencrypted --for d")
    assert "can be read in transit" in said


def _named(values: npt.NDArray[np.generic]) -> str:
    return pixels_sha256(PixelImage(values, Photometric.MONOCHROME2))


def test_that_pixels_are_named_by_their_type_shape_and_values() -> None:
    pixels = np.arange(6, dtype="<u2").reshape(2, 3)
    known = hashlib.sha256(b"<u2(2, 3)" + bytes([0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0]))
    assert _named(pixels) == known.hexdigest()
    assert _named(np.asfortranarray(pixels)) == known.hexdigest()
    others = (pixels.reshape(3, 2), pixels.view("<i2"), pixels + np.uint16(1))
    assert len({known.hexdigest(), *map(_named, others)}) == 4
