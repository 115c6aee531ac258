"""The interface of studies about items, which ask one question after another.

A trial has as many questions as its study needs: each is made from the item and the
replies so far, and goes to the model under test or to another in a role, such as a
judge. Every reply is stored, and a trial's answer is parsed from all of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from viewer.domain.answer import LabelledBox, PlacedAnswer, Unparsed
from viewer.domain.case import Dataset, DatasetImage
from viewer.domain.exchange import BoxPrompt, Facts, ImagePart, Message, ModelReply
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.grid import Grid
from viewer.domain.image import Raster, Window
from viewer.domain.interpretability import Choices, Highlight, Measures, RandomText
from viewer.domain.item import Item
from viewer.domain.places import PlaceWords
from viewer.domain.rubric import Grade
from viewer.domain.run import Step, Trial


def _no_place() -> None:
    return None


@dataclass(frozen=True)
class StepReply:
    """A step with its reply.

    ``placed`` is the location in the reply in native pixels, None if its text is to be
    parsed, because its model writes no coordinates and returns no map.
    """

    step: Step
    reply: ModelReply
    placed: Callable[[], PlacedAnswer | Unparsed | None] = field(
        default=_no_place, compare=False
    )


@dataclass(frozen=True)
class Turn:
    """A trial, its item, and the replies received so far, oldest first.

    ``images`` are the data set's images by key, with their masks. A trial about a
    finding in an image has an item with only that image. ``grades`` are readers' grades
    of its output so far, if the study is graded.
    """

    trial: Trial
    item: Item
    so_far: tuple[StepReply, ...] = ()
    images: Mapping[str, DatasetImage] = field(default_factory=dict, compare=False)
    grades: tuple[Grade, ...] = ()

    def replies(self, role: str = "") -> tuple[ModelReply, ...]:
        """Return the replies in a role, oldest first."""
        return tuple(one.reply for one in self.so_far if one.step.role == role)

    def reply_to(self, step: str) -> ModelReply | None:
        """Return the latest reply to a step of this name, None without any."""
        named = [one.reply for one in self.so_far if one.step.name == step]
        return named[-1] if named else None


@dataclass(frozen=True)
class Question:
    """The question of a step: new messages, and the template they were made from.

    ``prompt`` names the template, ``template`` is its text with placeholders, which is
    hashed. ``answer_schema`` is the JSON Schema of the answer, for models with
    structured output. ``highlight`` and ``measures`` are for models that give access to
    their attention (``Sources.interpretable``), ``choices`` for a baseline that reads
    them, ``boxes`` for a segmenter, whose reply is the mask inside them. ``note`` is a
    caveat on how this model was asked, a sentence without full stop; the run gets a
    badge with it. ``written`` is a person's answer, if the question was asked
    elsewhere.
    """

    messages: tuple[Message, ...]
    prompt: str
    template: str
    answer_schema: Mapping[str, object] | None = None
    highlight: Highlight | None = None
    measures: Measures | None = None
    choices: Choices | None = None
    boxes: BoxPrompt | None = None
    note: str = ""
    facts: Facts | None = None
    written: str = ""


@dataclass(frozen=True)
class Longest:
    """The longest question of a step, to estimate the cost of a batch.

    ``text`` stands for all its text, ``images`` are the sizes as sent.
    """

    text: str
    images: tuple[SizePx, ...] = ()
    messages: int = 2
    role: str = ""


@dataclass(frozen=True, slots=True)
class SentImage:
    """An image of ``native`` size, of which the square ``field`` was sent in a size."""

    native: SizePx
    field: BoxPx
    sent: SizePx
    grid: Grid


@dataclass(frozen=True)
class PredictedBoxes:
    """Boxes in a trial's replies, on an image that one of its steps sent.

    ``step`` is the step that the image was sent with, ``image`` counts its images from
    0 and ``field`` is the native rectangle that the whole of it covers. ``boxes`` are
    in native pixels and may be empty. ``key`` is the data set's image they refer to, ""
    if it was edited or its size is unknown.
    """

    step: str
    image: int
    field: BoxPx
    boxes: tuple[LabelledBox, ...]
    key: str = ""


class Sources(Protocol):
    """What a study may use to make a question.

    Every image read here for a question, including those of other items, must pass
    pixel review before the question may be sent.
    """

    @property
    def dataset(self) -> Dataset:
        """The whole data set: also other items, masks and anatomy."""
        ...

    @property
    def seed(self) -> int:
        """The run's seed; with names it determines every random choice."""
        ...

    @property
    def interpretable(self) -> bool:
        """Whether the model supports a highlight and measures."""
        ...

    @property
    def asking(self) -> str:
        """The convention whose wording asks the model for a location, "" for a cell."""
        ...

    @property
    def place_words(self) -> PlaceWords | None:
        """How the model asked is told to write places, None without a convention."""
        ...

    @property
    def takes_boxes(self) -> bool:
        """Whether the model segments boxes that it is given."""
        ...

    @property
    def needs_counts(self) -> bool:
        """Whether the model needs other patients' reference counts."""
        ...

    @property
    def validation(self) -> Dataset | None:
        """The data set of few-shot examples, None if there are none."""
        ...

    @property
    def why_no_attention(self) -> str:
        """Why the attention of this model cannot be measured, "" if it can."""
        ...

    def random_text(self, like: str, seed: int) -> RandomText | None:
        """Return text of as many random tokens of the model as another text has.

        None if the model gives no access to its tokens.
        """
        ...

    def image(self, key: str) -> DatasetImage:
        """Return an image's facts, masks and anatomy."""
        ...

    def raster(self, key: str, window: Window | None = None) -> Raster:
        """Return an image in its native size, with its own VOI or a ``window``.

        Redactions are applied. Raises if the image cannot be read.
        """
        ...

    def made(self, name: tuple[object, ...], make: Callable[[], Raster]) -> Raster:
        """Return the result of ``make``, computed once per name for concurrent trials.

        Models asked about the same item share the picture; expensive results are cached
        as long as they are needed. The name must contain everything that the picture
        depends on.
        """
        ...

    def picture(self, raster: Raster, detail: str | None = None) -> ImagePart:
        """Return the exact PNG bytes of a raster as a part of a message.

        Only images made by this method may be sent.
        """
        ...

    def example(
        self, image: str, name: tuple[object, ...], draw: Callable[[Raster], Raster]
    ) -> ImagePart:
        """Return an image of the validation data set, rendered by ``draw``.

        It is rendered once for all questions that use it. Like the image asked about it
        is sent only where the gate allows it.
        """
        ...

    def written_place(self, finding: str, box: BoxPx, of: SentImage) -> str:
        """Return a native box on an image as a model that names places writes it."""
        ...
