"""Radiologists choose, edit or write the task of each study (Banerjee 2025, 3.1).

All candidates are shown by their score, with the report and the images (E001-05); the
tasks chosen are those of ``overread export tasks``, and their tags are compared with
the paper's targets (E001-06).
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from viewer.domain.case import Dataset
from viewer.domain.form import (
    ChoiceQuestion,
    DraftQuestion,
    FlagQuestion,
    Form,
    LikertQuestion,
    Option,
)
from viewer.domain.form_values import Values
from viewer.domain.item import item_of
from viewer.domain.plain import made
from viewer.domain.reading import Exhibit, Material
from viewer.domain.report_study import ReportStudy, study_of
from viewer.domain.task_selection import Category, SelectedTask, task_as_json
from viewer.studies.reading_tasks import (
    CaseRead,
    Entry,
    Output,
    ReadingCase,
    ReadingTask,
)
from viewer.studies.rubric_reading.candidates import Criterion
from viewer.studies.rubric_reading.curating import (
    CHOSEN,
    Proposal,
    proposals_in,
    selected,
)
from viewer.studies.rubric_reading.frames import covered_regions
from viewer.studies.rubric_reading.params import Params
from viewer.studies.rubric_reading.policy import (
    NO_PRIOR,
    PRIOR_TOO_OLD,
    InputPolicy,
    shown,
)
from viewer.studies.rubric_reading.protocol_data import TARGETS

CANDIDATE, TEXT, PROBLEM = "candidate", "text", "problem"
_SCORE: Final = "score_"
_WRITTEN: Final = {
    "Q": Category.BROAD,
    "R": Category.REASONING,
    "M": Category.MEASUREMENT,
}
"""The keys of options to write a task instead, by its category."""
_WORDS: Final = {
    Category.BROAD: "Write a broad query",
    Category.REASONING: "Write a question of diagnostic reasoning",
    Category.MEASUREMENT: "Write a measurement or comparison",
}
_AGREEMENT: Final = (
    "strongly disagree",
    "disagree",
    "neither",
    "agree",
    "strongly agree",
)
_SO_FAR: Final = "Regions of the tasks so far (the paper's share in brackets)"
_UNSUITED: Final = {
    NO_PRIOR: "compares with a prior, and there is none",
    PRIOR_TOO_OLD: "compares with a prior, which is too old",
}
"""Why a task that compares with the prior would not be asked (E001-05)."""

_FORM: Final = Form(
    "task_selection",
    "2",
    "Choice of tasks",
    (
        ChoiceQuestion(CANDIDATE, "Candidates, the best first"),
        DraftQuestion(TEXT, "The task as it is asked", CANDIDATE, tuple(_WRITTEN)),
        *(
            LikertQuestion(
                f"{_SCORE}{number}",
                f"{criterion.value}: your score",
                _AGREEMENT,
                required=False,
            )
            for number, criterion in enumerate(Criterion)
        ),
        FlagQuestion(PROBLEM, "Something is wrong with this study"),
    ),
)


def _cases(dataset: Dataset, outputs: Sequence[Output]) -> Iterator[ReadingCase]:
    """Yield each study with the candidates of the first model that proposed any."""
    items = {item.key: item for item in dataset.items}
    seen: set[str] = set()
    for output in outputs:
        proposals = tuple(proposals_in(output.answer))
        if not proposals or output.trial.item in seen:
            continue
        seen.add(output.trial.item)
        study, most = study_of(item_of(items, output.trial.item)), output.params
        assert isinstance(most, Params)  # noqa: S101 - of this study's run
        if study.images:
            material = _material(study, proposals, most.max_prior_days)
            yield ReadingCase(study.key, study.images[0].key, material)


def _material(
    study: ReportStudy, proposals: Sequence[Proposal], max_prior_days: int
) -> Material:
    """Return a study with its report, and its candidates by their score."""
    drafts = [selected(study.key, one) for one in proposals]
    options = tuple(
        Option(str(number), one.candidate.task, _told(one, unsuited))
        for number, (one, draft) in enumerate(zip(proposals, drafts, strict=True), 1)
        for unsuited in [_unsuited(study, draft, max_prior_days)]
    )
    written = tuple(Option(key, _WORDS[of]) for key, of in _WRITTEN.items())
    images = tuple(
        Exhibit(f"Prior {one.view}" if one.prior else one.view, image=one.key)
        for one in study.images
    )
    texts = (
        Exhibit("Indication", study.indication),
        Exhibit("Findings", study.findings),
        Exhibit("Prior", _prior(study, max_prior_days)),
    )
    return Material(
        "Which task is asked about this study?",
        exhibits=(*images, *(one for one in texts if one.text)),
        options={CANDIDATE: (*options, *written)},
        notes={"study": study.key, "candidates": [*map(task_as_json, drafts)]},
    )


def _unsuited(study: ReportStudy, draft: SelectedTask, max_prior_days: int) -> str:
    """Return why models cannot be asked the study's task, "" if they can."""
    found = shown(
        study.images,
        InputPolicy.ALL_VIEWS,
        temporal=draft.temporal,
        prior_days=study.prior_days,
        max_prior_days=max_prior_days,
    )
    return _UNSUITED.get(found.reason, "")


def _told(one: Proposal, unsuited: str) -> str:
    """Return a candidate's category, source, scores and what is wrong with them."""
    total = f"score {one.total} of 20" if one.quality else one.unscored
    if one.quality and one.quality.disagreement:
        total += f" (the model's own sum: {one.quality.conclusion or 'none'})"
    risk = "risk flagged" if one.quality and one.quality.risk else ""
    words = one.candidate.category.value.replace("_", " ")
    source = f"from the {one.candidate.source.value}"
    told = (total, risk, unsuited, words, source)
    return " · ".join(part for part in told if part)


def _prior(study: ReportStudy, max_days: int) -> str:
    """Return how old the prior is, and whether that is too old to compare with."""
    days = study.prior_days
    if not study.has_prior:
        return "There is no prior study."
    if days is None:
        return "The age of the prior study is not known."
    old = f" Tasks compare with {max_days} days at most." if 0 < max_days < days else ""
    return f"The prior study is {days} days older.{old}"


def _chosen(read: CaseRead) -> SelectedTask:
    """Return the task of a locked case, with the candidate that it was made from."""
    key, words = str(read.values[CANDIDATE]), str(read.values.get(TEXT, "")).strip()
    scores = [read.values.get(f"{_SCORE}{n}") for n in range(len(Criterion))]
    levels = [level for level in scores if isinstance(level, int)]
    rescored = sum(levels) if len(levels) == len(Criterion) else None
    notes: Any = read.material.notes
    if key in _WRITTEN:
        return SelectedTask(
            str(notes["study"]), "t1", words, _WRITTEN[key], rescored=rescored
        )
    draft = dict(notes["candidates"][int(key) - 1])
    for derived in ("origin", "diff"):
        draft.pop(derived, None)
    changed = {"rescored": rescored} | ({"task": words} if words else {})
    return made(SelectedTask, {**draft, **changed}, where="the candidate")


def _problem(values: Values) -> str:
    """Return what is missing where another task is to be written."""
    words = str(values.get(TEXT, "")).strip()
    if values[CANDIDATE] in _WRITTEN and not words:
        return "Write the task, or choose a candidate."
    return ""


def _entries(read: CaseRead) -> Iterator[Entry]:
    """Yield the task as ``tasks.json`` would bring it."""
    yield CHOSEN, task_as_json(_chosen(read))


def _coverage(read: Sequence[CaseRead]) -> tuple[Exhibit, ...]:
    """Return how far the chosen tasks cover the regions, beside the paper's shares."""
    tasks = [_chosen(one) for one in read]
    counts = covered_regions(tasks)
    total = sum(counts.values())
    lines = [
        f"{100 * counts.get(region, 0) / total:.0f} % ({share} %)  {region}"
        for region, share in TARGETS.items()
        if total
    ]
    return (Exhibit(_SO_FAR, "\n".join(lines)),) if lines else ()


SELECTION: Final = ReadingTask(
    "selection",
    "Choose the tasks",
    "A radiologist chooses one candidate for each study, edits it or writes another. "
    "The tasks are those that overread export tasks writes.",
    lambda _, __: _FORM,
    _cases,
    _entries,
    of_run=True,
    problem=_problem,
    overview=_coverage,
)
