"""What adapters that do not read a question are told of it."""

from viewer.domain.conditions import name_without_variant
from viewer.domain.exchange import Asked, Facts
from viewer.domain.run import Step, Trial
from viewer.studies.controls import NO_RASTER


def question_asked(trial: Trial, step: Step) -> Asked:
    """Return which of a trial's questions a step asks."""
    return Asked(trial.model, step.name, step.role, step.again)


def facts_without_grid(trial: Trial, step: Step, seed: int) -> Facts:
    """Return the facts for scripted models in a step without a grid."""
    return Facts(
        rows=0,
        columns=0,
        letters="",
        finding=trial.finding,
        view=trial.view,
        item=trial.item,
        condition=name_without_variant(trial.condition.name),
        seed=seed,
        repeat=trial.repeat,
        plain=NO_RASTER,
        plain_sha256="",
        step=f"{step.name} again" if step.again else step.name,
    )
