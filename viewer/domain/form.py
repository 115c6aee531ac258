"""Forms for readers: types of questions, and forms composed of them.

Forms are data that the Review workspace draws, so a reader task, an error review and a
grading need no screens of their own. The values of questions are described in
:mod:`viewer.domain.form_values`.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Self

from viewer.domain.errors import WrongUseError


@dataclass(frozen=True, slots=True)
class Option:
    """One option: ``key`` is stored and typed, ``text`` shown, ``help`` its hint.

    A case locked as ``unsure`` comes back, to be resolved.
    """

    key: str
    text: str
    help: str = ""
    unsure: bool = False


class PlaceKind(StrEnum):
    """The kinds of location a reader can draw on an image."""

    CELL = "cell"
    POINT = "point"
    BOXES = "boxes"
    MASK = "mask"


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """One option out of several, by its key.

    Without ``options`` they are the case's own.
    """

    id: str
    text: str
    options: tuple[Option, ...] = ()
    help: str = ""
    required: bool = True

    def __post_init__(self) -> None:
        if self.options:
            _check_options(self.id, self.options)


@dataclass(frozen=True, slots=True)
class ChecklistQuestion:
    """Any number of options, by their keys; none of them is an answer too.

    Without ``options`` they are the case's own.
    """

    id: str
    text: str
    options: tuple[Option, ...] = ()
    help: str = ""

    @property
    def required(self) -> bool:
        """Always False: nothing may apply."""
        return False


@dataclass(frozen=True, slots=True)
class LikertQuestion:
    """A rating from ``lowest`` upwards, with one anchor text per level."""

    id: str
    text: str
    anchors: tuple[str, ...]
    lowest: int = 1
    help: str = ""
    required: bool = True

    def __post_init__(self) -> None:
        if len(self.anchors) < 2:
            raise _bad(f"The scale '{self.id}' has fewer than two levels.")

    @property
    def highest(self) -> int:
        """The level of the last anchor."""
        return self.lowest + len(self.anchors) - 1

    @property
    def levels(self) -> tuple[tuple[int, str], ...]:
        """Every level with the words of its anchor, the lowest first."""
        return tuple(enumerate(self.anchors, self.lowest))


@dataclass(frozen=True, slots=True)
class TextQuestion:
    """A line of free text."""

    id: str
    text: str
    help: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class DraftQuestion:
    """A text that begins as the words of an option, and may be edited.

    ``of`` is the choice whose option it begins as; those of the keys ``blank`` begin
    with nothing. Words that were not changed are no answer.
    """

    id: str
    text: str
    of: str
    blank: tuple[str, ...] = ()
    help: str = ""

    @property
    def required(self) -> bool:
        """Always False: the option's own words may do."""
        return False


@dataclass(frozen=True, slots=True)
class RankedTextQuestion:
    """Ranked lines of free text, the first the most likely."""

    id: str
    text: str
    at_least: int = 1
    at_most: int = 5
    help: str = ""
    suggestions: tuple[str, ...] = ()
    """What a reader is offered to complete a line with; the same for every case."""

    def __post_init__(self) -> None:
        if not 0 <= self.at_least <= self.at_most or self.at_most < 1:
            raise _bad(
                f"The ranking '{self.id}' asks for an impossible number of entries."
            )

    @property
    def required(self) -> bool:
        """Whether at least one line must be written."""
        return self.at_least > 0


@dataclass(frozen=True, slots=True)
class PlaceQuestion:
    """A location on the image, drawn as one of ``kinds``; the first is preselected.

    ``can_be_absent`` lets a reader answer that the finding is absent.
    """

    id: str
    text: str
    kinds: tuple[PlaceKind, ...] = (PlaceKind.CELL,)
    can_be_absent: bool = False
    help: str = ""
    required: bool = True

    def __post_init__(self) -> None:
        if not self.kinds or len(set(self.kinds)) < len(self.kinds):
            raise _bad(
                f"The place '{self.id}' needs at least one kind, and each kind once."
            )


@dataclass(frozen=True, slots=True)
class RevealedChoiceQuestion:
    """One option of a set that is shown only once all earlier answers are locked.

    It begins a new stage of its form. Without ``options`` they are the case's own.
    """

    id: str
    text: str
    options: tuple[Option, ...] = ()
    help: str = ""
    required: bool = True

    def __post_init__(self) -> None:
        if self.options:
            _check_options(self.id, self.options)


@dataclass(frozen=True, slots=True)
class FlagQuestion:
    """A flag that something needs attention, with a comment that says what."""

    id: str
    text: str
    help: str = ""
    comment_required: bool = True

    @property
    def required(self) -> bool:
        """Always False: a flag is optional."""
        return False


Question = (
    ChoiceQuestion
    | ChecklistQuestion
    | LikertQuestion
    | TextQuestion
    | DraftQuestion
    | RankedTextQuestion
    | PlaceQuestion
    | RevealedChoiceQuestion
    | FlagQuestion
)


AGAIN: Final = "_again"
"""What the id of a question ends with that is asked again beside a model's answer."""


def first_id(question: str) -> str:
    """Return the id of the question that is asked again, or the same."""
    return question.removesuffix(AGAIN)


class Part(StrEnum):
    """Parts of a case, besides its image, that a form may show to a reader."""

    ANSWER = "answer"
    """What the model answered, without its name."""
    REFERENCE = "reference"
    SUGGESTION = "suggestion"
    """What the anatomy masks speak for."""
    OTHER_READERS = "other_readers"
    """What other readers answered, without their names."""
    MODEL = "model"
    """Which model answered."""
    PIXELS = "pixels"
    """What models and exports get of its images, which the reader may black out."""
    ORIGINAL = "original"
    """The original of an edited image, side by side with it."""
    TRUTH = "truth"
    """What the data set says is right, and why."""


@dataclass(frozen=True, slots=True)
class Form:
    """Questions in order, and which parts of a case are shown when.

    ``shown`` parts are shown with the questions from the start, ``revealed`` ones after
    the last stage is locked; other parts are never shown. ``comment`` allows a free
    comment on every case. ``version`` changes with the questions. ``briefing`` is read
    before the first case, and ``consent`` is what a reader agrees to there. Each of
    ``breaks`` begins a new stage, as options that are revealed do.
    """

    name: str
    version: str
    title: str
    questions: tuple[Question, ...]
    shown: frozenset[Part] = frozenset()
    revealed: frozenset[Part] = frozenset()
    comment: bool = True
    briefing: str = ""
    consent: str = ""
    breaks: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        names = [question.id for question in self.questions]
        if not names:
            raise _bad(f"The form '{self.name}' asks nothing.")
        if len(set(names)) < len(names):
            raise _bad(f"The form '{self.name}' has two questions of the same name.")

    @property
    def stages(self) -> tuple[tuple[Question, ...], ...]:
        """The questions, split before each that follows a lock."""
        stages: list[list[Question]] = [[]]
        for question in self.questions:
            begins = isinstance(question, RevealedChoiceQuestion)
            if (begins or question.id in self.breaks) and stages[-1]:
                stages.append([])
            stages[-1].append(question)
        return tuple(tuple(stage) for stage in stages)

    @property
    def unsure(self) -> frozenset[tuple[str, str]]:
        """Question and key of every option that means "not sure"."""
        return frozenset(
            (question.id, option.key)
            for question in self.questions
            if isinstance(question, ChoiceQuestion | RevealedChoiceQuestion)
            for option in question.options
            if option.unsure
        )

    def narrowed(self, asked: Collection[str]) -> Self:
        """Return the form with only the questions of these ids; all if there is none.

        Not every case of a session needs every question.
        """
        if not asked:
            return self
        kept = tuple(q for q in self.questions if q.id in asked)
        return replace(self, questions=kept)

    def first_stages(self, count: int) -> Self:
        """Return the form with only the questions of its first stages."""
        asked = [question.id for stage in self.stages[:count] for question in stage]
        return self.narrowed(asked)

    def with_feedback(self) -> Self:
        """Return the form, changed to show the reference once a case is locked."""
        return replace(self, revealed=self.revealed | {Part.REFERENCE})


HOW_TO_MEND: Final = "Correct the form's table."


def _check_options(name: str, options: tuple[Option, ...]) -> None:
    keys = [option.key for option in options]
    if len(keys) < 2 or len(set(keys)) < len(keys):
        raise _bad(
            f"The question '{name}' needs at least two options with different keys."
        )


def _bad(what: str) -> WrongUseError:
    return WrongUseError(what, HOW_TO_MEND)
