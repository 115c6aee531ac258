"""Patient, study and view of an image, from its header and file name."""

import hashlib
import re

from viewer.domain.case import ImageHeader, View
from viewer.readers.files.projections import projection

_PATIENT = re.compile(r"patient\d+")
_VIEW_WORDS = {
    "frontal": View.FRONTAL,
    "pa": View.FRONTAL,
    "ap": View.FRONTAL,
    "lateral": View.LATERAL,
    "lat": View.LATERAL,
}


def patient_key(written: str, key: str) -> str:
    """Return a patient key that does not identify the person.

    A patient id, from a table or DICOM, becomes ``p`` and ten hexadecimal digits of its
    SHA-256; otherwise ``patient…`` in the image's id is used; otherwise the image is
    its own patient.
    """
    if written:
        return "p" + hashlib.sha256(written.encode()).hexdigest()[:10]
    found = _PATIENT.search(key)
    return found.group() if found else key


def study_key(header: ImageHeader | None, patient: str) -> str:
    """Return ``s`` and ten digits of the study's hash; the patient without one."""
    if header and header.modality and header.study_key:
        return "s" + hashlib.sha256(header.study_key.encode()).hexdigest()[:10]
    return patient


def written_view(written: str) -> View:
    """Return the view for a word in a table: PA, AP, frontal, lateral, LL, other."""
    if written.strip().casefold() == View.OTHER:
        return View.OTHER
    return projection(written)


def named_view(stem: str) -> View:
    """Return the view that a file name ends in: ``…_frontal``, ``…-pa``, ``…_lat``."""
    return _VIEW_WORDS.get(re.split(r"[_\-. ]", stem.lower())[-1], View.UNKNOWN)
