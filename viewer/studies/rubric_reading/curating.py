"""Curation as questions of a trial: propose, then score and tag each task (E001-02).

The result is stored as a ranking whose entries are JSON, best first, so that a later
report has every score and tag; a radiologist selects from it.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from viewer.domain.answer import RankedAnswer, Status, Unparsed
from viewer.domain.case import Dataset
from viewer.domain.exchange import Message, TextPart
from viewer.domain.item import Item
from viewer.domain.plain import made, plain
from viewer.domain.report_study import is_study, study_of
from viewer.domain.result import Score, TrialResult
from viewer.domain.run import Step
from viewer.domain.task_selection import SelectedTask, task_of_json
from viewer.studies.rubric_reading.asking import (
    generation_text,
    scoring_text,
    tagging_text,
)
from viewer.studies.rubric_reading.candidates import (
    Candidate,
    Quality,
    read_candidates,
    read_quality,
)
from viewer.studies.rubric_reading.params import Params
from viewer.studies.rubric_reading.tags import Tags, read_tags
from viewer.studies.rubric_reading.templates import (
    GENERATION,
    PROMPTS,
    SCORING,
    TAGGING,
)
from viewer.studies.steps import Longest, Question, Turn

PROPOSE: Final = "propose"
_SCORE, _TAG = "score", "tag"
PROPOSED: Final = "proposed"
"""The reason of a trial that is not an answer to be graded."""


@dataclass(frozen=True)
class Proposal:
    """A candidate with its scores and tags, None if they could not be read.

    ``unscored`` and ``untagged`` say why not.
    """

    candidate: Candidate
    quality: Quality | None = None
    tags: Tags | None = None
    unscored: str = ""
    untagged: str = ""

    @property
    def total(self) -> int | None:
        """The sum of its scores, None if they could not be read."""
        return self.quality.total if self.quality else None

    @property
    def disagreement(self) -> str:
        """What is wrong with its scores, in a sentence, "" for nothing."""
        return self.quality.disagreement if self.quality else self.unscored


def next_step(turn: Turn, params: Params) -> Step | None:
    """Return the next question; None if all were asked or none was proposed."""
    if not turn.so_far:
        return Step(PROPOSE)
    candidates = _candidates(turn, params)
    if isinstance(candidates, Unparsed):
        return None
    steps = [
        f"{kind} {n}" for n in range(1, len(candidates) + 1) for kind in (_SCORE, _TAG)
    ]
    asked = len(turn.so_far) - 1
    return Step(steps[asked]) if asked < len(steps) else None


def question(turn: Turn, step: Step, params: Params) -> Question:
    """Return the question of a step: text from the report or about a candidate."""
    kind, _, number = step.name.partition(" ")
    if kind == PROPOSE:
        study = study_of(turn.item)
        facts = {"indication": study.indication, "findings": study.findings}
        text = generation_text(facts, study.images, params)
        return _asked(GENERATION, params, text)
    candidates = _candidates(turn, params)
    assert not isinstance(candidates, Unparsed)  # noqa: S101 - no step follows without
    task = candidates[int(number) - 1].task
    if kind == _SCORE:
        return _asked(SCORING, params, scoring_text(task, params))
    return _asked(TAGGING, params, tagging_text(task, params))


def parse(turn: Turn, params: Params) -> RankedAnswer | Unparsed:
    """Return the candidate tasks by quality, the best first, each as JSON."""
    candidates = _candidates(turn, params)
    if isinstance(candidates, Unparsed):
        return candidates
    found = [_proposal(turn, n, one) for n, one in enumerate(candidates, 1)]
    ordered = sorted(found, key=_rank)
    return RankedAnswer(tuple(_written(one) for one in ordered))


def score(answer: RankedAnswer | Unparsed) -> Score:
    """Return the verdict on proposed tasks, which are neither right nor wrong."""
    if isinstance(answer, Unparsed):
        return Score(answer.status, answer.reason)
    rows = list(_proposals(answer))
    totals = [row.total for row in rows if row.total is not None]
    numbers = (
        ("candidates", float(len(rows))),
        ("scored", float(len(totals))),
        ("tagged", float(sum(row.tags is not None for row in rows))),
        ("disagreements", float(sum(bool(row.disagreement) for row in rows))),
        *((("best", float(max(totals))),) if totals else ()),
    )
    spelled = f"{len(rows)} tasks"
    return Score(Status.EXCLUDED, PROPOSED, spelled, numbers=numbers)


def prompts(params: Params) -> tuple[tuple[str, str], ...]:
    """Return the name and text of the three prompts."""
    names = (GENERATION, SCORING, TAGGING)
    return tuple((name, PROMPTS.text(name, params.prompts)) for name in names)


def longest(dataset: Dataset, params: Params) -> tuple[Longest, ...]:
    """Return the longest question of each step, for the price before a run."""
    reports = [
        study.indication + study.findings
        for item in dataset.items
        if is_study(item)
        for study in (study_of(item),)
    ]
    texts = dict(prompts(params))
    proposal = Longest(texts[GENERATION] + max(reports, key=len, default=""), (), 1)
    each = (Longest(texts[SCORING], (), 1), Longest(texts[TAGGING], (), 1))
    return (proposal, *each * params.candidates)


def proposals_of(result: TrialResult) -> Iterator[Proposal]:
    """Yield the proposals of a trial, the best first; none of another answer."""
    yield from proposals_in(result.said)


def proposals_in(said: object) -> Iterator[Proposal]:
    """Yield the proposals in an answer, the best first; none in another."""
    if isinstance(said, RankedAnswer):
        yield from _proposals(said)


def _proposals(answer: RankedAnswer) -> Iterator[Proposal]:
    for entry in answer.entries:
        yield made(Proposal, json.loads(entry), where="the proposal")


CHOSEN: Final = "selected_tasks"
"""Under which an item's reference holds the tasks that radiologists chose here."""


def selection(
    results: Sequence[TrialResult], dataset: Dataset | None
) -> tuple[SelectedTask, ...]:
    """Return the tasks that radiologists chose, and a draft for the other studies.

    The draft is the best candidate of each study.
    """
    chosen = {item.key: chosen_in(item) for item in dataset.items} if dataset else {}
    first: dict[str, tuple[SelectedTask, ...]] = {}
    for result in results:
        row = next(proposals_of(result), None)
        if result.item not in first and (row is not None or chosen.get(result.item)):
            draft = (selected(result.item, row),) if row is not None else ()
            first[result.item] = chosen.get(result.item) or draft
    return tuple(task for tasks in first.values() for task in tasks)


def chosen_in(item: Item) -> tuple[SelectedTask, ...]:
    """Return the tasks that radiologists chose for a study in sessions, each once."""
    listed = item.reference.get(CHOSEN, [])
    found = [task_of_json(one) for one in listed] if isinstance(listed, list) else []
    once = {one.task: one for one in found}
    return tuple(replace(one, id=f"t{n}") for n, one in enumerate(once.values(), 1))


def selected(item: str, row: Proposal) -> SelectedTask:
    """Return a candidate as a selected task.

    It compares with the prior where its temporal tag names a prior.
    """
    one, tags = row.candidate, row.tags.values if row.tags else None
    temporal = " ".join((tags or {}).get("tag_temporal_context", ())).casefold()
    return SelectedTask(
        item=item,
        id="t1",
        task=one.task,
        category=one.category,
        source=one.source,
        candidate=one.task,
        tags=tags,
        temporal="prior" in temporal,
    )


def _candidates(turn: Turn, params: Params) -> tuple[Candidate, ...] | Unparsed:
    reply = turn.reply_to(PROPOSE)
    if reply is None:
        return Unparsed(Status.UNPARSED, "nothing_proposed")
    return read_candidates(reply.text, params.candidates)


def _proposal(turn: Turn, number: int, candidate: Candidate) -> Proposal:
    scored, tagged = (turn.reply_to(f"{kind} {number}") for kind in (_SCORE, _TAG))
    quality = read_quality(scored.text) if scored else _NOT_ASKED
    tags = read_tags(tagged.text) if tagged else _NOT_ASKED
    return Proposal(
        candidate,
        quality if isinstance(quality, Quality) else None,
        tags if isinstance(tags, Tags) else None,
        _why(quality),
        _why(tags),
    )


_NOT_ASKED: Final = Unparsed(Status.UNPARSED, "not_asked")


def _rank(one: Proposal) -> tuple[bool, bool, int]:
    """Sort risky tasks after harmless ones, and those without a sum last."""
    if one.quality is None:
        return True, False, 0
    return False, one.quality.risk, -one.quality.total


def _written(one: Proposal) -> str:
    return json.dumps(plain(one), ensure_ascii=False, sort_keys=True)


def _why(read: object) -> str:
    return f"not read: {read.reason}" if isinstance(read, Unparsed) else ""


def _asked(prompt: str, params: Params, text: str) -> Question:
    template = PROMPTS.text(prompt, params.prompts)
    return Question((Message("user", (TextPart(text),)),), prompt, template)
