"""One case with several pieces of evidence, from its case.json (E004-26).

A case.json holds one object:

====================  ===========================================================
``language``          ``en`` or ``zh``; every text of the case is in it
``specialty``         one of the 17 of Chen 2026, appendix A.4
``history``           the medical history, not empty
``examination``       the physical examination; may be left out
``evidence``          a list of at least two, each an object with ``type``
                      (Laboratory, CT, MRI, PET, Ultrasound, X-ray, Microscopy,
                      Clinical Photography, Electrophysiology/Other), ``images``
                      (files below the case's folder, at least one), ``finding`` (what
                      an expert read from them), and ``when`` where there are several
                      times
``options``           four different diagnoses
``diagnosis``         the confirmed one, word for word one of the options
``id``, ``patient``   where they are not the folder's name
====================  ===========================================================
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from viewer.domain.documents import read_json
from viewer.domain.errors import UnreadableInputError
from viewer.domain.evidence import (
    OPTIONS,
    Evidence,
    EvidenceCase,
    EvidenceType,
    Language,
    evidence_type,
)
from viewer.domain.specialties import SPECIALTIES, specialty_named
from viewer.readers.files.text_files import bounded_text

FILE: Final = "case.json"
FEWEST: Final = 2
"""Pieces of evidence that a case needs: one alone leaves nothing to put together."""
_KEYS: Final = frozenset(
    {
        *("id", "patient", "language", "specialty", "history", "examination"),
        *("evidence", "options", "diagnosis"),
    }
)
_EVIDENCE_KEYS: Final = frozenset({"type", "images", "finding", "when"})
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_LETTER: Final = re.compile(r"[^\W\d_]")
_WORD: Final = re.compile(r"[a-z]{4,}")
_MOST_HAN: Final = 0.1
"""Share of Chinese characters among the letters of English; names may have some."""
_MOST_WORDS: Final = 3
"""Lower-case Latin words without any Chinese; abbreviations and units are none."""


class _Case:
    """The object in a case.json, with error messages for what is invalid."""

    def __init__(self, name: str, values: Mapping[str, object]) -> None:
        self.name, self.values = name, values

    def bad(self, what: str, how: str) -> UnreadableInputError:
        """Return the error for a case, which is named by its folder."""
        return UnreadableInputError(f"The case '{self.name}' {what}.", how)

    def text(self, key: str, *, empty: bool = False) -> str:
        """Return a stripped text; a missing one raises unless it may be ``empty``."""
        value = self.values.get(key, "" if empty else None)
        if not isinstance(value, str) or not (empty or value.strip()):
            raise self.bad(f"has no text '{key}'", "Write one in its case.json.")
        return value.strip()


def read_case(path: Path) -> EvidenceCase:
    """Read a case.json; image keys are the case's name and the path below its folder.

    Raises
    ------
    UnreadableInputError
        For anything that differs from the table above, in one sentence with the fix.
    """
    case = _Case(path.parent.name, _object(path))
    if unknown := sorted(set(case.values) - _KEYS):
        raise case.bad(
            f"has an unknown entry '{unknown[0]}'",
            f"A case has {', '.join(sorted(_KEYS))}.",
        )
    key = case.text("id", empty=True) or case.name
    options = _options(case)
    diagnosis = case.text("diagnosis")
    if diagnosis not in options:
        raise case.bad(
            "has a diagnosis that is not one of its options",
            "Write it word for word as in the options.",
        )
    found = EvidenceCase(
        key=key,
        language=_language(case),
        specialty=_specialty(case),
        history=case.text("history"),
        examination=case.text("examination", empty=True),
        evidence=_evidence(case, key),
        options=options,
        answer=options.index(diagnosis),
        diagnosis=diagnosis,
    )
    _check_language(case, found)
    return found


def patient_of(path: Path) -> str:
    """Return the patient of a case, "" if its file does not say."""
    return str(_object(path).get("patient", "")).strip()


def has_evidence(path: Path) -> bool:
    """Tell whether a file is a case with evidence, valid or not."""
    try:
        return "evidence" in _object(path)
    except UnreadableInputError:
        return False


def file_of(case: EvidenceCase, image: str) -> str:
    """Return the path, below its case's folder, in an image's key."""
    return image.removeprefix(f"{case.key}/")


def _object(path: Path) -> Mapping[str, object]:
    name = path.parent.name
    try:
        found = read_json(bounded_text(path))
    except OSError as error:
        raise UnreadableInputError(
            f"The case '{name}' cannot be read: {error.strerror}.", "Allow reading it."
        ) from error
    except ValueError as error:
        raise UnreadableInputError(
            f"The case.json of '{name}' is not JSON.", "Save it as JSON in UTF-8."
        ) from error
    if not isinstance(found, dict):
        raise UnreadableInputError(
            f"The case.json of '{name}' does not contain an object.", "Begin it with {."
        )
    return found


def _language(case: _Case) -> Language:
    try:
        return Language(case.text("language"))
    except ValueError:
        raise case.bad(
            f"is in the language '{case.text('language')}'", "Write en or zh."
        ) from None


def _specialty(case: _Case) -> str:
    written = case.text("specialty")
    found = specialty_named(written)
    if found is None:
        raise case.bad(
            f"is of the specialty '{written}', which is not one of the 17",
            f"Write one of {', '.join(SPECIALTIES)}.",
        )
    return found


def _options(case: _Case) -> tuple[str, ...]:
    options = _texts(case.values.get("options"))
    if len(options) != OPTIONS:
        raise case.bad(
            f"has {len(options)} options", "Give four different diagnoses as options."
        )
    if len({option.casefold() for option in options}) < OPTIONS:
        raise case.bad("has the same option twice", "Give four different diagnoses.")
    return options


def _evidence(case: _Case, key: str) -> tuple[Evidence, ...]:
    listed = case.values.get("evidence")
    if not isinstance(listed, list) or len(listed) < FEWEST:
        n = len(listed) if isinstance(listed, list) else 0
        pieces = "1 piece" if n == 1 else f"{n} pieces"
        raise case.bad(
            f"has {pieces} of visual evidence",
            "Give at least two, so that there is something to combine.",
        )
    found = tuple(_one(case, key, n, one) for n, one in enumerate(listed, 1))
    images = [image for one in found for image in one.images]
    if twice := sorted({image for image in images if images.count(image) > 1}):
        raise case.bad(
            f"shows the image '{twice[0]}' more than once",
            "Name each image in one piece of evidence only.",
        )
    return found


def _one(case: _Case, key: str, number: int, one: object) -> Evidence:
    if not isinstance(one, dict) or set(one) - _EVIDENCE_KEYS:
        raise case.bad(
            f"has something other than evidence as its evidence {number}",
            "Give it type, images, finding and, where needed, when.",
        )
    of = _Case(f"{case.name}' in its evidence '{number}", one)
    images = _texts(one.get("images"))
    if not images:
        raise case.bad(
            f"has no images in its evidence {number}", "Name at least one file."
        )
    names = tuple(f"{key}/{_below(case, image)}" for image in images)
    when = of.text("when", empty=True)
    return Evidence(f"e{number}", _type(of), names, of.text("finding"), when)


def _type(of: _Case) -> EvidenceType:
    written = of.text("type")
    found = evidence_type(written)
    if found is None:
        raise of.bad(
            f"is of the unknown type '{written}'",
            f"Write one of {', '.join(EvidenceType)}.",
        )
    return found


def _below(case: _Case, image: str) -> str:
    path = PurePosixPath(image.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise case.bad(
            "names an image that is not in its folder",
            "Put its images next to its case.json and name them relative to it.",
        )
    return path.as_posix()


def _texts(value: object) -> tuple[str, ...]:
    """Return the texts of a list, empty unless all members are nonblank texts."""
    if not isinstance(value, list):
        return ()
    found = tuple(one.strip() for one in value if isinstance(one, str) and one.strip())
    return found if len(found) == len(value) else ()


def _check_language(case: _Case, found: EvidenceCase) -> None:
    texts = (
        found.history,
        found.examination,
        *(one.finding for one in found.evidence),
        *found.options,
    )
    if odd := _of_another_language(texts, found.language):
        raise case.bad(
            f"mixes languages: its language is {found.language}, but one of its texts "
            f"begins with '{odd[:12]}'",
            "Write every text of a case in one language.",
        )


def _of_another_language(texts: Sequence[str], language: Language) -> str:
    """Return the first text that is not in a language, "" if all are."""
    is_other = _is_chinese if language is Language.ENGLISH else _is_latin
    return next((text for text in texts if is_other(text)), "")


def _is_chinese(text: str) -> bool:
    letters = len(_LETTER.findall(text))
    return letters > 0 and len(_HAN.findall(text)) > _MOST_HAN * letters


def _is_latin(text: str) -> bool:
    return not _HAN.search(text) and len(_WORD.findall(text)) >= _MOST_WORDS
