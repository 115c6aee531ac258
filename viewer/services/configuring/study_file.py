"""Reading of study files: what to run, on what, with which models."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.plain import NotNegative, Positive, did_you_mean, made, plain
from viewer.domain.run import RunSpec
from viewer.domain.secret_values import secret_place
from viewer.models.catalog import builtin_profiles, profile_from_table
from viewer.models.keys import known_keys
from viewer.models.paper_presets import samples
from viewer.services.configuring.money import DOLLAR
from viewer.services.configuring.own_prompts import (
    check_variants,
    prompts_of,
    read_prompts,
)
from viewer.services.configuring.toml_files import read_toml
from viewer.settings import read_policy
from viewer.studies.catalog import study_named
from viewer.studies.naming_models import NamesModels
from viewer.studies.study import Study


@dataclass(frozen=True)
class _StudyFile:
    """The contents of a study file; ``model`` are its ``[[model]]`` tables."""

    study: str
    dataset: str
    preset: str | None = None
    seed: NotNegative = 0
    repeats: Positive | None = None
    models: tuple[str, ...] = ()
    params: Mapping[str, object] = field(default_factory=dict)
    prompts: Mapping[str, object] = field(default_factory=dict)
    limit: Positive | None = None
    ceiling: float | None = None
    model: object = ()


_LARGEST_CEILING: Final = 10**15
REPLICATES: Final = 5
"""How often a model that draws its answers should be asked each question."""


def read_study_file(
    path: Path,
    models_file: Path,
    *,
    models: Sequence[str] = (),
    limit: int | None = None,
    ceiling: float | None = None,
) -> RunSpec:
    """Return the run in a study file; ``models`` replaces its list of models.

    ``limit``, the number of items, and ``ceiling``, the maximum cost in dollars,
    override the file's values. Model names are looked up in the file, then in
    ``models_file``, then among the built-in ones.
    """
    table = read_toml(path)
    return study_spec(
        table, path, models_file, models=models, limit=limit, ceiling=ceiling
    )


def study_spec(
    table: Mapping[str, object],
    path: Path,
    models_file: Path,
    *,
    models: Sequence[str] = (),
    limit: int | None = None,
    ceiling: float | None = None,
) -> RunSpec:
    """Return the run in a study file's content, like :func:`read_study_file`.

    ``path`` is its location, for messages and for relative paths of models.
    """
    entries = made(_StudyFile, table, where=path.name)
    profiles = known_profiles(models_file) | own_profiles(table, path)
    names = tuple(models) or entries.models
    if not names:
        raise WrongUseError(
            f"'{path.name}' names no model.",
            'Add for example models = ["asymmetry"], or use --model.',
        )
    chosen = [named_profile(name, profiles) for name in names]
    preset = paper_preset(entries.study) if entries.preset is None else entries.preset
    most = entries.ceiling if ceiling is None else ceiling
    return make_spec(
        study=entries.study,
        dataset=entries.dataset,
        preset=preset,
        seed=entries.seed,
        repeats=entries.repeats or advised_repeats(entries.study, preset, chosen),
        models=chosen,
        overrides=_overrides(entries, path),
        limit=entries.limit if limit is None else limit,
        ceiling_microusd=None if most is None else microusd(most),
        known=profiles,
    )


def _overrides(entries: _StudyFile, path: Path) -> dict[str, object]:
    """Return a file's parameters, including custom prompts."""
    if not entries.prompts:
        return dict(entries.params)
    prompts_of(entries.study)
    return {**entries.params, **read_prompts(entries.prompts, path)}


def paper_preset(study: str) -> str:
    """Return the preset with which a study reproduces its paper."""
    return study_named(study).defaults.preset


def advised_repeats(study: str, preset: str, models: Sequence[ModelProfile]) -> int:
    """Return how often to ask: once as in the paper, or more if a model samples.

    Repeats of a model that samples have the seeds 0, 1, 2 and so on (E000-14).
    """
    as_published = preset == paper_preset(study)
    return REPLICATES if not as_published and any(map(samples, models)) else 1


def make_spec(
    *,
    study: str,
    dataset: str,
    preset: str,
    seed: int,
    repeats: int,
    models: Sequence[ModelProfile],
    overrides: Mapping[str, object],
    limit: int | None = None,
    ceiling_microusd: int | None = None,
    known: Mapping[str, ModelProfile] | None = None,
) -> RunSpec:
    """Return a run with every parameter filled in and validated by its study.

    Models named in its parameters, for a role or otherwise, are looked up in ``known``.
    """
    names = [model.name for model in models]
    if len(set(names)) != len(names):
        raise WrongUseError(
            f"A model is named twice: {', '.join(names)}.",
            "Name each once; use repeats to ask a model again.",
        )
    _check_no_key({"dataset": dataset, "params": overrides})
    chosen = study_named(study)
    params = chosen.read_params(preset, dict(overrides))
    check_variants(chosen, params)
    if isinstance(chosen, NamesModels):
        params = chosen.settled(params, preset, models, known or {})
    return RunSpec(
        study=study,
        dataset=dataset,
        preset=preset,
        seed=seed,
        repeats=repeats,
        models=tuple(models),
        params=plain(params),
        limit=limit,
        ceiling_microusd=ceiling_microusd,
        helpers=_helpers(chosen, params, known or {}),
    )


def _check_no_key(settings: Mapping[str, object]) -> None:
    place = secret_place(settings, known_keys())
    if place:
        raise WrongUseError(
            f"The setting {place} of the run looks like a key, but keys must not be "
            "stored in a file.",
            "Remove it; a model's api_key_env names the variable that holds its key.",
        )


def _helpers(
    study: Study,
    params: Any,  # noqa: ANN401 - the study's own type
    known: Mapping[str, ModelProfile],
) -> tuple[ModelProfile, ...]:
    """Return the models that have a role in a study, without duplicates."""
    roles = study.roles(params)
    for role, name in roles.items():
        if not name:
            raise WrongUseError(
                f"{study.title} needs a model as {role}, but its parameters name none.",
                f'Add for example {role} = "my-model" to its parameters.',
            )
    return tuple(named_profile(name, known) for name in dict.fromkeys(roles.values()))


def microusd(dollars: float) -> int:
    """Convert dollars to whole micro-dollars; raises for less than one."""
    amount = round(Decimal(str(dollars)) * DOLLAR) if math.isfinite(dollars) else 0
    if not 0 < amount <= _LARGEST_CEILING:
        raise WrongUseError(
            f"A ceiling of {dollars:g} dollars is not possible.",
            "Give the most that the run may cost in dollars, such as 5.00.",
        )
    return amount


def known_profiles(models_file: Path) -> dict[str, ModelProfile]:
    """Return the built-in profiles and the user's by name."""
    profiles = {profile.name: profile for profile in builtin_profiles()}
    if models_file.exists():
        profiles |= own_profiles(read_toml(models_file), models_file)
    return profiles


def profiles_for(models_file: Path, study_file: Path | None) -> dict[str, ModelProfile]:
    """Return the known profiles, with those of a study file first."""
    known = known_profiles(models_file)
    if study_file is None:
        return known
    return known | own_profiles(read_toml(study_file), study_file)


def own_profiles(table: Mapping[str, object], path: Path) -> dict[str, ModelProfile]:
    """Return the profiles of a file's ``[[model]]`` tables.

    Raises WrongUseError for those of another file than the one that an administrator
    chose.
    """
    if table.get("model") and path != (policy := read_policy()).models_file:
        policy.check_models_may_change()
    found = (
        profile_from_table(model, path.absolute().parent)
        for model in _tables(table.get("model", []), path.name)
    )
    return {profile.name: profile for profile in found}


def named_profile(name: str, profiles: Mapping[str, ModelProfile]) -> ModelProfile:
    """Return a profile by name; an unknown name raises with the closest one."""
    if name in profiles:
        return profiles[name]
    raise WrongUseError(
        f"No model is named '{name}'.",
        f"{did_you_mean(name, profiles)}Known: {', '.join(sorted(profiles))}.",
    )


def _tables(value: object, file: str) -> list[Mapping[str, object]]:
    if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
        raise WrongUseError(
            f"'model' in {file} must be a list of [[model]] tables.", "Correct it."
        )
    return value
