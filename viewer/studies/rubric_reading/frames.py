"""The frames of what was asked and delivered, whoever graded it.

``trials`` has one row per trial, ``inputs`` one per task and model, ``selection``
one per task, ``regions`` one per task and region, ``tags`` one per value of a tag,
``candidates`` one per proposed task, ``prompts`` one for what each prompt has that the
other lacks, and ``rubric`` one per dimension.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from viewer.domain.answer import ReportAnswer, Status
from viewer.domain.errors import TOO_LONG
from viewer.domain.result import TrialResult
from viewer.domain.rubric import Dimension, RubricRow
from viewer.domain.run import RunSpec
from viewer.domain.task_selection import NO_TAG, TAGS, SelectedTask
from viewer.results.frame import Frame, frame_of_rows
from viewer.results.records import records
from viewer.results.spec import TRIALS
from viewer.studies.prompts import OwnPrompts
from viewer.studies.rubric_reading.asking import box_difference
from viewer.studies.rubric_reading.candidates import Criterion
from viewer.studies.rubric_reading.curating import Proposal, proposals_of
from viewer.studies.rubric_reading.params import Params
from viewer.studies.rubric_reading.parse import CUT_SHORT
from viewer.studies.rubric_reading.plan import Asked
from viewer.studies.rubric_reading.protocol_data import REGION_WORDS, TARGETS
from viewer.studies.rubric_reading.tags import Tags, tag_counts

INPUTS: Final = "inputs"
SELECTION: Final = "selection"
REGIONS: Final = "regions"
TAGGED: Final = "tags"
CANDIDATES: Final = "candidates"
PROMPTS: Final = "prompts"
RUBRIC: Final = "rubric"
ENDINGS: Final = (
    *("delivered", "token_limit", "refused", "unparsed", "failed", "excluded"),
    "pending",
)
"""How a trial can end."""
_OF_STATUS: Final[Mapping[Status, str]] = {
    Status.REFUSED: "refused",
    Status.PROVIDER_ERROR: "failed",
    Status.EXCLUDED: "excluded",
    Status.PENDING: "pending",
}
CANDIDATE_COLUMNS: Final = (
    *("item", "model", "rank", "category", "source", "task", *map(str, Criterion)),
    *("risk", "total", "total_of_three", "conclusion", "disagreement", *TAGS),
)


def run_frames(
    results: Sequence[TrialResult],
    rubric: Mapping[Dimension, RubricRow],
    prompts: OwnPrompts,
) -> dict[str, Frame]:
    """Return the frames of any run that answers tasks."""
    difference = box_difference(prompts)
    only = (
        ("with boxes", difference.only_with),
        ("without boxes", difference.only_without),
    )
    rows = ((of.words, row.heading, *row.anchors) for of, row in rubric.items())
    return {
        TRIALS: trial_frame(results),
        PROMPTS: frame_of_rows(("only", "words"), only),
        RUBRIC: frame_of_rows(("dimension", "heading", *"12345"), rows),
    }


def trial_frame(results: Sequence[TrialResult]) -> Frame:
    """Return the trials with their status, annotated images and boxes (E001-09).

    Of the token limit are replies that were cut short, and questions that were longer
    than the model's context. A delivered output stays one where nobody graded it.
    """
    outputs = [
        one.said if isinstance(one.said, ReportAnswer) else ReportAnswer("")
        for one in results
    ]
    return records(results).having(
        ending=[_ending(one) for one in results],
        with_boxes=[bool(one.boxes) for one in outputs],
        n_annotated_images=[_annotated(one) for one in outputs],
        n_boxes=[len(one.boxes) for one in outputs],
    )


def _annotated(output: ReportAnswer) -> int:
    """Return how many images an output annotated.

    Boxes in the text and a returned picture may show the same image, so the larger
    number of both counts and none is counted twice.
    """
    return max(len({box.image for box in output.boxes}), output.pictures)


def input_frame(asked: Sequence[Asked], spec: RunSpec, params: Params) -> Frame:
    """Return which images each model was shown for each task (E001-07)."""
    header = ("item", "model", "rule", "images", "boxes_asked", "excluded")
    rows = (
        (one.name, model.name, *_shown(one, model.name, params))
        for one in asked[: spec.limit]
        for model in spec.models
    )
    return frame_of_rows(header, rows)


def selection_frames(tasks: Sequence[SelectedTask]) -> dict[str, Frame]:
    """Return the frames of the selected tasks: themselves, their regions and tags."""
    header = (
        *("item", "task", "words", "category", "origin", "changes", "rescored"),
        *("temporal", "answerable"),
    )
    selected = (
        (
            *(task.item, task.id, task.task, str(task.category), str(task.origin)),
            *("; ".join(task.diff), task.rescored, task.temporal),
            str(task.answerable),
        )
        for task in tasks
    )
    tagged = [Tags(task.tags) for task in tasks if task.tags]
    counts = (
        (tag, value, n) for tag in TAGS for value, n in tag_counts(tagged, tag).items()
    )
    regions = ("region", "paper_percent", "task", "counted")
    return {
        SELECTION: frame_of_rows(header, selected),
        REGIONS: frame_of_rows(regions, _regions(tasks)),
        TAGGED: frame_of_rows(("tag", "value", "tasks"), counts),
    }


def proposal_frames(results: Sequence[TrialResult]) -> dict[str, Frame]:
    """Return the trials that were to propose tasks, and the tasks, the best first.

    Sums are recomputed; where the model's own Conclusion says another, a sentence says
    so.
    """
    proposals = [list(proposals_of(one)) for one in results]
    rows = (
        (one.item, one.model, rank, *_proposed(row))
        for one, of in zip(results, proposals, strict=True)
        for rank, row in enumerate(of, 1)
    )
    header = (*CANDIDATE_COLUMNS, "scored", "tagged", "other_sum")
    return {
        TRIALS: records(results).having(proposed=[bool(of) for of in proposals]),
        CANDIDATES: frame_of_rows(header, rows),
    }


def _proposed(row: Proposal) -> tuple[object, ...]:
    one, quality, tags = row.candidate, row.quality, row.tags
    return (
        *(str(one.category), str(one.source), one.task),
        *(quality.scores[c] if quality else None for c in Criterion),
        *((quality.risk, quality.total) if quality else (None, None)),
        *((quality.total_of_three, quality.conclusion) if quality else (None, None)),
        row.disagreement,
        *(tags.written(tag) if tags else "" for tag in TAGS),
        *(quality is not None, tags is not None, bool(row.disagreement)),
    )


def _regions(tasks: Sequence[SelectedTask]) -> Iterator[tuple[object, ...]]:
    """Yield the paper's regions, then those of each task; a task without one as "".

    Regions that are not in the paper come last, by name.
    """
    yield from ((name, percent, None, True) for name, percent in TARGETS.items())
    named = [(name, task) for task in tasks for name in _regions_of(task)]
    for name, task in sorted(named, key=lambda pair: pair[0]):
        yield name, TARGETS.get(name), (task.item, task.id), bool(name)


def covered_regions(tasks: Sequence[SelectedTask]) -> Counter[str]:
    """Return how many tasks have each region of the paper."""
    named = (name for task in tasks for name in _regions_of(task))
    return Counter(name for name in named if name in TARGETS)


def _regions_of(task: SelectedTask) -> tuple[str, ...]:
    """Return a task's regions in the paper's words where they are others for them."""
    values = (task.tags or {}).get(TAGS[0], ())
    said = (one.casefold() for one in values if one != NO_TAG)
    named = (REGION_WORDS.get(one, one) for one in said)
    return tuple(dict.fromkeys(named)) or ("",)


def _ending(one: TrialResult) -> str:
    if one.score.reason in {CUT_SHORT, TOO_LONG}:
        return "token_limit"
    if isinstance(one.said, ReportAnswer):
        return "delivered"
    return _OF_STATUS.get(one.score.status, "unparsed")


def _shown(asked: Asked, model: str, params: Params) -> tuple[object, ...]:
    given = asked.shown_to(model, params)
    keys = " ".join(image.key for image in given.images)
    return given.rule, keys, params.asks_boxes_of(model), given.reason
