"""What a study has that asks about items, in one question after another.

A trial takes as many questions as its study wants: each is made of the item and of the
replies so far, and goes to the model that is studied or to another in a role, such as
a judge. The run path keeps every reply, and reads a trial's answer off all of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from viewer.domain.answer import LabelledBox, PlacedAnswer, Unparsed
from viewer.domain.case import Dataset, DatasetImage
from viewer.domain.exchange import BoxPrompt, Facts, ImagePart, Message, ModelReply
from viewer.domain.geometry import BoxPx, SizePx
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

    ``placed`` gives what the places of the reply come to in native pixels, None if its
    text is to be read: its model writes no coordinates and draws no map.
    """

    step: Step
    reply: ModelReply
    placed: Callable[[], PlacedAnswer | Unparsed | None] = field(
        default=_no_place, compare=False
    )


@dataclass(frozen=True)
class Turn:
    """A trial, its item, and the replies received so far, oldest first.

    ``images`` are those of the data set by their keys, with their masks. A trial about
    a finding in an image has an item of its own, with that image alone. ``grades`` are
    what readers graded of its output so far, where a study is graded.
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
    """What a step asks: fresh messages, and the template that they were made of.

    ``prompt`` names the template, ``template`` is its text with its places open, which
    is hashed. ``answer_schema`` is the JSON Schema of the answer for models that are
    asked to keep to one. ``highlight`` and ``measures`` are for models that give access
    to their attention (``Sources.interpretable``), ``choices`` for a baseline that
    reads them, ``boxes`` for a segmenter, whose reply is the mask of what lies in them.
    ``note`` is what a reader of the results must know of how this model was asked, a
    sentence without its stop; the run is badged with it. ``written`` is what people
    answered, where it only stands for a question that they were asked.
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
    """The longest question that a step may ask, for the price of a batch before it.

    ``text`` stands for all text of it, ``images`` are the sizes as sent.
    """

    text: str
    images: tuple[SizePx, ...] = ()
    messages: int = 2
    role: str = ""


@dataclass(frozen=True)
class PredictedBoxes:
    """Boxes that a trial's replies name on an image that one of its steps sent.

    ``step`` is the step that the image was sent with, ``image`` counts its images from
    0 and ``field`` is the native rectangle that the whole of it covers. ``boxes`` are
    native, and may be none. ``key`` is the data set's image whose pixels they count, ""
    if it was edited or its size is not known.
    """

    step: str
    image: int
    field: BoxPx
    boxes: tuple[LabelledBox, ...]
    key: str = ""


class Sources(Protocol):
    """What a question may be made of; given to the study that makes it.

    Every image that is read here for a question is looked at before the question may
    leave this machine, those of other items too.
    """

    @property
    def dataset(self) -> Dataset:
        """Everything that is registered: other items, masks and anatomy too."""
        ...

    @property
    def seed(self) -> int:
        """The run's seed; with names it gives every random choice."""
        ...

    @property
    def interpretable(self) -> bool:
        """Whether the model asked takes a highlight and measures."""
        ...

    @property
    def asking(self) -> str:
        """The words in which the model asked wants a place, "" for a grid's cell."""
        ...

    @property
    def place_words(self) -> PlaceWords | None:
        """How the model asked is told to write places, None without a convention."""
        ...

    @property
    def takes_boxes(self) -> bool:
        """Whether the model asked outlines what lies in boxes it is given."""
        ...

    @property
    def needs_counts(self) -> bool:
        """Whether the model asked reads the references of other patients."""
        ...

    @property
    def validation(self) -> Dataset | None:
        """The data set that examples are drawn from, None if none are shown."""
        ...

    @property
    def why_no_attention(self) -> str:
        """Why the attention of this model cannot be measured, "" if it can."""
        ...

    def random_text(self, like: str, seed: int) -> RandomText | None:
        """Return text of as many random tokens of the model asked as another has.

        None if the model gives no access to its tokens.
        """
        ...

    def image(self, key: str) -> DatasetImage:
        """Return an image's facts, masks and anatomy."""
        ...

    def raster(self, key: str, window: Window | None = None) -> Raster:
        """Return an image in its native size, through its own VOI or a ``window``.

        What a person blacked out is black in it. An image that cannot be read raises.
        """
        ...

    def made(self, name: tuple[object, ...], make: Callable[[], Raster]) -> Raster:
        """Return the result of ``make``, made once for trials that ask for its name.

        Models that are asked the same beside one another are shown the same picture;
        what takes long to make is kept as long as they need. The name has everything
        that the picture depends on.
        """
        ...

    def picture(self, raster: Raster, detail: str | None = None) -> ImagePart:
        """Return the exact PNG bytes of a raster as a part of a message.

        A question with an image that was not made here is not sent.
        """
        ...

    def example(
        self, image: str, name: tuple[object, ...], draw: Callable[[Raster], Raster]
    ) -> ImagePart:
        """Return an image of the validation data set, drawn the way ``draw`` does.

        It is drawn once for all questions that ask for it; it may not leave this
        machine.
        """
        ...
