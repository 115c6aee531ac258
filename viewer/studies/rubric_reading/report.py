"""What a run of the study reports: its tables at full precision, and its page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from viewer.domain.answer import ReportAnswer
from viewer.domain.counting import counted
from viewer.domain.report import ReportData, Section, Table
from viewer.domain.result import TrialResult
from viewer.domain.rubric import NO_GRADES, Grade, Grades
from viewer.domain.run import RunSpec
from viewer.results.frame import Frames
from viewer.results.records import number_names
from viewer.results.spec import Spec
from viewer.studies.consistency import published_table
from viewer.studies.protocol import ReportContext
from viewer.studies.rubric_reading.consistency import CHECKS
from viewer.studies.rubric_reading.curating import selection
from viewer.studies.rubric_reading.final import main_and_second
from viewer.studies.rubric_reading.frames import (
    INPUTS,
    input_frame,
    proposal_frames,
    run_frames,
    selection_frames,
)
from viewer.studies.rubric_reading.graded import (
    CARDS,
    Graded,
    card_frame,
    grade_frames,
)
from viewer.studies.rubric_reading.naming import policies
from viewer.studies.rubric_reading.params import Params, Work, read_params
from viewer.studies.rubric_reading.plan import Asked, tasks_of
from viewer.studies.rubric_reading.printed_rows import PRINTED
from viewer.studies.rubric_reading.published import ROWS
from viewer.studies.rubric_reading.supplement import coverage_figure
from viewer.studies.rubric_reading.tables import (
    ASKED,
    CARDED,
    COVERAGE,
    PROPOSED,
    RUN,
    SELECTED,
    grade_specs,
)
from viewer.studies.tables import reported, results_spec

DEFINITIONS: Final = {
    "content": (
        "the minimum of Process, Execution and Synthesis; for several readers as "
        "content_order says"
    ),
    "hit_rate": (
        "outputs whose Content is exactly 5 over all that are neither excluded, "
        "ungraded nor pending"
    ),
    "sd": "standard deviation with n - 1",
    "p": (
        "paired Wilcoxon signed-rank test on tasks that both models' outputs were "
        "graded on, two-sided"
    ),
    "p_adjusted": "Benjamini-Hochberg over the five declared measures",
    "qwk": "Cohen's kappa with quadratic weights and the fixed labels 1 to 5",
    "mad": "mean absolute difference between both readers",
    "ac2": "Gwet's AC2 with quadratic weights",
    "alpha": "Krippendorff's alpha, ordinal",
}

_OF_CURATION: Final = {
    "total": "sum of the four Likert scores, 4 to 20, recomputed",
    "total_of_three": "sum of relevance, answerability and reasoning",
    "conclusion": "the sum that the model itself wrote",
    "share": "tasks tagged with a region over all; a task may have several",
}


def report(
    results: Sequence[TrialResult], spec: RunSpec, context: ReportContext
) -> ReportData:
    """Return the tables of a run; those of grades only if readers have graded."""
    params = read_params(spec.preset, spec.params)
    if params.work is Work.CURATION:
        return _curated(results, context)
    asked = tasks_of(context.dataset.items if context.dataset else ())
    used = used_grades(context.beside or NO_GRADES, results, asked, params)
    given = graded(used.grades, asked, spec, params)
    frames = run_frames(results, used.grades.rubric, params.prompts)
    specs = [results_spec(number_names(results), means=False), *RUN]
    if asked:
        frames |= {INPUTS: input_frame(asked, spec, params)}
        frames |= selection_frames([one.task for one in asked])
        specs += [ASKED, *SELECTED]
    if given is not None:
        frames |= grade_frames(given)
        frames |= {CARDS: card_frame(results, used.grades, asked)}
        specs += [*grade_specs(given), CARDED]
    left = ungraded(results, used.grades) if given else ""
    sentences = notes(used.grades, given, (*used.sentences, left))
    found = _reported(results, specs, frames, DEFINITIONS)
    return replace(
        found,
        tables=(
            *found.tables,
            *(() if found.incomplete else (published_table(ROWS, CHECKS),)),
        ),
        sections=(*found.sections, policies(spec, params), *note_sections(sentences)),
        warnings=tuple(sentence for _, sentence in sentences),
    )


def _curated(results: Sequence[TrialResult], context: ReportContext) -> ReportData:
    """Return the proposals, and what the tasks chosen of them cover."""
    chosen = selection(results, context.dataset)
    frames = proposal_frames(results) | selection_frames(chosen)
    specs = (
        results_spec(number_names(results), means=False),
        *(*PROPOSED, *SELECTED),
    )
    return _reported(results, specs, frames, _OF_CURATION)


def _reported(
    results: Sequence[TrialResult],
    specs: Sequence[Spec],
    frames: Frames,
    definitions: Mapping[str, str],
) -> ReportData:
    always = [one.name for one in specs]
    found = reported(results, specs, frames, definitions, always=always, paper=PRINTED)
    covered = [table for table in found.tables if table.name == COVERAGE.name]
    return replace(found, figures=tuple(map(coverage_figure, covered)))


def graded(
    grades: Grades, asked: Sequence[Asked], spec: RunSpec, params: Params
) -> Graded | None:
    """Return the grades of a run's outputs as frames, None without any."""
    if not grades.grades:
        return None
    main, second = main_and_second(grades, params.main_reader)
    models = tuple(model.name for model in spec.models)
    kinds = {one.name: one.task.answerable for one in asked}
    patients = {one.name: one.study.patient for one in asked}
    return Graded(grades, models, kinds, patients, params, spec.seed, main, second)


Note = tuple[str, str]
"""What a sentence is about, and the sentence."""


def notes(
    grades: Grades, given: Graded | None, sentences: Sequence[str]
) -> tuple[Note, ...]:
    """Return every note; ``sentences`` are those about grades that do not count."""
    return (
        *_whole(grades, given),
        *(("Grades", sentence) for sentence in sentences if sentence),
        *(
            ("Withdrawn", f"{reader} has withdrawn; none of the grades is used.")
            for reader in grades.withdrawn
        ),
    )


def note_sections(lines: Sequence[Note]) -> tuple[Section, ...]:
    """Return the section that has the notes, none without any."""
    table = Table("notes", ("About", "What"), tuple(lines))
    text = "Read from the data set's folder."
    return (Section("Grades", text, table),) if lines else ()


def _whole(grades: Grades, given: Graded | None) -> Iterator[Note]:
    if grades.problem:
        yield "Grades", grades.problem
    elif given is None:
        yield "Grades", "No reader has graded an output of this run's models."
    elif given.second is None:
        alone = f"{given.main} graded alone, so agreement cannot be measured."
        yield "Readers", alone


_NAMED = 5
"""Of the names that a sentence has; of more it says how many."""


class Unused(Enum):
    """Why a grade does not count, as the end of a sentence about it."""

    MODEL = "of a model that this run did not ask"
    TASK = "of a task that the data set does not have"
    OUTPUT = "of an output that this run does not have"
    IMAGE = "of an image that the model was not shown and did not return"


@dataclass(frozen=True)
class Used:
    """The grades that count, and sentences on those that do not."""

    grades: Grades
    sentences: tuple[str, ...]


def used_grades(
    grades: Grades,
    results: Sequence[TrialResult],
    tasks: Iterable[Asked],
    params: Params,
) -> Used:
    """Return the grades of a run's outputs; ``tasks`` are the data set's."""
    asked = {one.name: one for one in tasks}
    there = {
        _output(r): r.said.pictures for r in results if isinstance(r.said, ReportAnswer)
    }
    models = {result.model for result in results}
    why = [_why(grade, models, there, asked, params) for grade in grades.grades]
    pairs = tuple(zip(grades.grades, why, strict=True))
    used = tuple(grade for grade, reason in pairs if reason is None)
    sentences = (
        sentence
        for reason in Unused
        for sentence in _sentence(reason, [g for g, r in pairs if r is reason])
    )
    return Used(replace(grades, grades=used), tuple(sentences))


def ungraded(results: Sequence[TrialResult], grades: Grades) -> str:
    """Return a sentence about the delivered outputs without a grade, "" for none."""
    outputs = [_output(r) for r in results if isinstance(r.said, ReportAnswer)]
    graded = {grade.output for grade in grades.grades if grade.image is None}
    n = sum(output not in graded for output in outputs)
    if not n:
        return ""
    all_of = counted(len(outputs), "delivered output")
    again = any(repeat for _, _, repeat in outputs)
    never = "; a grade of one repeat does not count for another" if again else ""
    return f"{n} of {all_of} without a grade: excluded as ungraded{never}."


def _output(result: TrialResult) -> tuple[str, str, int]:
    return result.model, result.item, result.repeat


def _why(
    grade: Grade,
    models: set[str],
    there: Mapping[tuple[str, str, int], int],
    asked: Mapping[str, Asked],
    params: Params,
) -> Unused | None:
    if grade.model not in models:
        return Unused.MODEL
    if asked and grade.item not in asked:
        return Unused.TASK
    if grade.output not in there:
        return Unused.OUTPUT
    if asked and grade.image is not None:
        shown = asked[grade.item].shown_to(grade.model, params).images
        known = max(len(shown), there[grade.output])
        return Unused.IMAGE if grade.image > known else None
    return None


def _sentence(reason: Unused, grades: Sequence[Grade]) -> Iterator[str]:
    """Yield the sentence about the grades of a reason; none if there are none."""
    if grades:
        names = tuple(dict.fromkeys(_name(reason, grade) for grade in grades))
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        listed = f"{', '.join(names[:_NAMED])}{more}"
        yield f"{counted(len(grades), 'grade')} {reason.value}, not used: {listed}."


def _name(reason: Unused, grade: Grade) -> str:
    """Return the unknown part of a grade."""
    if reason is Unused.MODEL:
        return f"'{grade.model}'"
    if reason is Unused.TASK:
        return f"'{grade.item}'"
    repeat = f", repeat {grade.repeat}" if grade.repeat else ""
    image = f", image {grade.image}" if reason is Unused.IMAGE else ""
    return f"'{grade.item}' by '{grade.model}'{repeat}{image}"
