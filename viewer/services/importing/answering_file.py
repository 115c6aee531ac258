"""What importing predictions and importing replies have in common."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from viewer.domain.counting import counted
from viewer.domain.errors import WrongUseError
from viewer.domain.run import RunSummary
from viewer.services.configuring.toml_files import read_toml
from viewer.services.running.batch_form import study_title
from viewer.store import runs
from viewer.store.database import open_store
from viewer.studies.catalog import study_named, titles


@dataclass(frozen=True, slots=True)
class AskedRun:
    """A run whose questions a file may answer.

    ``paper_models`` are those of its study's paper that a model may count as.
    """

    id: int
    words: str
    paper_models: tuple[str, ...] = ()


def asked_runs(store: Path, dataset: str = "") -> tuple[AskedRun, ...]:
    """Return the runs that a person planned, newest first.

    Those over one data set are told apart by their models.
    """
    with open_store(store) as opened:
        found = runs.run_summaries(opened, include_adhoc=False)
    chosen = [one for one in reversed(found) if dataset in {"", one.dataset}]
    counting = {study: paper_models(study) for study in {one.study for one in chosen}}
    return tuple(
        AskedRun(
            one.id,
            f"Those of run {one.id}: {_label(one, dataset)}",
            counting[one.study],
        )
        for one in chosen
    )


def paper_models(study: str) -> tuple[str, ...]:
    """Return the models of a study's paper that a model may count as.

    There are none if the study compares no model by name, or is not installed.
    """
    benchmark = study_named(study).benchmark() if study in titles() else None
    return benchmark.models if benchmark else ()


def paper_models_of_file(file: Path) -> tuple[str, ...]:
    """Return those of a study file's study; a file that cannot be read raises."""
    return paper_models(str(read_toml(file).get("study", "")))


def used_words(used: str, answered: int, n_items: int) -> str:
    """Return what is used for how many items, and how many items have none of it."""
    words = f"{used} for {answered} of {counted(n_items, 'item')}"
    without = n_items - answered
    if not without:
        return words
    have = "has" if without == 1 else "have"
    return f"{words}; {counted(without, 'item')} {have} none"


def check_model(file: Path, model: str, named: Collection[str]) -> None:
    """Raise WrongUseError for a model that a file does not name."""
    if model and model not in named:
        raise WrongUseError(
            f"'{file.name}' has no model '{model}'.",
            f"It has {', '.join(named)}." if named else "It names no model.",
        )


def no_answer(file: Path, kind: str, unused: Sequence[str], hint: str) -> WrongUseError:
    """Return the error that nothing in a file can be used, with the first reason."""
    first = f" {unused[0]}." if unused else ""
    return WrongUseError(
        f"No {kind} in '{file.name}' answers a question of this run.{first}", hint
    )


def _label(run: RunSummary, over: str) -> str:
    models = ", ".join(run.models)
    return models if over else f"{study_title(run.study)} · {run.dataset}"
