"""Readers' validation of a case before it is used (Chen 2026, Tasks A1 to A3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from viewer.domain.evidence import EvidenceCase
from viewer.domain.item import Item
from viewer.domain.physician import Alignment
from viewer.domain.plain import made, plain

ANONYMISATION: Final = (
    "No name, date of birth, record number or address in text and images.",
    "Exact ages, dates, places and rare procedures are generalised or removed.",
    "Identifiers burned into images are removed: numbers, times, overlays.",
    "Faces on clinical photographs are covered with black bars.",
    "Names of physicians and other unnecessary details are left out.",
)
"""What is ticked before a case is used (Chen 2026, appendix E.2)."""
VALIDATIONS: Final = "validations"
"""Under which an item's reference holds what readers found."""


@dataclass(frozen=True, slots=True)
class CaseValidation:
    """A reader's validation of a case.

    ``incomplete`` are the keys of evidence that is missing, of low quality or not
    interpretable; ``alignment`` has one verdict per piece of evidence, in order;
    ``unticked`` are the checklist's unmet lines, from 1.
    """

    case: str
    reader: str
    incomplete: tuple[str, ...]
    diagnosis_confirmed: bool
    alignment: tuple[Alignment, ...]
    unticked: tuple[int, ...] = ()

    def problems(self, case: EvidenceCase) -> tuple[str, ...]:
        """Return the reasons to exclude the case, none if it is suitable."""
        return tuple(self._problems(case))

    def _problems(self, case: EvidenceCase) -> Iterator[str]:
        for key in self.incomplete:
            yield f"{key} cannot be interpreted"
        if not self.diagnosis_confirmed:
            yield "the evidence does not confirm the diagnosis"
        for one, alignment in zip(case.evidence, self.alignment, strict=True):
            if alignment is not Alignment.OK:
                yield f"{one.key} is {alignment}"
        for line in self.unticked:
            yield f"not ticked: {ANONYMISATION[line - 1]}"

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON values for an item's reference, without the case."""
        document = plain(self)
        del document["case"]
        return document


def validations_of(item: Item) -> tuple[CaseValidation, ...]:
    """Return the readers' validations of an item, none if it has not been validated."""
    listed = made(
        list[dict[str, Any]], item.reference.get(VALIDATIONS, []), where=_WHERE
    )
    return tuple(
        made(CaseValidation, {"case": item.key, **one}, where=_WHERE) for one in listed
    )


_WHERE: Final = "what readers found"
