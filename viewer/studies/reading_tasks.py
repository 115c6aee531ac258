"""What people may be asked to do for a study, and how their answers count in it.

A study lists its tasks (:class:`HasReadings`); the Review workspace draws their forms.
An answer becomes an entry in its item's reference, just as if it had been imported from
a file beside the data set, so that every table has one source.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from viewer.domain.answer import AnyAnswer, Status, Unparsed
from viewer.domain.case import Dataset
from viewer.domain.form import Form
from viewer.domain.form_values import Values
from viewer.domain.holdings import Holdings
from viewer.domain.image import Raster
from viewer.domain.item import Item
from viewer.domain.reading import Exhibit, Material, Withheld
from viewer.domain.rubric import Dimension, RubricRow
from viewer.domain.run import Trial
from viewer.studies.steps import PredictedBoxes, Sources


@dataclass(frozen=True)
class Output:
    """A reply of a run, to be graded; ``id`` is its trial's in the store.

    ``answer`` says why there is none if it could not be read. ``params`` are the run's,
    as the study reads them, ``status`` is the trial's.
    """

    id: int
    trial: Trial
    answer: AnyAnswer | Unparsed
    params: object
    status: Status
    boxes: tuple[PredictedBoxes, ...] = ()


NOTHING: Final = Withheld()


@dataclass(frozen=True)
class MadeImage:
    """An image made from a run's images for a case, and its title.

    ``make`` returns it with square pixels.
    """

    title: str
    make: Callable[[Sources], Raster]


@dataclass(frozen=True)
class ReadingCase:
    """One case of a task: what it shows, and what is withheld until a lock.

    ``item`` names what is asked, ``image`` is the image that places are drawn on and
    that is shown first, unless one is ``made`` for the case, which stands before those
    of its material. Cases of one ``group`` stay together, in their order; ``output`` is
    the graded trial's number in the store. ``subject`` stands over the questions of a
    case whose material has no question.
    """

    item: str
    image: str
    material: Material
    withheld: Withheld = NOTHING
    group: str = ""
    output: int | None = None
    made: MadeImage | None = None
    subject: str = ""


@dataclass(frozen=True)
class CaseRead:
    """A locked case: whose answers they are, and what was read.

    ``panel`` is the group of readers that the reader belongs to, "" for none. ``model``
    and ``repeat`` are those of a graded output.
    """

    reader: str
    panel: str
    item: str
    material: Material
    values: Values
    model: str = ""
    repeat: int = 0


Entry = tuple[str, object]
"""The name of a list in an item's reference, and what is added to it (plain JSON)."""


Verdict = tuple[str, str, bool]
"""A criterion, what of the case was judged by it, "" for all, and whether it is met."""


def _nothing(_: Material, __: Values) -> tuple[Exhibit, ...]:
    return ()


def _no_problem(_: Values) -> str:
    return ""


@dataclass(frozen=True)
class Choice:
    """The question of a task that a model's choice answers, and its right key."""

    question: str
    right: Callable[[Item], str]


@dataclass(frozen=True)
class ReadingTask:
    """A task that people do.

    ``form`` makes its questions for a data set and its rubric, ``cases`` what is read:
    outputs of a run if ``of_run``, else items of the data set. ``entries`` are what a
    locked case counts as, ``after_lock`` what is computed from it and shown then.
    ``problem`` says what keeps answers from being locked that are valid one by one.
    ``in_panels`` asks which group of readers somebody belongs to. The first
    ``training`` groups of cases, the same for every reader, do not count. ``overview``
    sums up what a reader has locked so far, to be seen between cases; ``files`` are
    what the readers' answers add to the data set's folder. A task with a ``choice`` can
    be read beside a model's answers. ``case_s`` is the assumed time per case, in
    seconds, of a reader without any earlier cases. ``suits`` tells which data sets have
    cases, None for those of the study. ``criteria`` are what a locked case is judged
    by, on which readers are compared. ``again`` names the task that is done once more,
    by another reader, on those groups of its cases that ``draw`` draws by a seed.
    ``unit`` is what a sample is drawn of.
    """

    name: str
    title: str
    about: str
    form: Callable[[Dataset, Mapping[Dimension, RubricRow]], Form]
    cases: Callable[[Dataset, Sequence[Output]], Iterable[ReadingCase]]
    entries: Callable[[CaseRead], Iterable[Entry]]
    after_lock: Callable[[Material, Values], tuple[Exhibit, ...]] = _nothing
    problem: Callable[[Values], str] = _no_problem
    of_run: bool = False
    in_panels: bool = False
    training: int = 0
    overview: Callable[[Sequence[CaseRead]], tuple[Exhibit, ...]] | None = None
    files: Callable[[Form, Sequence[CaseRead]], Mapping[str, bytes]] | None = None
    choice: Choice | None = None
    case_s: int = 60
    suits: Callable[[Holdings], bool] | None = None
    unit: str = "cases"
    criteria: Callable[[CaseRead], Iterable[Verdict]] | None = None
    again: str = ""
    draw: Callable[[Sequence[str], int], Sequence[str]] | None = None

    @property
    def first(self) -> str:
        """The name of the task that is done the first time."""
        return self.again or self.name


@runtime_checkable
class HasReadings(Protocol):
    """Additional interface of a study for which people read."""

    reading_tasks: tuple[ReadingTask, ...]
