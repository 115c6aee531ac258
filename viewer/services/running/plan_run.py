"""From settings to a sealed plan in the store, or to the existing run."""

from dataclasses import replace
from typing import Final

from viewer.domain.case import Dataset
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import RunSpec
from viewer.models.catalog import adapter_for
from viewer.services.privacy.gate import open_gate
from viewer.services.running.run_notes import note_unknown_images
from viewer.services.running.spending import check_prices
from viewer.services.running.supported_findings import note_excluded, planned_trials
from viewer.services.sessions import datasets
from viewer.services.trials.few_shot import check_examples, examples_dataset
from viewer.services.trials.request_key import request_key
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, runs
from viewer.store.database import Store
from viewer.store.spending import set_ceiling
from viewer.studies.catalog import study_named
from viewer.studies.study import HasPeople, Study

_NOT_WORK: Final = frozenset(
    {"api_key_env", "timeout_s", "price_in", "price_out", "batch_rate"}
)
"""Model settings that change no answer and so do not name the work."""
_NO_CONTROLS: Final[tuple[str, object]] = ("controls", [])
"""A parameter that names no other work where it has this value."""


def plan_sha256(spec: RunSpec, dataset: Dataset, study: Study) -> str:
    """Return the hash that identifies a plan."""
    document: dict[str, object] = {
        "dataset": dataset.root_sha256,
        "study": [study.name, study.version],
        "preset": spec.preset,
        # Left out so that plans from before there were controls keep their hash.
        "params": {k: v for k, v in spec.params.items() if (k, v) != _NO_CONTROLS},
        "models": [_work_of(model) for model in spec.models],
        "seed": spec.seed,
        "repeats": spec.repeats,
        "limit": spec.limit,
    }
    if spec.helpers:
        document["helpers"] = [_work_of(model) for model in spec.helpers]
    return request_key(document)


def with_people(spec: RunSpec, dataset: Dataset, study: Study) -> RunSpec:
    """Return settings with the models that represent people of the data set."""
    if not isinstance(study, HasPeople):
        return spec
    params = study.read_params(spec.preset, dict(spec.params))
    known = {model.name for model in spec.models}
    more = (one for one in study.people(dataset, params) if one.name not in known)
    return replace(spec, models=(*spec.models, *more))


def _work_of(model: ModelProfile) -> list[object]:
    settings = {k: v for k, v in model.settings.items() if k not in _NOT_WORK}
    return [model.name, model.adapter, settings]


def _check_models(store: Store, spec: RunSpec, dataset: Dataset) -> None:
    """Raise if a model cannot be asked, before anything is kept."""
    examples = examples_dataset(store, spec)
    gate = open_gate(store, dataset, examples)
    images = (*dataset.images, *(examples.images if examples else ()))
    for model in (*spec.models, *spec.helpers):
        gate.check_model(model, images)
        adapter_for(model, gate.allowance(model))
    if spec.ceiling_microusd is not None:
        check_prices((*spec.models, *spec.helpers))


def plan_run(
    store: Store, spec: RunSpec, *, new: bool = False, fresh: bool = False
) -> int:
    """Return the run of this plan, planned now unless the store holds it already.

    ``new`` always plans another one, and ``fresh`` one that reuses no stored reply,
    unless such a run is unfinished. A ceiling replaces the run's earlier one. A plan
    without trials raises.
    """
    run = _planned(store, spec, new=new, fresh=fresh)
    if spec.ceiling_microusd is not None:
        set_ceiling(store, run, spec.ceiling_microusd)
    return run


def _known(store: Store, sha256: str, *, new: bool, fresh: bool) -> int | None:
    """Return the run of a plan to continue, None if another is to be made."""
    if fresh:
        return runs.fresh_run_with_plan(store, sha256)
    return None if new else runs.run_with_plan(store, sha256)


def _planned(store: Store, spec: RunSpec, *, new: bool, fresh: bool) -> int:
    dataset = datasets.dataset_named(store, spec.dataset)
    study = study_named(spec.study)
    spec = with_people(spec, dataset, study)
    _check_models(store, spec, dataset)
    sha256 = plan_sha256(spec, dataset, study)
    known = _known(store, sha256, new=new, fresh=fresh)
    if known is not None:
        return known
    trials = planned_trials(study, dataset, spec)
    if not trials:
        raise WrongUseError(
            f"The data set '{dataset.name}' has nothing that this study can ask about.",
            "Choose other findings or views, or a data set with reference masks.",
        )
    RunContext(spec, dataset).check_gold(trials)
    validation = examples_dataset(store, spec)
    if validation is not None:
        check_examples(spec, validation, dataset, trials)
    run = runs.create_run(
        store,
        spec,
        cases.add_dataset(store, dataset),
        trials,
        study_version=study.version,
        scorer_version=study.scorer_version,
        plan_sha256=sha256,
        once=not (new or fresh),
        fresh=fresh,
    )
    note_excluded(store, run, trials)
    note_unknown_images(store, run, spec, dataset)
    return run
