"""Reports of synthetic chest studies, which state exactly the findings present."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from viewer.services.synthetic.phantom.patient import Finding, PhantomPatient
from viewer.services.synthetic.phantom.projection import Projection

_WORDS: Final[Mapping[Finding, str]] = {
    Finding.ENLARGED_CARDIOMEDIASTINUM: "an enlarged cardiomediastinum",
    Finding.CARDIOMEGALY: "cardiomegaly",
    Finding.AIRSPACE_OPACITY: "an airspace opacity",
    Finding.LUNG_LESION: "a lung lesion",
    Finding.EDEMA: "pulmonary edema",
    Finding.CONSOLIDATION: "a consolidation",
    Finding.ATELECTASIS: "linear atelectasis",
    Finding.PNEUMOTHORAX: "a pneumothorax",
    Finding.PLEURAL_EFFUSION: "a pleural effusion",
    Finding.SUPPORT_DEVICES: "a pacemaker",
}
_INDICATIONS: Final = (
    "Shortness of breath.",
    "Cough and fever for three days.",
    "Chest pain after a fall.",
    "Check of the position of devices.",
    "Known heart failure, weight gain.",
)


@dataclass(frozen=True, slots=True)
class ChestReport:
    """The indication and the findings of a report."""

    indication: str
    findings: str


def earlier(patient: PhantomPatient) -> tuple[PhantomPatient, Finding]:
    """Return an earlier state of a patient, and the finding that has changed since.

    The first finding by name was absent then; a patient without findings had an
    effusion.
    """
    if not patient.findings:
        gone = Finding.PLEURAL_EFFUSION
        return replace(patient, findings=frozenset({gone})), gone
    new = min(patient.findings)
    return replace(patient, findings=patient.findings - {new}), new


def report_of(
    patient: PhantomPatient, frontal: Projection, changed: Finding | None = None
) -> ChestReport:
    """Return a patient's report; ``changed`` since the prior study, None without one.

    Every finding is named once, with the side of its shadow.
    """
    indication = _INDICATIONS[patient.index % len(_INDICATIONS)]
    found = [_sentence(finding, frontal) for finding in sorted(patient.findings)]
    if changed is not None:
        since = "new" if changed in patient.findings else "resolved"
        found.append(f"Compared with the prior study, {_WORDS[changed]} is {since}.")
    text = " ".join(found) or "The lungs are clear. No abnormality is seen."
    return ChestReport(indication, text)


def side_of(finding: Finding, frontal: Projection) -> str:
    """Return left, right or bilateral, "" for a midline finding.

    A side counts if it has at least a tenth of the shadow.
    """
    shadow = frontal.masks[finding]
    lungs = [frontal.anatomy[f"{side} lung"] for side in ("left", "right")]
    total = max(int(np.count_nonzero(shadow)), 1)
    left, right = (int(np.count_nonzero(shadow & lung)) for lung in lungs)
    if 10 * left >= total and 10 * right >= total:
        return "bilateral"
    if 10 * left >= total:
        return "left"
    return "right" if 10 * right >= total else ""


def _sentence(finding: Finding, frontal: Projection) -> str:
    if finding in _CENTRAL:
        return f"There is {_WORDS[finding]}."
    side = side_of(finding, frontal)
    where = f", {side}" if side else ""
    return f"There is {_WORDS[finding]}{where}."


_CENTRAL: Final = frozenset({Finding.ENLARGED_CARDIOMEDIASTINUM, Finding.CARDIOMEGALY})
"""Findings of the middle, which have no side."""
