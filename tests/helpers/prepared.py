"""Questions of trials as a batch prepares them, outside of any batch."""

from dataclasses import replace

from viewer.domain.run import Trial
from viewer.services.running.trial_question import TrialQuestion, next_question
from viewer.services.trials.run_context import RunContext
from viewer.services.trials.run_trial import PreparedRequest, run_trial
from viewer.store.runs import StoredTrial


def prepared_question(context: RunContext, stored: StoredTrial) -> TrialQuestion:
    """Return the first question of a planned trial, ready to be asked."""
    due = next_question(context, stored)
    return replace(due, prepared=due.prepare())


def prepare_trial(context: RunContext, trial: Trial) -> PreparedRequest:
    """Return what a trial's model is asked first."""
    path = run_trial(context, trial)
    next(path)
    prepared = next(path)
    assert isinstance(prepared, PreparedRequest)
    return prepared
