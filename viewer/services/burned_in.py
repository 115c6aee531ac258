"""Whether an image's pixels may name somebody, and the look that settles it.

An image goes to a remote endpoint once a person has looked at it, or once nothing
speaks for text in its pixels: neither its header nor the text finder (studies.md 3.8).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from viewer.domain.case import ImageRef
from viewer.domain.errors import PrivacyError
from viewer.domain.image import PixelImage
from viewer.domain.privacy import PixelReview, ReviewDecision, pixels_sha256
from viewer.imaging.burned_in_text import find_text, text_finder_missing
from viewer.imaging.luts import to_raster
from viewer.readers.identifiers import BurnedInFacts, burned_in_facts
from viewer.readers.pixels import load_pixels
from viewer.services.commands import PixelLook
from viewer.store import asking
from viewer.store.database import open_store

LOOK: Final = "Look at it with overread review, or with Review pixels in the window."
_OFTEN_WRITTEN_ON: Final = frozenset(
    {"DMS", "ECG", "ES", "GM", "OP", "OT", "SC", "US", "XA", "XC"}
)
"""Modalities whose pixels often hold text (ultrasound, captures, photographs)."""


def reason_by_header(facts: BurnedInFacts) -> str:
    """Return why a header alone asks for a look at the pixels, "" where it does not."""
    if facts.annotation == "YES":
        return "its header says that text is burned in"
    if facts.annotation != "NO" and facts.modality in _OFTEN_WRITTEN_ON:
        return f"{facts.modality} images often have text burned in"
    return ""


def check_pixels(
    ref: ImageRef, image: PixelImage, reviews: Mapping[str, PixelReview]
) -> None:
    """Raise ``PrivacyError`` where an image's pixels keep it on this machine.

    A person's decision about exactly these pixels settles it. Without one, header and
    text finder do; where the finder is not installed, every image waits for a person.
    """
    review = reviews.get(pixels_sha256(image))
    if review is None:
        reason = _reason(ref.path, image)
        if reason:
            raise PrivacyError(f"An image was not sent: {reason}.", LOOK)
    elif review.decision is ReviewDecision.BLOCKED:
        raise PrivacyError(
            "An image was not sent: a person decided that it may not leave.", LOOK
        )


def _reason(path: Path, image: PixelImage) -> str:
    by_header = reason_by_header(burned_in_facts(path))
    if by_header:
        return by_header
    if text_finder_missing() is not None:
        return "nobody has looked for text in its pixels, and no text finder is here"
    found = any(place.telling for place in find_text(to_raster(image)))
    return "there is text in its pixels" if found else ""


def pixels_to_review(store: Path, ref: ImageRef) -> PixelLook:
    """Look for text in an image's pixels.

    The boxes of an earlier decision come first; the finder's are proposed without one.
    """
    image = load_pixels(ref)
    sha256 = pixels_sha256(image)
    with open_store(store) as opened:
        earlier = asking.reviews(opened).get(sha256)
    missing = text_finder_missing()
    places = () if missing else find_text(to_raster(image))
    telling = tuple(place.box for place in places if place.telling)
    by_header = reason_by_header(burned_in_facts(ref.path))
    return PixelLook(
        image_sha256=sha256,
        proposed=earlier.boxes if earlier else telling,
        outlined=tuple(place.box for place in places if not place.telling),
        reason=by_header or ("there is text in its pixels" if telling else ""),
        missing=missing or "",
        decision=earlier.decision.value if earlier else "",
    )


def keep_review(store: Path, review: PixelReview) -> None:
    """Keep a person's decision about an image's pixels."""
    with open_store(store) as opened:
        asking.add_review(opened, review)
