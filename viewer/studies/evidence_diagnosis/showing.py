"""How the evidence of a case is shown: the study's conditions (E004-13 to -18)."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Self

from viewer.domain.evidence import Evidence, EvidenceType
from viewer.domain.run import Condition
from viewer.studies.evidence_diagnosis.params import Arm, Context


class Modality(StrEnum):
    """How a piece of visual evidence is shown: as its images or its text, never both.

    (Chen 2026, Fig. 2; E004-02)
    """

    IMAGE = "image"
    TEXT = "text"
    ABSENT = "absent"


class Textual(StrEnum):
    """How history and examination are shown."""

    KEPT = "kept"
    REMOVED = "removed"
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class Showing:
    """One way to show a case.

    Every piece of visual evidence is shown as ``visual``, except those of type
    ``toggled``, shown as ``toggled_as``. ``order`` is the rotation of the options.
    """

    visual: Modality = Modality.IMAGE
    textual: Textual = Textual.KEPT
    refined: bool = False
    toggled: EvidenceType | None = None
    toggled_as: Modality = Modality.ABSENT
    order: int = 0

    def modality(self, evidence: Evidence) -> Modality:
        """Return the form in which a piece of evidence is shown."""
        return self.toggled_as if evidence.type is self.toggled else self.visual

    def but(self, toggled: EvidenceType, as_: Modality = Modality.ABSENT) -> Self:
        """Return the same with one type of evidence shown otherwise, or left out."""
        return replace(self, toggled=toggled, toggled_as=as_)

    def turned(self, order: int) -> Self:
        """Return the same with the options rotated further."""
        return replace(self, order=order)

    @property
    def arm(self) -> Arm | None:
        """The intervention, None if a piece of evidence is shown differently."""
        if self.toggled is not None:
            return None
        plain = self.turned(0)
        return next((arm for arm, of in _SHOWINGS.items() if of == plain), None)

    @property
    def name(self) -> str:
        """Its name in tables, such as ``raw without CT``."""
        base = replace(self, toggled=None, toggled_as=Modality.ABSENT, order=0)
        named = (str(arm) for arm, of in _SHOWINGS.items() if of == base)
        words = [next(named, f"{Arm.REFINED} {Arm.EXPERT}")]
        if self.toggled is not None:
            absent = self.toggled_as is Modality.ABSENT
            how = f"without {self.toggled}"
            words.append(how if absent else f"with {self.toggled} as {self.toggled_as}")
        return " ".join([*words, *([f"turned {self.order}"] if self.order else [])])

    def condition(self, seed: int = 0) -> Condition:
        """Return the condition of a run of a seed; :meth:`of_condition` reads it."""
        params: tuple[tuple[str, int | float | str], ...] = (
            ("visual", str(self.visual)),
            ("textual", str(self.textual)),
            ("refined", int(self.refined)),
            ("toggled", str(self.toggled or "")),
            ("toggled_as", str(self.toggled_as)),
            ("order", self.order),
            ("seed", seed),
        )
        return Condition(self.name, params)

    @classmethod
    def of_condition(cls, condition: Condition) -> Self:
        """Return the showing of a condition."""
        of = {name: str(value) for name, value in condition.params}
        return cls(
            Modality(of["visual"]),
            Textual(of["textual"]),
            of["refined"] == "1",
            EvidenceType(of["toggled"]) if of["toggled"] else None,
            Modality(of["toggled_as"]),
            int(of["order"]),
        )


def seed_of(condition: Condition) -> int:
    """Return the seed of a condition's run."""
    return int(dict(condition.params)["seed"])


_SHOWINGS: Final = {
    Arm.RAW: Showing(),
    Arm.EXPERT: Showing(Modality.TEXT),
    Arm.REMOVE_TEXT: Showing(textual=Textual.REMOVED),
    Arm.RANDOM_TEXT: Showing(textual=Textual.RANDOM),
    Arm.REFINED: Showing(refined=True),
}


def showing_of(arm: Arm) -> Showing:
    """Return how an intervention shows a case."""
    return _SHOWINGS[arm]


@dataclass(frozen=True, slots=True)
class SensitivityPair:
    """The comparison for a type of evidence in one modality: with it and without."""

    full: Showing
    without: Showing


@dataclass(frozen=True, slots=True)
class SensitivityShowings:
    """The four showings needed for both sensitivities to a type of evidence."""

    image: SensitivityPair
    text: SensitivityPair


def sensitivity_showings(
    evidence: EvidenceType, context: Context, refined: bool = False
) -> SensitivityShowings:
    """Return the questions that a sensitivity to one type needs (E004-18).

    With all others as images in both, nothing but the type in question changes; else
    everything is text where its text is left out.
    """
    raw = Showing(refined=refined)
    image = SensitivityPair(raw, raw.but(evidence))
    if context is Context.SINGLE:
        as_text = raw.but(evidence, Modality.TEXT)
        return SensitivityShowings(image, SensitivityPair(as_text, raw.but(evidence)))
    expert = Showing(Modality.TEXT, refined=refined)
    return SensitivityShowings(image, SensitivityPair(expert, expert.but(evidence)))
