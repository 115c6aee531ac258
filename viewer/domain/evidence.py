"""Clinical cases with several pieces of evidence, as items of a data set (E004-01)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from viewer.domain.item import Item
from viewer.domain.plain import made, plain

OPTIONS: Final = 4
"""Options of a case's question about its final diagnosis."""


class Language(StrEnum):
    """The language a case is written in."""

    ENGLISH = "en"
    CHINESE = "zh"


class EvidenceType(StrEnum):
    """The modality of a piece of visual evidence."""

    LABORATORY = "Laboratory"
    CT = "CT"
    MRI = "MRI"
    PET = "PET"
    ULTRASOUND = "Ultrasound"
    X_RAY = "X-ray"
    MICROSCOPY = "Microscopy"
    PHOTOGRAPHY = "Clinical Photography"
    OTHER = "Electrophysiology/Other"


_SPELLINGS: Final = {
    "pathology": EvidenceType.MICROSCOPY,
    "histology": EvidenceType.MICROSCOPY,
    "microscopy/pathology": EvidenceType.MICROSCOPY,
    "lab": EvidenceType.LABORATORY,
    "labs": EvidenceType.LABORATORY,
    "laboratory findings": EvidenceType.LABORATORY,
    "xray": EvidenceType.X_RAY,
    "radiograph": EvidenceType.X_RAY,
    "photography": EvidenceType.PHOTOGRAPHY,
    "clinical photograph": EvidenceType.PHOTOGRAPHY,
    "electrophysiology": EvidenceType.OTHER,
    "eeg": EvidenceType.OTHER,
    "ecg": EvidenceType.OTHER,
    "other imaging": EvidenceType.OTHER,
    "other": EvidenceType.OTHER,
} | {of.casefold(): of for of in EvidenceType}


def evidence_type(name: str) -> EvidenceType | None:
    """Return the evidence type for a name in any case or a common spelling."""
    return _SPELLINGS.get(" ".join(name.casefold().split()))


@dataclass(frozen=True, slots=True)
class Evidence:
    """A piece of visual evidence: its images, and an expert's reading of them.

    ``key`` is unique within the case, ``images`` are keys of the data set's images in
    order, ``when`` is the time it refers to, "" if the case has only one.
    """

    key: str
    type: EvidenceType
    images: tuple[str, ...]
    finding: str
    when: str = ""

    @property
    def title(self) -> str:
        """The type with its time, such as ``CT (day 3)``."""
        return f"{self.type} ({self.when})" if self.when else str(self.type)


@dataclass(frozen=True, slots=True)
class ShownEvidence:
    """How a question shows a piece of evidence, or the case's own text.

    ``kind`` is its code in :mod:`viewer.domain.styles`, ``title`` its name in the
    question, ``how`` what is shown of it, such as "2 images" or "left out". ``images``
    is the number of its images in the question, which follow one another.
    """

    kind: str
    title: str
    how: str
    images: int = 0


def with_images_named(
    facts: Mapping[str, object], names: Mapping[str, str]
) -> dict[str, object]:
    """Return an item's facts with the images of its evidence renamed.

    Facts of items that are not cases are returned unchanged.
    """
    evidence = facts.get("evidence")
    if not isinstance(evidence, list):
        return dict(facts)
    renamed = [
        {**one, "images": [names.get(key, key) for key in one["images"]]}
        for one in evidence
    ]
    return {**facts, "evidence": renamed}


@dataclass(frozen=True, slots=True)
class EvidenceCase:
    """A case: text, visual evidence, and the diagnosis to find among four options.

    ``answer`` is the index of the right option, from 0; ``diagnosis`` the confirmed
    diagnosis in full. ``examination`` may be "".
    """

    key: str
    language: Language
    specialty: str
    history: str
    examination: str
    evidence: tuple[Evidence, ...]
    options: tuple[str, ...]
    answer: int
    diagnosis: str

    @property
    def types(self) -> tuple[EvidenceType, ...]:
        """The types of its visual evidence, each once, in order."""
        return tuple(dict.fromkeys(one.type for one in self.evidence))

    @property
    def images(self) -> tuple[str, ...]:
        """The keys of all its images, in the order of its evidence."""
        return tuple(image for one in self.evidence for image in one.images)

    def document(self) -> dict[str, object]:
        """Return the case as its case.json has it, images named below its folder."""
        evidence = [
            {
                "type": str(one.type),
                "images": [image.removeprefix(f"{self.key}/") for image in one.images],
                "finding": one.finding,
                **({"when": one.when} if one.when else {}),
            }
            for one in self.evidence
        ]
        return {
            "id": self.key,
            "language": str(self.language),
            "specialty": self.specialty,
            "history": self.history,
            "examination": self.examination,
            "evidence": evidence,
            "options": list(self.options),
            "diagnosis": self.diagnosis,
        }

    def item(self, patient: str = "") -> Item:
        """Return the case as an item, with only the diagnosis in the reference."""
        facts = plain(self)
        key = facts.pop("key")
        truth = {name: facts.pop(name) for name in ("answer", "diagnosis")}
        return Item(key, patient or key, self.specialty, self.images, facts, truth)

    @classmethod
    def of_item(cls, item: Item) -> Self:
        """Return the case that :meth:`item` made an item of.

        If the truth is withheld, ``answer`` is -1 and ``diagnosis`` "".
        """
        entries = {
            "key": item.key,
            **item.facts,
            "answer": item.reference.get("answer", -1),
            "diagnosis": item.reference.get("diagnosis", ""),
        }
        return made(cls, entries, where=f"the case '{item.key}'")
