"""Reports to make cases from, as a journal would print the synthetic cases."""

from dataclasses import dataclass

from viewer.domain.evidence import EvidenceCase, EvidenceType, Language


@dataclass(frozen=True, slots=True)
class PhantomReport:
    """A report: its text up to the discussion, its captions, and the diagnosis."""

    key: str
    language: Language
    background: str
    caption: str
    diagnosis: str


def report_of(case: EvidenceCase) -> PhantomReport:
    """Return the report of a case, with its texts in paragraphs."""
    labs = [one for one in case.evidence if one.type is EvidenceType.LABORATORY]
    figures = [one for one in case.evidence if one not in labs]
    background = [case.history, case.examination]
    background += [f"{one.type}: {one.finding}" for one in labs]
    captions = [
        f"Figure {number}. {one.type}: {one.finding}"
        for number, one in enumerate(figures, start=1)
    ]
    return PhantomReport(
        case.key.replace("case", "report"),
        case.language,
        "\n\n".join(background),
        "\n\n".join(captions),
        case.diagnosis,
    )
