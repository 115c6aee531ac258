"""The texts sent: the paper's prompts verbatim, and ours, versioned.

``medsyn2026_*`` are in Chen 2026, appendices A.2, B.1 and B.3. The paper prints no
prompt for the differential and for the final diagnosis only the refined one: the
baseline is that one without its additions, and the rest is ours (E004-22).
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from viewer.domain.evidence import Language
from viewer.studies.prompts import (
    BUILT_IN,
    OURS,
    OwnPrompts,
    Prompt,
    Prompts,
    packaged,
    with_system,
)

EXTRACTION: Final = "medsyn2026_extraction"
SUMMARIES: Final = "medsyn2026_summaries"
DISTRACTORS: Final = "medsyn2026_distractors"
DDX_JUDGE: Final = "medsyn2026_ddx_judge"
FDX_JUDGE: Final = "medsyn2026_fdx_judge"
REFINEMENT: Final = "medsyn2026_refinement"
REFINED_SYSTEM: Final = "medsyn2026_refinement_system"
REMINDER: Final = "medsyn2026_refinement_reminder"
DDX_SYSTEM: Final = "overread_ddx_v1_system"
FDX_SYSTEM: Final = "overread_fdx_v1_system"

DDX: Final = "overread_ddx_v1"
FDX: Final = "overread_fdx_v1"
OPEN_FDX: Final = "overread_open_fdx_v1"
FINDINGS: Final = "findings"
"""The placeholder of all sections of findings in the prompt for summaries."""

_PLACE: Final = re.compile(r"\{([a-z_ ]+)\}")
_ELIDED: Final = "..."
_ANNOUNCES: Final = "Here are some examples:"
_PATHOLOGY: Final = re.compile(r"patholog", re.IGNORECASE)
_SECTIONS: Final = re.compile(
    r"^- \{findings_key_1\}.*?^- \.\.\.$", re.MULTILINE | re.DOTALL
)


def template(name: str) -> str:
    """Return the text of a prompt with its placeholders, as in its file."""
    return packaged(__package__, name)()


def without_examples(text: str) -> str:
    """Return a printed prompt without the examples that it announces and leaves out."""
    lines = text.splitlines()
    return "\n".join(x for x in lines if x not in {_ELIDED, _ANNOUNCES})


@lru_cache(maxsize=1)
def refined_system() -> str:
    """Return the system's words of the refined prompt (appendix B.3)."""
    system, _ = _refinement()
    return system


@lru_cache(maxsize=1)
def refined_reminder() -> str:
    """Return the refined prompt's addition to the user's message."""
    _, user = _refinement()
    return user


@lru_cache(maxsize=1)
def baseline_system() -> str:
    """Return the refined prompt's system text without the parts about pathology."""
    lines = refined_system().splitlines()
    return "\n".join(line for line in lines if not _PATHOLOGY.search(line))


def _refinement() -> tuple[str, str]:
    system, user = template(REFINEMENT).split("[USER]")
    return _without_elisions(system.replace("[SYSTEM]", "")), _without_elisions(user)


def _without_elisions(text: str) -> str:
    lines = (line for line in text.splitlines() if line.strip() not in {"", _ELIDED})
    return "\n".join(lines)


_PAPER: Final = "Chen 2026, appendix"
_LEFT_OUT: Final = f"{_PAPER}, which announces them and leaves them out"
_EXAMPLES: Final = "_examples"
_SYSTEMS: Final[Mapping[str, str]] = {
    DDX: DDX_SYSTEM,
    FDX: FDX_SYSTEM,
    OPEN_FDX: DDX_SYSTEM,
}


def _printed(
    name: str, use: str, section: str, required: str, optional: str = ""
) -> Iterator[Prompt]:
    """Yield a prompt that the paper prints, and the examples that it leaves out."""
    source = f"{_PAPER} {section}"
    groups = tuple((one,) for one in required.split(", "))
    others = tuple(optional.split(", ")) if optional else ()
    shown = ("modality_or_section_name",) if name == SUMMARIES else ()
    yield Prompt(name, lambda: _built_in(name), use, source, groups, others, shown)
    yield Prompt(f"{name}{_EXAMPLES}", str, f"examples for {name}", _LEFT_OUT)


def _built_in(name: str) -> str:
    return _SECTIONS.sub(f"{{{FINDINGS}}}", without_examples(template(name)))


_SPOKEN: Final = {Language.ENGLISH: "English", Language.CHINESE: "Chinese"}


def _of_language(name: str, use: str, *required: str) -> Iterator[Prompt]:
    groups = tuple((one,) for one in ("case", *required))
    optional = ("stem",) if name == FDX else ()
    for language in Language:
        own = f"{name}_{language}"
        read = packaged(__package__, own)
        yield Prompt(
            own, read, f"{use}, {_SPOKEN[language]} cases", OURS, groups, optional
        )


PROMPTS: Final = Prompts.of(
    Prompt(
        DDX_SYSTEM,
        packaged(__package__, DDX_SYSTEM),
        "the system message before a differential",
    ),
    *_of_language(DDX, "asks for a differential"),
    Prompt(
        FDX_SYSTEM,
        baseline_system,
        "the system message before a final diagnosis",
        f"{_PAPER} B.3, without what it says of pathology",
    ),
    *_of_language(FDX, "asks for one of the options", "options"),
    *_of_language(OPEN_FDX, "asks for a final diagnosis in free text", "differential"),
    Prompt(
        REFINED_SYSTEM,
        refined_system,
        "the system message in the arm refined",
        f"{_PAPER} B.3",
    ),
    Prompt(
        REMINDER,
        refined_reminder,
        "added after the question in the arm refined",
        f"{_PAPER} B.3",
    ),
    *_printed(
        DDX_JUDGE,
        "asks the judge about a differential",
        "B.1",
        "ground_truth, differential list",
    ),
    *_printed(
        FDX_JUDGE,
        "asks the judge about a final diagnosis in free text",
        "B.1",
        "ground_truth, diagnosis",
    ),
    *_printed(
        EXTRACTION,
        "preparing: extracts a report",
        "A.2",
        "background",
        "case_id, caption",
    ),
    *_printed(
        SUMMARIES,
        "preparing: summarises what was extracted",
        "A.2",
        FINDINGS,
        "case_id, modality_string, patient_background",
    ),
    *_printed(
        DISTRACTORS,
        "preparing: makes three wrong options",
        "A.2",
        "ground_truth_text, differential_diagnoses_text",
        "history_text, imaging_text, labs_text",
    ),
)


def user_template(name: str, language: Language, prompts: OwnPrompts = BUILT_IN) -> str:
    """Return one of our prompts in the language of the case."""
    return PROMPTS.text(f"{name}_{language}", prompts)


def system_of(name: str, prompts: OwnPrompts = BUILT_IN) -> str:
    """Return the system's words of one of our prompts, or of the refined one."""
    return PROMPTS.text(_SYSTEMS.get(name, REFINED_SYSTEM), prompts)


def printed(
    name: str, prompts: OwnPrompts = BUILT_IN, *, announce_examples: bool = False
) -> str:
    """Return a prompt of the paper as it is sent, with a person's examples if any.

    ``announce_examples`` sends the lines too that announce examples and have none.
    """
    examples = prompts.get(f"{name}{_EXAMPLES}", "")
    if announce_examples and not examples and name not in prompts:
        return template(name)
    text = PROMPTS.text(name, prompts)
    return f"{text}\n{_ANNOUNCES}\n{examples}" if examples else text


def open_prompt(
    name: str, prompts: OwnPrompts = BUILT_IN, *, announce_examples: bool = False
) -> str:
    """Return everything a prompt says, its places open, each part under its role.

    ``name`` is that of a judge's prompt, or one of ours with its language; the refined
    one is the final diagnosis' with what the paper adds.
    """
    if name in {DDX_JUDGE, FDX_JUDGE}:
        return printed(name, prompts, announce_examples=announce_examples)
    base, _, language = name.rpartition("_")
    refined = base == REFINEMENT
    user = user_template(FDX if refined else base, Language(language), prompts)
    reminder = f"\n{PROMPTS.text(REMINDER, prompts)}" if refined else ""
    return with_system(system_of(base, prompts), f"{user}{reminder}")


def fill(text: str, **values: str) -> str:
    """Return a template with its placeholders filled, all in one pass.

    Inserted text is never treated as a placeholder. A space in a placeholder's name is
    written as an underscore here. A missing value raises KeyError.
    """
    return _PLACE.sub(lambda place: values[place[1].replace(" ", "_")], text)
