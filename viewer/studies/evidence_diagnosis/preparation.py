"""Making a case from a report: extraction, summaries, distractors (E004-03, -21, -23).

Each step is a prompt of the paper to any model, and strict parsing of its JSON. The
paper asks for verbatim text but does not check; here every chunk is looked up in its
source.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from viewer.domain.answer import Status, Unparsed
from viewer.domain.documents import read_json
from viewer.domain.evidence import OPTIONS
from viewer.domain.exchange import ModelReply
from viewer.domain.item import Item
from viewer.studies.evidence_diagnosis.score import plain
from viewer.studies.evidence_diagnosis.templates import (
    DISTRACTORS,
    EXTRACTION,
    FINDINGS,
    SUMMARIES,
    printed,
)
from viewer.studies.prompts import BUILT_IN, OwnPrompts, fill

MODALITIES: Final = (
    *("CT", "MRI", "PET", "Ultrasound", "X-ray", "Pathology"),
    *("Clinical Photography", "Other Imaging"),
)
"""The modalities that the extraction may name (Chen 2026, appendix A.2)."""
REQUIRED: Final = ("Case ID", "Modality")
BACKGROUND: Final = "Patient Background"
OPTIONAL: Final = (
    BACKGROUND,
    "Laboratory Findings",
    "Medications",
    "Impression / Differential",
    *(f"{modality} Findings" for modality in MODALITIES),
)
_CHUNKS: Final = re.compile(r"\n\s*\n")
_SOURCE: Final = re.compile(r"\s*\((?:Dr\. [^()]+|Figure(?: \w+)? caption)\)\s*$")
_FENCE: Final = re.compile(r"\A```(?:json)?\s*\n(.*)\n\s*```\Z", re.DOTALL)
# Where a server leaves reasoning in the text, the answer follows this tag.
_REASONED: Final = "</think>"

EXTRACTION_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {key: {"type": "string"} for key in (*REQUIRED, *OPTIONAL)},
    "required": list(REQUIRED),
    "additionalProperties": False,
}
DISTRACTORS_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        "ground_truth": {"type": "string"},
        "distractors": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": OPTIONS - 1,
            "maxItems": OPTIONS - 1,
        },
    },
    "required": ["ground_truth", "distractors"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of an extraction: its key, its text and its claimed source.

    ``verbatim`` is True if it occurs in the report, ignoring blanks.
    """

    key: str
    text: str
    source: str
    verbatim: bool


@dataclass(frozen=True)
class Extraction:
    """The chunks extracted from a report, in the order of the keys."""

    case_id: str
    modalities: tuple[str, ...]
    chunks: tuple[Chunk, ...]

    @property
    def invented(self) -> tuple[Chunk, ...]:
        """The chunks that do not occur in the report."""
        return tuple(chunk for chunk in self.chunks if not chunk.verbatim)

    def section(self, key: str) -> str:
        """Return the text under a key, "" without it."""
        return "\n\n".join(chunk.text for chunk in self.chunks if chunk.key == key)


@dataclass(frozen=True, slots=True)
class Distractors:
    """The wrong options of a case, and the model's wording of the right one.

    ``reviewed`` is True after a clinician confirmed that the evidence rules each out.
    """

    ground_truth: str
    distractors: tuple[str, ...]
    reviewed: bool = False


def is_report(item: Item) -> bool:
    """Tell whether an item is a report to make a case from."""
    return "background" in item.facts


def ask_extraction(
    case_id: str, background: str, caption: str, prompts: OwnPrompts = BUILT_IN
) -> str:
    """Return the paper's question for verbatim extraction."""
    return fill(
        printed(EXTRACTION, prompts),
        {"case_id": case_id, "background": background, "caption": caption},
    )


def read_extraction(
    reply: ModelReply, background: str, caption: str
) -> Extraction | Unparsed:
    """Return the extracted chunks, each looked up in its report."""
    found = _object(reply)
    if isinstance(found, Unparsed):
        return found
    if problem := _extraction_problem(found):
        return Unparsed(Status.UNPARSED, problem)
    report = _blanks(f"{background}\n{caption}")
    named = [name.strip() for name in found["Modality"].split(",") if name.strip()]
    return Extraction(
        found["Case ID"],
        tuple(named),
        tuple(chunk for key in OPTIONAL for chunk in _chunks(key, found, report)),
    )


def ask_summaries(
    case_id: str,
    modalities: Sequence[str],
    background: str,
    findings: Mapping[str, str],
    prompts: OwnPrompts = BUILT_IN,
) -> str:
    """Return the paper's question for one summary of each section."""
    return fill(
        printed(SUMMARIES, prompts),
        {
            "case_id": case_id,
            "modality_string": ", ".join(modalities),
            "patient_background": background,
            FINDINGS: "\n".join(f"- {key}: {text}" for key, text in findings.items()),
        },
    )


def read_summaries(
    reply: ModelReply, findings: Sequence[str]
) -> Mapping[str, str] | Unparsed:
    """Return a summary of every section by its name, and of the background if given.

    A section without its summary, or a summary of no section, is not an answer.
    """
    found = _object(reply)
    if isinstance(found, Unparsed):
        return found
    wanted = {f"{name} Summary": name for name in findings}
    allowed = {**wanted, f"{BACKGROUND} Summary": BACKGROUND}
    for key, value in found.items():
        if key not in allowed or not value.strip():
            return Unparsed(Status.UNPARSED, "unknown_or_empty_section")
    if missing := [key for key in wanted if key not in found]:
        return Unparsed(Status.UNPARSED, f"no {missing[0]}")
    return {allowed[key]: value.strip() for key, value in found.items()}


def ask_distractors(
    history: str,
    imaging: str,
    labs: str,
    truth: str,
    differential: Sequence[str],
    prompts: OwnPrompts = BUILT_IN,
) -> str:
    """Return the paper's question for three wrong options of a differential."""
    return fill(
        printed(DISTRACTORS, prompts),
        {
            "history_text": history,
            "imaging_text": imaging,
            "labs_text": labs,
            "ground_truth_text": truth,
            "differential_diagnoses_text": ", ".join(differential),
        },
    )


def read_distractors(
    reply: ModelReply, truth: str, differential: Sequence[str]
) -> Distractors | Unparsed:
    """Return three wrong options, each of the differential and none the diagnosis.

    Synonyms of the diagnosis only a clinician finds: they are to be reviewed.
    """
    found = _json(reply)
    if isinstance(found, Unparsed):
        return found
    written, distractors = found.get("ground_truth"), _texts(found.get("distractors"))
    if not isinstance(written, str) or distractors is None or len(found) != 2:
        return Unparsed(Status.UNPARSED, "not_of_the_schema")
    problem = _distractors_problem(distractors, truth, differential)
    if problem:
        return Unparsed(Status.UNPARSED, problem)
    return Distractors(written.strip(), distractors)


def _texts(value: object) -> tuple[str, ...] | None:
    """Return a list's texts, None if it is not a list of texts."""
    if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
        return None
    return tuple(x.strip() for x in value)


def _distractors_problem(
    distractors: tuple[str, ...], truth: str, differential: Sequence[str]
) -> str:
    compared = [plain(one) for one in distractors]
    listed = {plain(one) for one in differential}
    if len(set(compared)) != OPTIONS - 1 or len(compared) != OPTIONS - 1:
        return "not_three_different"
    if plain(truth) in compared:
        return "the_diagnosis_itself"
    return "" if set(compared) <= listed else "not_of_the_differential"


def _extraction_problem(found: Mapping[str, str]) -> str:
    missing = [key for key in REQUIRED if key not in found]
    if missing:
        return f"no {missing[0]}"
    unknown = sorted(set(found) - {*REQUIRED, *OPTIONAL})
    if unknown:
        return "unknown_key"
    named = [name.strip() for name in found["Modality"].split(",") if name.strip()]
    return "" if set(named) <= set(MODALITIES) else "unknown_modality"


def _chunks(key: str, found: Mapping[str, str], report: str) -> Iterator[Chunk]:
    for chunk in _CHUNKS.split(found.get(key, "")):
        tag = _SOURCE.search(chunk)
        text = chunk[: tag.start()] if tag else chunk
        source = tag[0].strip()[1:-1] if tag else ""
        if text.strip():
            yield Chunk(key, text.strip(), source, _blanks(text) in report)


def _blanks(text: str) -> str:
    """Return a text with single blanks, as it is looked up and looked through."""
    return " ".join(text.split())


def _object(reply: ModelReply) -> dict[str, str] | Unparsed:
    """Return the flat object of texts that a reply is."""
    found = _json(reply)
    if isinstance(found, Unparsed):
        return found
    if not all(isinstance(value, str) for value in found.values()):
        return Unparsed(Status.UNPARSED, "not_of_the_schema")
    return {key: str(value) for key, value in found.items()}


def _json(reply: ModelReply) -> dict[str, object] | Unparsed:
    """Return the single JSON object of a reply, with at most a code fence around it.

    It is not normalised, because its texts are compared word for word.
    """
    text = _FENCE.sub(r"\1", reply.text.rpartition(_REASONED)[2].strip())
    try:
        found = read_json(text)
    except ValueError:
        return Unparsed(Status.UNPARSED, "no_json")
    if not isinstance(found, dict):
        return Unparsed(Status.UNPARSED, "not_of_the_schema")
    return found
