"""What a model prepared of a report, field by field, and the case that remains of it.

A person accepts, edits or rejects each field (E004-03, -23); what they decide makes the
case.json that is imported as a case of one's own (E004-26).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from viewer.domain.answer import ReportAnswer
from viewer.domain.evidence import OPTIONS, EvidenceType, evidence_type
from viewer.domain.item import Item
from viewer.domain.result import TrialResult
from viewer.studies.evidence_diagnosis.params import PREPARING, Task
from viewer.studies.evidence_diagnosis.preparation import BACKGROUND, is_report
from viewer.studies.evidence_diagnosis.preparing import LABS, PREPARED

SPECIALTY: Final = "specialty"
HISTORY: Final = "history"
EXAMINATION: Final = "examination"
DIAGNOSIS: Final = "diagnosis"
DISTRACTORS: Final = tuple(f"distractor {n}" for n in range(1, OPTIONS))
FINDING, IMAGES = "finding", "images"
_MEDICATIONS: Final = "Medications"
_ENDING: Final = " Findings"
_OPTIONAL: Final = frozenset({EXAMINATION})


class Verdict(StrEnum):
    """What a person decides about a field."""

    ACCEPT = "accept"
    EDIT = "edit"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class PreparedField:
    """A field of a case: what is proposed for it, "" for nothing.

    ``extracted`` is the report's own text that it was made from; ``verbatim`` is False
    if some of that does not stand in the report.
    """

    name: str
    proposed: str = ""
    extracted: str = ""
    verbatim: bool = True

    @property
    def optional(self) -> bool:
        """Whether a case may do without it, so that nobody has to decide."""
        return self.name in _OPTIONAL and not self.proposed


@dataclass(frozen=True)
class PreparedCase:
    """A report's fields, in the order of a case.json."""

    key: str
    language: str
    fields: tuple[PreparedField, ...]

    @property
    def types(self) -> tuple[EvidenceType, ...]:
        """The types of its evidence, in order."""
        named = {one.name.removesuffix(f" {FINDING}") for one in self.fields}
        return tuple(of for of in EvidenceType if str(of) in named)

    @property
    def needed(self) -> tuple[PreparedField, ...]:
        """The fields that somebody has to decide about."""
        return tuple(one for one in self.fields if not one.optional)


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision about a field, with the text that replaces it if it is edited."""

    verdict: Verdict
    text: str = ""


Decisions = Mapping[str, Decided]
"""A person's decisions about a case, by the field."""


def prepared_cases(
    results: Sequence[TrialResult], items: Iterable[Item]
) -> tuple[PreparedCase, ...]:
    """Return the reports of a run with what its first model made of each.

    A field that nothing was made for is proposed empty.
    """
    made: dict[str, dict[Task, Any]] = {}
    for one in results:
        if Task(one.finding) in PREPARING:
            of_report = made.setdefault(one.patient, {})
            if one.score.reason == PREPARED and isinstance(one.said, ReportAnswer):
                of_report.setdefault(Task(one.finding), json.loads(one.said.text))
    return tuple(
        PreparedCase(
            item.key, str(item.facts["language"]), tuple(_fields(item, made[item.key]))
        )
        for item in items
        if is_report(item) and item.key in made
    )


def _fields(item: Item, made: Mapping[Task, Any]) -> Iterator[PreparedField]:
    chunks = made.get(Task.EXTRACTION, {"chunks": ()})["chunks"]
    summaries = made.get(Task.SUMMARIES, {})
    options = made.get(Task.DISTRACTORS, {})
    yield PreparedField(SPECIALTY)
    yield _history(chunks, summaries)
    yield PreparedField(EXAMINATION)
    sections = dict.fromkeys([*(chunk["key"] for chunk in chunks), *summaries])
    for key in sections:
        of = evidence_type(key if key == LABS else key.removesuffix(_ENDING))
        if of is not None and key.endswith(_ENDING):
            proposed = str(summaries.get(key) or _text(chunks, key))
            own = _text(chunks, key), _is_verbatim(chunks, key)
            yield PreparedField(f"{of} {FINDING}", proposed, *own)
            yield PreparedField(f"{of} {IMAGES}")
    diagnosis = str(item.reference.get("diagnosis", ""))
    yield PreparedField(DIAGNOSIS, diagnosis or str(options.get("ground_truth", "")))
    wrong = [*map(str, options.get("distractors", ())), *("",) * len(DISTRACTORS)]
    for name, proposed in zip(DISTRACTORS, wrong, strict=False):
        yield PreparedField(name, proposed)


def _history(
    chunks: Sequence[Mapping[str, Any]], summaries: Mapping[str, str]
) -> PreparedField:
    background, drugs = (_text(chunks, key) for key in (BACKGROUND, _MEDICATIONS))
    medications = f"{_MEDICATIONS}: {drugs}" if drugs else ""
    parts = (str(summaries.get(BACKGROUND) or background), medications)
    return PreparedField(
        HISTORY,
        "\n\n".join(filter(None, parts)),
        background,
        _is_verbatim(chunks, BACKGROUND) and _is_verbatim(chunks, _MEDICATIONS),
    )


def _text(chunks: Sequence[Mapping[str, Any]], key: str) -> str:
    return "\n\n".join(str(one["text"]) for one in chunks if one["key"] == key)


def _is_verbatim(chunks: Sequence[Mapping[str, Any]], key: str) -> bool:
    return all(one["verbatim"] for one in chunks if one["key"] == key)


def with_images(case: PreparedCase, names: Sequence[str]) -> PreparedCase:
    """Return a case that proposes images for its evidence, by the type in their names.

    A name such as ``e2_ct_1.png`` is of the CT; one that names no type, or several, is
    proposed for none.
    """
    of_type: dict[EvidenceType, list[str]] = {}
    for name in names:
        named = {of for part in _PARTS.split(name) if (of := evidence_type(part))}
        if len(named & {*case.types}) == 1:
            of_type.setdefault((named & {*case.types}).pop(), []).append(name)
    found = {f"{of} {IMAGES}": "; ".join(of_it) for of, of_it in of_type.items()}
    fields = (replace(x, proposed=found.get(x.name, x.proposed)) for x in case.fields)
    return replace(case, fields=tuple(fields))


_PARTS: Final = re.compile(r"[\W_]+")


def undecided(case: PreparedCase, decided: Decisions) -> int:
    """Return how many fields of a case nobody has decided about."""
    return sum(one.name not in decided for one in case.needed)


def case_document(case: PreparedCase, decided: Decisions) -> dict[str, object]:
    """Return the case.json that the decisions leave of a case.

    Evidence whose finding or images are rejected is left out. Options are sorted, so
    that their place says nothing.
    """
    said = {one.name: _said(one, decided) for one in case.fields}
    evidence = [
        {
            "type": str(of),
            IMAGES: [name for part in images.split(";") if (name := part.strip())],
            FINDING: finding,
        }
        for of in case.types
        for finding, images in [(said[f"{of} {FINDING}"], said[f"{of} {IMAGES}"])]
        if finding is not None and images is not None
    ]
    options = [said[name] for name in (DIAGNOSIS, *DISTRACTORS) if said[name]]
    document = {
        "id": case.key,
        "language": case.language,
        SPECIALTY: said[SPECIALTY],
        HISTORY: said[HISTORY],
        EXAMINATION: said[EXAMINATION],
        "evidence": evidence,
        "options": sorted(filter(None, options)),
        DIAGNOSIS: said[DIAGNOSIS],
    }
    return {name: value for name, value in document.items() if value}


def _said(field: PreparedField, decided: Decisions) -> str | None:
    """Return a field's text after review, None if it is rejected."""
    one = decided.get(field.name, Decided(Verdict.ACCEPT))
    if one.verdict is Verdict.REJECT:
        return None
    return one.text if one.verdict is Verdict.EDIT else field.proposed
