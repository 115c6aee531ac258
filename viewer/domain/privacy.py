"""What may leave this machine, and the record of what did (studies.md 3.8)."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from viewer.domain.geometry import BoxPx
from viewer.domain.image import PixelImage


@dataclass(frozen=True, slots=True)
class Consent:
    """A person's word about one endpoint; the last one about it holds.

    ``endpoint`` is host:port, ``dataset`` the data set it is for, None for any.
    ``granted`` is False where consent was withdrawn.
    """

    id: int
    endpoint: str
    dataset: str | None
    purpose: str
    granted: bool
    given_at: str


@dataclass(frozen=True, slots=True)
class Departure:
    """One request that was sent to an endpoint beyond this machine.

    ``run``, ``item`` and ``model`` are None where no trial was asked, as for a probe.
    """

    id: int
    endpoint: str
    body_sha256: str
    consent: int
    sent_at: str
    run: int | None = None
    item: str | None = None
    model: str | None = None


class ReviewDecision(StrEnum):
    """What a person decided after looking for text in an image's pixels."""

    CLEAN = "clean"
    """Nothing in the pixels names a person."""
    BLACKED_OUT = "blacked_out"
    """What names a person stands in boxes, which are sent black."""
    BLOCKED = "blocked"
    """The image may not leave."""


@dataclass(frozen=True, slots=True)
class PixelReview:
    """A decision about one image; ``boxes`` are in its native pixels.

    ``image_sha256`` is that of its pixels (`pixels_sha256`), so that it holds for
    these pixels wherever the file lies, and for no others.
    """

    image_sha256: str
    decision: ReviewDecision
    boxes: tuple[BoxPx, ...] = ()
    reviewed_at: str = ""


def pixels_sha256(image: PixelImage) -> str:
    """Return the SHA-256 of an image's type, shape and values, in hexadecimal."""
    pixels = image.values
    digest = hashlib.sha256(f"{pixels.dtype.str}{pixels.shape}".encode())
    digest.update(pixels.tobytes())
    return digest.hexdigest()
