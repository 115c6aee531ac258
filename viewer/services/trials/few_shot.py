"""The data set for a run's few-shot examples, checked before planning."""

from collections.abc import Sequence

from viewer.domain.case import Dataset
from viewer.domain.errors import WrongUseError
from viewer.domain.run import RunSpec, Trial
from viewer.services.trials.placed_answer import ONE_IMAGE, convention_of
from viewer.store import cases
from viewer.store.database import Store
from viewer.studies.catalog import study_named


def examples_dataset(store: Store, spec: RunSpec) -> Dataset | None:
    """Return the data set of a run's examples, None if it has none.

    Raises if its name is not registered.
    """
    study = study_named(spec.study)
    params = study.read_params(spec.preset, dict(spec.params))
    examples = study.examples(params)
    return cases.dataset_named(store, examples.dataset) if examples else None


def check_examples(
    spec: RunSpec, validation: Dataset, asked: Dataset, trials: Sequence[Trial]
) -> None:
    """Raise if examples cannot be shown, or would reveal answers.

    Whether they may leave this machine is asked by the gate.
    """
    for model in spec.models:
        if convention_of(model) in ONE_IMAGE:
            raise WrongUseError(
                f"The model '{model.name}' is asked about one image at a time, in the "
                "syntax of its family, so it cannot be shown examples.",
                "Leave it out, or set examples to 0.",
            )
    study = study_named(spec.study)
    examples = study.examples(study.read_params(spec.preset, dict(spec.params)))
    if examples is not None:
        examples.check(validation, asked, trials)
