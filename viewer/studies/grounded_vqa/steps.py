"""The next step of a trial, and the result of its replies."""

from viewer.domain.answer import AnyAnswer, LabelsAnswer, Status, Unparsed, YesNoAnswer
from viewer.domain.exchange import ModelReply
from viewer.domain.result import Score
from viewer.domain.run import Step
from viewer.studies.grounded_vqa.arms import (
    change_of,
    is_perturbed,
    is_sham,
    shows_region,
)
from viewer.studies.grounded_vqa.attending import attention_numbers
from viewer.studies.grounded_vqa.items import area_of, native_size
from viewer.studies.grounded_vqa.localizing import (
    EDITED,
    OUTLINE,
    SEGMENTER,
    located_box,
    locates,
    overlaps,
    region_of_turn,
)
from viewer.studies.grounded_vqa.params import Extraction, Params
from viewer.studies.grounded_vqa.parse import (
    parse_labels,
    parse_yes_no,
    read_extracted_labels,
    read_extracted_yes_no,
)
from viewer.studies.grounded_vqa.questions import Question
from viewer.studies.grounded_vqa.remaining import remaining_numbers
from viewer.studies.grounded_vqa.request import (
    ANSWER,
    BASE,
    EXTRACT,
    EXTRACT_BASE,
    readable,
)
from viewer.studies.grounded_vqa.score import score_closed, score_open
from viewer.studies.grounded_vqa.templates import LOCATE
from viewer.studies.grounded_vqa.vocabulary import canonical
from viewer.studies.steps import Turn

EXTRACTOR = "extractor"
DICTIONARY = "dictionary"
NOT_TRUE_POSITIVE = "not_true_positive"
"""Why a perturbed trial is not counted: the model did not say yes to begin with."""
NOT_LOCATED = "not_located"
_MIB = 1024 * 1024
_TO_EXTRACT = frozenset({Status.UNPARSED, Status.AMBIGUOUS})

Answer = YesNoAnswer | LabelsAnswer | Unparsed


def next_step(turn: Turn, params: Params) -> Step | None:
    """Return the next question of a trial, None if it is complete."""
    condition = turn.trial.condition.name
    regions = shows_region(condition) and locates(params)
    if is_perturbed(condition) and turn.reply_to(BASE) is None:
        step = _pass(turn, params) if regions else None
        return step or (Step(BASE) if _ready(turn, params, "") else None)
    suffix = EDITED if is_perturbed(condition) else ""
    if suffix and (step := _base_extraction(turn, params)):
        return step
    if suffix and not _follows_up(turn, params):
        return None
    step = _pass(turn, params, suffix) if regions else None
    if step or not _ready(turn, params, suffix):
        return step
    reply = turn.reply_to(ANSWER)
    if reply is None:
        return Step(ANSWER)
    return _extraction(turn, reply, params)


def parse(turn: Turn, params: Params) -> Answer:
    """Read the answer off a trial's replies; a base that is not a yes is the answer."""
    asked, reply = readable(turn, params), turn.reply_to(ANSWER)
    if reply is None:
        base = turn.reply_to(BASE)
        if base is None or _follows_up(turn, params):
            return Unparsed(Status.UNPARSED, NOT_LOCATED)
        return _base_answer(turn, params)
    finding = _finding(turn, asked)
    read = _read(reply, asked, finding, params)
    extracted = turn.reply_to(EXTRACT)
    if extracted is None:
        return read
    if not asked.closed:
        return _extracted_labels(read, extracted, params)
    if isinstance(read, Unparsed):
        return read_extracted_yes_no(extracted.text)
    return read


def _extracted_labels(read: Answer, output: ModelReply, params: Params) -> Answer:
    """Return an open answer as extracted by the model, with the dictionary's beside it.

    The dictionary's is the answer if the model's output cannot be read.
    """
    found = read_extracted_labels(output.text, params.findings)
    by_words = read.labels if isinstance(read, LabelsAnswer) else None
    if isinstance(found, LabelsAnswer):
        return LabelsAnswer(found.labels, EXTRACTOR, by_words)
    return found if by_words is None else LabelsAnswer(by_words, DICTIONARY, by_words)


def score(turn: Turn, answer: AnyAnswer | Unparsed, params: Params) -> Score:
    """Return the verdict: right answers, and for perturbed trials right changes.

    A perturbation should turn yes into no, a sham should not.
    """
    asked, condition = readable(turn, params), turn.trial.condition.name
    found: Score
    if not isinstance(answer, YesNoAnswer | LabelsAnswer | Unparsed):
        return Score(Status.UNPARSED, "answer_of_another_kind")
    if isinstance(answer, LabelsAnswer):
        truth = (canonical(label, params.findings) for label in asked.labels)
        found = score_open(answer, truth)
    elif is_perturbed(condition) and not _follows_up(turn, params):
        return Score(Status.EXCLUDED, NOT_TRUE_POSITIVE, _spelled(answer))
    elif is_perturbed(condition):
        found = score_closed(answer, yes=is_sham(condition))
    else:
        found = score_closed(answer, yes=asked.yes)
    attended = attention_numbers(turn, params)
    left = remaining_numbers(turn, asked)
    numbers = (*found.numbers, *left, *_region_numbers(turn), *attended, *_costs(turn))
    return Score(found.status, found.reason, found.answer, numbers=numbers)


def _follows_up(turn: Turn, params: Params) -> bool:
    """Tell whether the model said yes to the question itself."""
    answer = _base_answer(turn, params)
    return isinstance(answer, YesNoAnswer) and answer.yes


def _base_answer(turn: Turn, params: Params) -> Answer:
    """Return the answer to the question itself, extracted where that was needed."""
    base, extracted = turn.reply_to(BASE), turn.reply_to(EXTRACT_BASE)
    if base is None:
        return Unparsed(Status.UNPARSED, NOT_LOCATED)
    if extracted is not None:
        return read_extracted_yes_no(extracted.text)
    asked = readable(turn, params)
    return _read(base, asked, asked.finding, params)


def _base_extraction(turn: Turn, params: Params) -> Step | None:
    """Return the step that extracts an answer to the question itself, if one must."""
    if params.extraction is not Extraction.MODEL or turn.reply_to(EXTRACT_BASE):
        return None
    unread = _is_to_extract(_base_answer(turn, params))
    return Step(EXTRACT_BASE, EXTRACTOR) if unread else None


def _is_to_extract(answer: Answer) -> bool:
    return isinstance(answer, Unparsed) and answer.status in _TO_EXTRACT


def _pass(turn: Turn, params: Params, suffix: str = "") -> Step | None:
    """Return the step that a region still needs, None if no more is possible."""
    if turn.reply_to(LOCATE + suffix) is None:
        return Step(LOCATE + suffix)
    wanted = params.segmenter and _is_located(turn, suffix)
    if wanted and turn.reply_to(OUTLINE + suffix) is None:
        return Step(OUTLINE + suffix, SEGMENTER)
    return None


def _ready(turn: Turn, params: Params, suffix: str) -> bool:
    """Tell whether there is the region that the next question shows, if any."""
    if not shows_region(turn.trial.condition.name) or not locates(params):
        return True
    return _is_located(turn, suffix)


def _is_located(turn: Turn, suffix: str) -> bool:
    first = turn.reply_to(LOCATE + suffix)
    return bool(first and located_box(first.text, native_size(turn.item)))


def _extraction(turn: Turn, reply: ModelReply, params: Params) -> Step | None:
    """Return the step that extracts an answer, if a model is to.

    Every open answer, as in the paper; a closed one where no yes or no can be read.
    """
    if params.extraction is not Extraction.MODEL or turn.reply_to(EXTRACT):
        return None
    asked = readable(turn, params)
    read = _read(reply, asked, _finding(turn, asked), params)
    wanted = isinstance(read, LabelsAnswer) or _is_to_extract(read)
    return Step(EXTRACT, EXTRACTOR) if wanted else None


def _finding(turn: Turn, asked: Question) -> str:
    change = change_of(turn.trial.item, turn.trial.condition.name)
    return change.pair[1] if change.pair else asked.finding


def _read(reply: ModelReply, asked: Question, finding: str, params: Params) -> Answer:
    if asked.closed:
        return parse_yes_no(reply, canonical(finding, params.findings))
    return parse_labels(reply, params.findings)


def _region_numbers(turn: Turn) -> tuple[tuple[str, float], ...]:
    """Return how a located region meets the anatomy's mask (E002-16)."""
    area = area_of(turn.item)
    region = region_of_turn(turn, area.size) if area else None
    if area is None or region is None:
        return ()
    found = overlaps(region, area.array())
    return ("dice", found.dice), ("region_iou", found.iou)


def _costs(turn: Turn) -> tuple[tuple[str, float], ...]:
    """Return the time and peak memory of all passes of a trial (Table 6).

    For local models it is the computing time, for others the response time.
    """
    replies = (*turn.replies(), *turn.replies(SEGMENTER))
    milliseconds = sum(
        reply.latency_ms if reply.work_ms is None else reply.work_ms
        for reply in replies
    )
    peaks = [r.peak_memory_bytes for r in replies if r.peak_memory_bytes]
    time = (("latency_ms", float(milliseconds)),) if milliseconds else ()
    return (*time, *((("peak_mib", max(peaks) / _MIB),) if peaks else ()))


def _spelled(answer: Answer) -> str:
    if isinstance(answer, YesNoAnswer):
        return "Yes" if answer.yes else "No"
    return ""
