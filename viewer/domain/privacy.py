"""What may be sent from this machine, and the record of it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from viewer.domain.geometry import BoxPx
from viewer.domain.image import PixelImage

CLEAN_FEATURES: Final = "113102"
"""Nobody can be identified from the pixels, as the user decided or the header says."""
DEIDENTIFICATION: Final[Mapping[str, str]] = MappingProxyType(
    {
        "113100": "Basic Application Confidentiality Profile",
        "113101": "Clean Pixel Data Option",
        CLEAN_FEATURES: "Clean Recognizable Visual Features Option",
        "113103": "Clean Graphics Option",
        "113104": "Clean Structured Content Option",
        "113105": "Clean Descriptors Option",
    }
)
"""Codes of the scheme DCM and their meanings (PS3.15 Annex E, PS3.16 CID 7050)."""
WITHOUT_HEADER: Final = frozenset({*DEIDENTIFICATION} - {CLEAN_FEATURES})
"""The basis for sending any image of a patient: only pixels, and checked."""


@dataclass(frozen=True, slots=True)
class Consent:
    """A person's consent for one endpoint; the latest one applies.

    ``endpoint`` is scheme, host and port (``https://api.example.org:443``), ``dataset``
    the data set it is for, None for any. ``granted`` is False if consent was withdrawn.
    ``given_by`` is the user's name, "" if unknown.
    """

    id: int
    endpoint: str
    dataset: str | None
    purpose: str
    granted: bool
    given_at: str
    given_by: str = ""


@dataclass(frozen=True, slots=True)
class Departure:
    """One request that was sent to an endpoint beyond this machine.

    ``run``, ``item`` and ``model`` are None outside a trial, as for a probe.
    ``deidentified`` has codes of DEIDENTIFICATION, none if no patient's image was sent.
    """

    id: int
    endpoint: str
    body_sha256: str
    consent: int
    sent_at: str
    run: int | None = None
    item: str | None = None
    model: str | None = None
    deidentified: tuple[str, ...] = ()


class ReviewDecision(StrEnum):
    """A person's decision after reviewing an image's pixels for text."""

    CLEAN = "clean"
    """Nothing in the pixels names a person."""
    BLACKED_OUT = "blacked_out"
    """Identifying text is in boxes, which are sent black."""
    BLOCKED = "blocked"
    """The image may not leave."""


@dataclass(frozen=True, slots=True)
class PixelReview:
    """A decision about one image; ``boxes`` are in its native pixels.

    ``image_sha256`` is that of its pixels (`pixels_sha256`), so that it applies to
    these pixels wherever the file lies, and to no others. A decision about an item's
    text, clean or blocked, is stored under the hash of that text.
    """

    image_sha256: str
    decision: ReviewDecision
    boxes: tuple[BoxPx, ...] = ()
    reviewed_at: str = ""


def how_to_allow(origin: str, dataset: str) -> str:
    """Return how to allow sending a data set, as the command line names it."""
    if origin.startswith("https://"):
        return f"To allow it, type: overread allow {origin} --for {dataset}"
    return (
        "What is sent there can be read in transit: prefer an https address. To allow "
        f"it anyway, type: overread allow {origin} --unencrypted --for {dataset}"
    )


def pixels_sha256(image: PixelImage) -> str:
    """Return the SHA-256 of an image's dtype, shape and values, in hexadecimal."""
    pixels = image.values
    digest = hashlib.sha256(f"{pixels.dtype.str}{pixels.shape}".encode())
    digest.update(pixels.tobytes())
    return digest.hexdigest()
