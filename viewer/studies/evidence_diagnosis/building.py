"""What a model is shown of a case, in order: texts and images (E004-02, -07, -22)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from viewer.domain.choice import letter_of
from viewer.domain.counting import counted
from viewer.domain.errors import WrongUseError
from viewer.domain.evidence import (
    OPTIONS,
    Evidence,
    EvidenceCase,
    Language,
    ShownEvidence,
)
from viewer.metrics.posterior import cyclic_orders
from viewer.metrics.seeding import generator
from viewer.studies.evidence_diagnosis.params import OptionOrder, Params
from viewer.studies.evidence_diagnosis.showing import Modality, Showing, Textual
from viewer.studies.evidence_diagnosis.templates import (
    DDX,
    DDX_JUDGE,
    FDX,
    FDX_JUDGE,
    OPEN_FDX,
    PROMPTS,
    REFINEMENT,
    REMINDER,
    fill,
    printed,
    system_of,
    user_template,
)
from viewer.studies.prompts import BUILT_IN, OwnPrompts

_CASE: Final = "{case}"


@dataclass(frozen=True, slots=True)
class Headings:
    """The words between the parts of a case, in one language."""

    history: str
    examination: str
    findings: str
    stem: str


HEADINGS: Final[Mapping[Language, Headings]] = {
    Language.ENGLISH: Headings(
        "Medical history",
        "Physical examination",
        "Expert findings",
        "Which of the following is the most likely final diagnosis?",
    ),
    Language.CHINESE: Headings(
        "病史", "体格检查", "专家所见", "以下哪一项是最可能的最终诊断？"
    ),
}


@dataclass(frozen=True, slots=True)
class Words:
    """Text of a question; ``evidence`` is whose expert text it is, "" for none."""

    text: str
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """An image by its key, and the evidence it belongs to."""

    image: str
    evidence: str


Part = Words | Picture


@dataclass(frozen=True)
class Asked:
    """A question as asked: the system text, then texts and images in order.

    ``prompt`` names its template, ``order`` is the option at each letter, empty if
    there are none. ``sections`` are named parts of the text whose attention is measured
    (E004-16): the stem of the question and its options.
    """

    system: str
    parts: tuple[Part, ...]
    prompt: str
    order: tuple[int, ...] = ()
    sections: Mapping[str, str] = field(default_factory=dict)

    @property
    def images(self) -> tuple[str, ...]:
        """The keys of the images, in the order shown."""
        return tuple(part.image for part in self.parts if isinstance(part, Picture))

    @property
    def text(self) -> str:
        """The text that follows the system prompt."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Words))


@dataclass(frozen=True, slots=True)
class Replaced:
    """Random text that replaces history and examination (E004-14)."""

    history: str
    examination: str


def option_order(
    case: EvidenceCase, params: Params, seed: int, turned: int = 0
) -> tuple[int, ...]:
    """Return the option at each letter.

    Shuffled once per case by the run's seed and the case's name, so that all models and
    arms see the same order; then rotated by a number of positions.
    """
    base = tuple(range(len(case.options)))
    if params.option_order is OptionOrder.SEEDED:
        rng = generator(seed, "options", case.key)
        base = tuple(int(i) for i in rng.permutation(len(case.options)))
    return tuple(base[i] for i in cyclic_orders(OPTIONS)[turned])


def ask_differential(
    case: EvidenceCase,
    showing: Showing,
    replaced: Replaced | None = None,
    prompts: OwnPrompts = BUILT_IN,
) -> Asked:
    """Return the question for a ranked differential; the wording is ours (E004-22)."""
    parts = _around(user_template(DDX, case.language, prompts), case, showing, replaced)
    return _checked(Asked(system_of(DDX, prompts), parts, f"{DDX}_{case.language}"))


def ask_choice(
    case: EvidenceCase,
    showing: Showing,
    order: tuple[int, ...],
    replaced: Replaced | None = None,
    prompts: OwnPrompts = BUILT_IN,
) -> Asked:
    """Return the question for one of the options, which stand in ``order``."""
    stem = HEADINGS[case.language].stem
    options = "\n".join(
        f"{letter_of(place)}. {case.options[option]}"
        for place, option in enumerate(order)
    )
    text = user_template(FDX, case.language, prompts)
    parts = _around(text, case, showing, replaced, stem=stem, options=options)
    if showing.refined:
        parts = (*parts, Words(PROMPTS.text(REMINDER, prompts)))
    base = REFINEMENT if showing.refined else FDX
    sections = {"stem": stem, "options": options} if "{stem}" in text else {}
    prompt = f"{base}_{case.language}"
    return _checked(Asked(system_of(base, prompts), parts, prompt, order, sections))


def ask_open(
    case: EvidenceCase,
    showing: Showing,
    differential: tuple[str, ...],
    replaced: Replaced | None = None,
    prompts: OwnPrompts = BUILT_IN,
) -> Asked:
    """Return the question for a final diagnosis from the model's own differential."""
    listed = numbered(differential)
    text = user_template(OPEN_FDX, case.language, prompts)
    parts = _around(text, case, showing, replaced, differential=listed)
    return _checked(
        Asked(system_of(OPEN_FDX, prompts), parts, f"{OPEN_FDX}_{case.language}")
    )


def ask_judge_of_differential(
    diagnosis: str, differential: tuple[str, ...], params: Params
) -> Asked:
    """Return the paper's question to a judge of a differential (appendix B.1)."""
    text = _judges(DDX_JUDGE, params)
    listed = numbered(differential)
    filled = fill(text, ground_truth=diagnosis, differential_list=listed)
    return Asked("", (Words(filled),), DDX_JUDGE)


def ask_judge_of_final(diagnosis: str, given: str, params: Params) -> Asked:
    """Return the paper's question to a judge of an open final diagnosis."""
    text = _judges(FDX_JUDGE, params)
    filled = fill(text, ground_truth=diagnosis, diagnosis=given)
    return Asked("", (Words(filled),), FDX_JUDGE)


def _judges(name: str, params: Params) -> str:
    announced = params.announce_examples
    return printed(name, params.prompts, announce_examples=announced)


def numbered(entries: tuple[str, ...]) -> str:
    """Return a list as lines with their ranks."""
    return "\n".join(f"{rank}. {entry}" for rank, entry in enumerate(entries, 1))


def check_exclusive(asked: Asked) -> None:
    """Raise if evidence is shown both as images and as its text (E004-02)."""
    worded = {p.evidence for p in asked.parts if isinstance(p, Words) and p.evidence}
    pictured = {p.evidence for p in asked.parts if isinstance(p, Picture)}
    if both := sorted(worded & pictured):
        raise WrongUseError(
            f"The evidence {both[0]} would be shown as images and as text.",
            "Show each piece of evidence as one of the two.",
        )


def _checked(asked: Asked) -> Asked:
    check_exclusive(asked)
    return asked


def _around(
    text: str,
    case: EvidenceCase,
    showing: Showing,
    replaced: Replaced | None,
    **values: str,
) -> tuple[Part, ...]:
    """Return a template's text with the case inserted at its placeholders."""
    # The case comes in after filling: braces in its text are no placeholders.
    before, *others = (fill(piece, **values) for piece in text.split(_CASE))
    parts: list[Part] = [Words(before)]
    for after in others:
        parts += [*_case_parts(case, showing, replaced), Words(after.strip("\n"))]
    return tuple(p for p in parts if isinstance(p, Picture) or p.text)


def _case_parts(
    case: EvidenceCase, showing: Showing, replaced: Replaced | None
) -> Iterator[Part]:
    yield from _textual(case, showing, replaced)
    for one in case.evidence:
        yield from _evidence_parts(one, showing.modality(one), case.language)


def shown_evidence(case: EvidenceCase, showing: Showing) -> Iterator[ShownEvidence]:
    """Yield what a question shows of a case: its text, then each piece of evidence."""
    headings = HEADINGS[case.language]
    named = {headings.history: case.history, headings.examination: case.examination}
    for title, text in named.items():
        if text:
            yield ShownEvidence("text", title, _TEXTUAL[showing.textual])
    for one in case.evidence:
        modality = showing.modality(one)
        pictured = len(one.images) if modality is Modality.IMAGE else 0
        how = counted(pictured, "image") if pictured else _NOT_PICTURED[modality]
        yield ShownEvidence(str(one.type), one.title, how, pictured)


_TEXTUAL: Final[Mapping[Textual, str]] = {
    Textual.KEPT: "as it is",
    Textual.REMOVED: "left out",
    Textual.RANDOM: "random text",
}
_NOT_PICTURED: Final[Mapping[Modality, str]] = {
    Modality.IMAGE: "no image",
    Modality.TEXT: "expert's text",
    Modality.ABSENT: "left out",
}


def _textual(
    case: EvidenceCase, showing: Showing, replaced: Replaced | None
) -> Iterator[Words]:
    if showing.textual is Textual.REMOVED:
        return
    history, examination = case.history, case.examination
    if showing.textual is Textual.RANDOM:
        if replaced is None:
            raise WrongUseError(
                "The arm random_text has no random text to show.",
                "Make it with the model's tokenizer, or choose words as random_text.",
            )
        history, examination = replaced.history, replaced.examination
    headings = HEADINGS[case.language]
    if history:
        yield Words(f"{headings.history}:\n{history}")
    if examination:
        yield Words(f"{headings.examination}:\n{examination}")


def _evidence_parts(
    one: Evidence, modality: Modality, language: Language
) -> Iterator[Part]:
    if modality is Modality.ABSENT:
        return
    if modality is Modality.TEXT:
        label = HEADINGS[language].findings
        yield Words(f"{one.title}. {label}: {one.finding}", one.key)
        return
    yield Words(f"{one.title}:")
    for image in one.images:
        yield Picture(image, one.key)
