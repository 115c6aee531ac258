"""The run context of a run that the store has."""

from viewer.domain.errors import WrongUseError
from viewer.services.sessions import datasets
from viewer.services.trials.run_context import RunContext
from viewer.store import runs
from viewer.store.database import Store


def context_of_run(store: Store, run: int, model: str = "") -> RunContext:
    """Return what stays the same for a run's trials, enough to read its answers.

    Raises
    ------
    WrongUseError
        For an unknown run, or a ``model`` that it did not ask.
    """
    context = RunContext(runs.run_spec(store, run), datasets.dataset_of_run(store, run))
    if model and model not in context.profiles:
        raise WrongUseError(
            f"Run {run} did not ask the model '{model}'.",
            f"It asked {', '.join(context.profiles)}.",
        )
    return context
