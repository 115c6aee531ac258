"""Export of questions that a run made, or that few models guess (E003-08, E003-15)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from viewer.domain.counting import counted
from viewer.domain.errors import WrongUseError
from viewer.services.reporting.report_run import RunResults, run_results
from viewer.store.database import Store
from viewer.studies.pathology_mcq.guessing import audit, filtered
from viewer.studies.pathology_mcq.making import as_data_json, questions_of
from viewer.studies.pathology_mcq.params import Params, Work, read_params
from viewer.studies.pathology_mcq.questions import mcqs_of
from viewer.writers.files import write_atomically

STUDY = "pathology_mcq"


@dataclass(frozen=True, slots=True)
class Kept:
    """How many questions were asked without their image, and how they are classified.

    ``guessable`` ones are left out, as are those that too few models answered.
    """

    asked: int
    kept: int
    guessable: int
    threshold: int

    @property
    def not_told(self) -> int:
        """The number left out because too few models answered them."""
        return self.asked - self.kept - self.guessable


@dataclass(frozen=True, slots=True)
class Made:
    """How many questions were made, and for how many of the images shown."""

    questions: int
    images: int
    shown: int


def keep_questions(store: Store, run: int, out: Path) -> Kept | Made:
    """Write a run's questions as PathMMU's data.json: new ones, or those that remain.

    Beside the images of the data set it can be imported again.

    Raises
    ------
    WrongUseError
        The run is of another study, made nothing, asked nothing without its image, or
        fewer models than must guess.
    """
    own = run_results(store, run)
    if own.summary.study != STUDY:
        raise WrongUseError(
            f"Run {run} is of the study {own.summary.study}, which has no "
            "multiple-choice questions.",
            f"Choose a run of {STUDY}.",
        )
    spec = own.context.spec
    params = read_params(spec.preset, spec.params)
    building = params.work is Work.BUILDING
    table, told = _made(own) if building else _remaining(own, params)
    text = json.dumps(table, indent=1, ensure_ascii=False)
    write_atomically(out, text.encode() + b"\n")
    return told


def _made(own: RunResults) -> tuple[Mapping[str, object], Made]:
    items = {item.key: item for item in own.context.dataset.items}
    counts = [len(questions_of(one)) for one in own.results]
    if not any(counts):
        raise WrongUseError(
            f"Run {own.summary.id} has made no questions.",
            "Its items.csv says why: overread report writes it.",
        )
    made = Made(sum(counts), sum(bool(n) for n in counts), len(counts))
    return as_data_json(own.results, items), made


def _remaining(own: RunResults, params: Params) -> tuple[Mapping[str, object], Kept]:
    run, guesses = own.summary.id, audit(own.results, params.guessed_by)
    if not guesses.items:
        raise WrongUseError(
            f"Run {run} asked no question without its image, so there are no guesses.",
            'Run the study with arms = ["text_only"] and several models.',
        )
    if not guesses.kept and not guesses.guessable:
        raise WrongUseError(
            f"Run {run} has answers without the image from too few models: a question "
            f"counts as guessed if {counted(guesses.threshold, 'model')} or more "
            "guess it.",
            "Ask more models, or run the study with a smaller guessed_by.",
        )
    sizes = (len(guesses.items), len(guesses.kept), len(guesses.guessable))
    table = filtered(guesses, mcqs_of(own.context.dataset.items))
    return table, Kept(*sizes, params.guessed_by)
