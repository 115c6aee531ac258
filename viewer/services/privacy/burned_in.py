"""Review of whether an image's pixels may identify somebody.

An image may be sent to a remote endpoint once a person has reviewed it, or if neither
its header nor the text finder suggests text in its pixels.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from viewer.domain.case import ImageRef
from viewer.domain.errors import PrivacyError
from viewer.domain.geometry import BoxPx
from viewer.domain.image import PixelImage, Window
from viewer.domain.privacy import PixelReview, ReviewDecision, pixels_sha256
from viewer.imaging.burned_in_text import TextPlace, find_text, text_finder_missing
from viewer.imaging.luts import to_raster
from viewer.imaging.redaction import black_out
from viewer.readers.identifiers import BurnedInFacts, burned_in_facts
from viewer.readers.pixels import load_pixels
from viewer.services.commands import PixelLook
from viewer.store import consents
from viewer.store.database import open_store

LOOK: Final = "Review it with overread review, or with Review pixels in the window."
_OFTEN_WRITTEN_ON: Final = frozenset(
    {"DMS", "ECG", "ES", "GM", "OP", "OT", "SC", "US", "XA", "XC"}
)
"""Modalities whose pixels often hold text (ultrasound, captures, photographs)."""
_SLICES: Final = frozenset({"CT", "MR", "PT"})
_HEADS: Final = frozenset({"BRAIN", "FACE", "HEAD", "HEADNECK", "ORBIT", "SKULL"})
"""Body parts whose slices together show a face (PS3.15 E.3.2, PS3.16 Annex L)."""

_MOST_SEARCHED: Final = 4096
_searched: Final[dict[bytes, tuple[TextPlace, ...]]] = {}
"""The text found by this process, by a hash of the pixels displayed."""


def reason_by_header(facts: BurnedInFacts) -> str:
    """Return why the header alone requires a review of the pixels, "" if not."""
    if facts.annotation == "YES":
        return "its header says that text is burned in"
    if facts.annotation != "NO" and facts.modality in _OFTEN_WRITTEN_ON:
        return f"{facts.modality} images often have text burned in"
    if facts.annotation != "NO" and facts.is_capture:
        return "secondary captures often have text burned in"
    if facts.recognizable == "YES":
        return "its header says that a person can be recognised in it"
    if facts.recognizable != "NO" and _may_show_a_face(facts):
        return f"a face may be recognisable in {facts.modality} images of a head"
    return ""


def _may_show_a_face(facts: BurnedInFacts) -> bool:
    return facts.modality in _SLICES and facts.body_part in _HEADS


def check_pixels(
    ref: ImageRef,
    image: PixelImage,
    reviews: Mapping[str, PixelReview],
    window: Window | None = None,
) -> None:
    """Raise ``PrivacyError`` if an image's pixels must stay on this machine.

    A person's decision about exactly these pixels applies. Without one, header and text
    finder decide; if the finder is not installed, every image needs a review. A region
    of a slide without a decision of its own stays if one keeps any of the slide. If a
    ``window`` replaces the file's own, in which the person reviewed the image, it must
    not reveal text that was not visible then.
    """
    review = reviews.get(pixels_sha256(image))
    if review is None:
        _check_slide_of(ref, reviews)
        reason = _reason(ref.path, windowed(image, window))
        if reason:
            raise PrivacyError(f"An image was not sent: {reason}.", LOOK)
    elif review.decision is ReviewDecision.BLOCKED:
        raise PrivacyError(
            "An image was not sent: a person decided that it may not leave.", LOOK
        )
    elif window is not None and _shows_more(black_out(image, review.boxes), window):
        raise PrivacyError(
            "An image was not sent: its window shows text that was not visible when "
            "its pixels were reviewed.",
            "Black it out with overread review, or ask with the file's own window.",
        )


def _check_slide_of(ref: ImageRef, reviews: Mapping[str, PixelReview]) -> None:
    # Reading and hashing a slide pays only if there is any decision.
    if ref.listed == ref or not reviews:
        return
    review = reviews.get(pixels_sha256(load_pixels(ref.listed)))
    if review is not None and review.decision is not ReviewDecision.CLEAN:
        raise PrivacyError(
            "A region of a slide was not sent: a person decided that the slide, or "
            "part of it, may not leave.",
            LOOK,
        )


def windowed(image: PixelImage, window: Window | None) -> PixelImage:
    """Return an image as shown with a window, None for the file's own."""
    if window is None:
        return image
    return replace(image, windows=(window,), voi_luts=())


def _shows_more(image: PixelImage, window: Window) -> bool:
    """Tell whether a window reveals text that the file's own does not."""
    # Without the finder nothing can be compared; the person has seen the image.
    if text_finder_missing() is not None:
        return False
    seen = [place.box for place in _text_in(image)]
    found = [p.box for p in _text_in(windowed(image, window)) if p.telling]
    return any(not any(_touch(box, other) for other in seen) for box in found)


def _text_in(image: PixelImage) -> tuple[TextPlace, ...]:
    """Return the text in an image as displayed.

    The same pixels are searched once: a search takes up to three seconds, and a look,
    a decision and a question each need it.
    """
    raster = to_raster(image)
    about = f"{raster.pixels.shape}{raster.pixel_aspect}".encode()
    key = hashlib.sha256(about + raster.pixels.tobytes()).digest()
    found = _searched.get(key)
    if found is None:
        if len(_searched) >= _MOST_SEARCHED:
            _searched.clear()
        found = _searched[key] = find_text(raster)
    return found


def _touch(one: BoxPx, other: BoxPx) -> bool:
    across = one.x0 < other.x1 and other.x0 < one.x1
    return across and one.y0 < other.y1 and other.y0 < one.y1


def _reason(path: Path, image: PixelImage) -> str:
    by_header = reason_by_header(burned_in_facts(path))
    if by_header:
        return by_header
    if text_finder_missing() is not None:
        return "its pixels were not reviewed for text, and no text finder is installed"
    found = any(place.telling for place in _text_in(image))
    return "there is text in its pixels" if found else ""


def pixels_to_review(store: Path, ref: ImageRef) -> PixelLook:
    """Look for text in an image's pixels.

    The boxes of an earlier decision take precedence over those that the finder
    proposes.
    """
    image = load_pixels(ref)
    sha256 = pixels_sha256(image)
    with open_store(store) as opened:
        earlier = consents.reviews(opened).get(sha256)
    missing = text_finder_missing()
    places = () if missing else _text_in(image)
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
    """Store a person's decision about an image's pixels."""
    with open_store(store) as opened:
        consents.add_review(opened, review)
