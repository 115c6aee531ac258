"""The question of one trial: images, text, and the facts for baselines."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain

import numpy as np
import numpy.typing as npt

from viewer.domain.case import Dataset, DatasetImage, View
from viewer.domain.conditions import boxes_of, window_of
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import BoxPrompt, Facts, ImagePart, Message, TextPart
from viewer.domain.finding_names import concept
from viewer.domain.image import Raster
from viewer.domain.run import Condition, Trial
from viewer.studies.grid_localization.few_shot import ExampleItem, examples
from viewer.studies.grid_localization.params import Params
from viewer.studies.grid_localization.places import GridPlaces
from viewer.studies.grid_localization.plan import Item, items_of
from viewer.studies.grid_localization.reference import grid_of, reference_of
from viewer.studies.grid_localization.templates import (
    CELL,
    EXAMPLE,
    EXAMPLE_ANSWER,
    PROMPTS,
    prompt_name,
    prompt_text,
    template,
)
from viewer.studies.places import prompt_for_places
from viewer.studies.prompts import OwnPrompts, asked_with, fill
from viewer.studies.steps import Question, SentImage, Sources, Turn


def question(turn: Turn, sources: Sources, params: Params) -> Question:
    """Return a new conversation: the system text, then the image and the task.

    Examples come in between, each asked in the same words and answered (E000-11). A
    model that answers in coordinates is asked, and shown examples, in its own wording
    about the same images, which have a grid only if the parameters say so, because its
    lines hide details.
    """
    trial, places = turn.trial, GridPlaces(params)
    raster = sources.raster(trial.image, window_of(trial.condition))
    has_grid = params.grid_for_coordinates or not sources.asking
    kind = "grid" if has_grid else "plain"
    draw = partial(
        places.gridded if has_grid else places.without_grid, condition=trial.condition
    )
    sent = sources.made((kind, trial.image, trial.condition), lambda: draw(raster))
    picture = sources.picture(sent)
    solved = _solved(trial, sources, params, (kind, trial.condition), draw)
    if sources.asking:
        text = TextPart(sources.asking.replace("{condition}", trial.finding))
        before = chain.from_iterable(
            (
                Message("user", (shown, text)),
                Message("assistant", (_place(one, sources, trial, places),)),
            )
            for shown, one in solved
        )
        messages = (*before, Message("user", (picture, text)))
        prompt, words = prompt_for_places(sources.asking)
    else:
        cells = [(shown, one.answer) for shown, one in solved]
        messages = _conversation(trial, picture, cells, params)
        prompt = prompt_name(trial.view)
        words = prompt_text(trial.view, params.prompts)
    facts = _facts(turn, places.plain(raster), sources, params)
    return Question(messages, prompt, words, boxes=_boxes(trial, sources), facts=facts)


def _conversation(
    trial: Trial,
    picture: ImagePart,
    solved: Iterable[tuple[ImagePart, str]],
    params: Params,
) -> tuple[Message, ...]:
    prompts, values = params.prompts, _values(trial, params)
    system, task = (
        fill(template(role, trial.view, prompts), values) for role in ("system", "user")
    )
    examples = (
        message
        for shown, cell in solved
        for message in _example(shown, prompts, {**values, "task": task, CELL: cell})
    )
    *first, asked = asked_with(system, (picture, TextPart(task)))
    return (*first, *examples, asked)


def _example(
    shown: ImagePart, prompts: OwnPrompts, values: Mapping[str, str]
) -> tuple[Message, Message]:
    """Return a solved example: an image with its question, and the answer."""
    asked, answer = (
        TextPart(fill(PROMPTS.text(name, prompts), values))
        for name in (EXAMPLE, EXAMPLE_ANSWER)
    )
    return Message("user", (shown, asked)), Message("assistant", (answer,))


def _solved(
    trial: Trial,
    sources: Sources,
    params: Params,
    name: tuple[object, ...],
    draw: Callable[[Raster], Raster],
) -> list[tuple[ImagePart, ExampleItem]]:
    """Return the examples, drawn like the image asked about."""
    if sources.validation is None:
        return []
    chosen = examples(sources.validation, trial, params, sources.seed)
    return [(sources.example(one.image, name, draw), one) for one in chosen]


def _place(
    one: ExampleItem, sources: Sources, trial: Trial, places: GridPlaces
) -> TextPart:
    """Return the answer to an example as the model itself writes it."""
    condition = trial.condition
    sent = SentImage(
        one.geometry.size,
        places.field(one.geometry),
        places.sent_size(condition),
        places.grid(condition),
    )
    return TextPart(sources.written_place(trial.finding, one.box, sent))


def _boxes(trial: Trial, sources: Sources) -> BoxPrompt | None:
    """Return the boxes that a segmenter is asked about, on the whole image.

    The image is shown in its file's own window.
    """
    boxes = boxes_of(trial.condition)
    if not boxes or not sources.takes_boxes:
        return None
    return BoxPrompt(sources.raster(trial.image), boxes)


def _values(trial: Trial, params: Params) -> dict[str, str]:
    """Return the values of the placeholders in a trial's prompts."""
    labels = {**params.view_labels, View.OTHER: ""}
    if trial.view not in labels:
        raise WrongUseError(
            f"The view of the image {trial.image} is not known, so the prompt cannot "
            "name it.",
            "Name it as frontal or lateral, or as other if it is not a radiograph.",
        )
    finding = trial.finding
    return {"view": labels[trial.view], "condition": finding, "finding": finding}


def _facts(turn: Turn, plain: Raster, sources: Sources, params: Params) -> Facts:
    """Return the facts about a trial for baselines and scripted models."""
    trial, counts = turn.trial, None
    if sources.needs_counts:
        image, asked = turn.images[trial.image], sources.dataset
        counts = reference_counts(image, trial.finding, asked, trial.condition, params)
    grid = grid_of(trial.condition, params)
    return Facts(
        rows=grid.rows,
        columns=grid.columns,
        letters=str(grid.letters),
        finding=trial.finding,
        view=trial.view,
        item=trial.item,
        condition=trial.condition.name,
        seed=sources.seed,
        repeat=trial.repeat,
        plain=plain,
        plain_sha256=_sha256(plain),
        reference_counts=counts,
    )


@lru_cache(maxsize=8)
def _sha256(raster: Raster) -> str:
    return hashlib.sha256(raster.pixels.tobytes()).hexdigest()


_Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Content:
    """A data set, hashed by its content, so that counts can be cached."""

    root_sha256: str
    dataset: Dataset = field(compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class _Totals:
    """Per-cell counts (cells,) of qualifying references: of all, and by patient."""

    total: _Counts
    by_patient: Mapping[str, _Counts]


def reference_counts(
    image: DatasetImage,
    finding: str,
    dataset: Dataset,
    condition: Condition,
    params: Params,
) -> tuple[tuple[int, ...], ...]:
    """Return how often each cell qualifies among the other patients' references.

    The whole data set counts, whatever part of it a run uses; rows × columns.
    """
    content = _Content(dataset.root_sha256, dataset)
    totals = _totals(content, concept(finding), str(image.view), condition, params)
    own = totals.by_patient.get(image.patient, 0)
    grid = grid_of(condition, params)
    others = (totals.total - own).reshape(grid.rows, grid.columns)
    return tuple(tuple(int(n) for n in row) for row in others)


@lru_cache(maxsize=1024)
def _totals(
    content: _Content, finding: str, view: str, condition: Condition, params: Params
) -> _Totals:
    grid = grid_of(condition, params)
    by_patient: dict[str, _Counts] = {}
    total = np.zeros(grid.rows * grid.columns, dtype=np.int64)
    for item in _usable_items(content, params):
        if item.mask is not None and (concept(item.finding), item.view) == (
            finding,
            view,
        ):
            seen = reference_of(item.mask, item.geometry, condition, params)
            hits = list(seen.hits)
            by_patient.setdefault(item.patient, np.zeros_like(total))[hits] += 1
            total[hits] += 1
    return _Totals(total, by_patient)


@lru_cache(maxsize=8)
def _usable_items(content: _Content, params: Params) -> tuple[Item, ...]:
    items = items_of(content.dataset, params)
    return tuple(item for item in items if not item.exclusion)
