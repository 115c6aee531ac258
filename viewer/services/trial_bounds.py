"""The most that one trial of a run can cost, before anything of it is asked."""

from dataclasses import replace
from typing import Final

from viewer.domain.case import Dataset
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import RunSpec
from viewer.models.prices import most_tokens, price_of
from viewer.services.placed_answer import asking_of
from viewer.studies.asking import Longest
from viewer.studies.catalog import study_named
from viewer.studies.places import prompt_for_places

FILLED_IN: Final = 768
"""More bytes than view, finding and schema add to a prompt."""


def longest_of_trial(
    spec: RunSpec, dataset: Dataset, profile: ModelProfile
) -> tuple[Longest, ...]:
    """Return the longest question of each step that a trial of a model may take."""
    study = study_named(spec.study)
    longest = study.longest(dataset, study.read_params(spec.preset, dict(spec.params)))
    asking = asking_of(profile) if study.words.places else ""
    if not asking:
        return longest
    return tuple(replace(one, text=prompt_for_places(asking)[1]) for one in longest)


def most_of_trial(spec: RunSpec, dataset: Dataset, profile: ModelProfile) -> int:
    """Return the most micro-dollars that a trial of a model can cost."""
    asked = longest_of_trial(spec, dataset, profile)
    return sum(_most_of(who_answers(spec, profile, one.role), one) for one in asked)


def who_answers(spec: RunSpec, profile: ModelProfile, role: str) -> ModelProfile:
    """Return the model that answers in a role, the trial's own in none."""
    study = study_named(spec.study)
    if not role:
        return profile
    name = study.roles(study.read_params(spec.preset, dict(spec.params)))[role]
    known = {one.name: one for one in (*spec.models, *spec.helpers)}
    return known[name]


def _most_of(profile: ModelProfile, longest: Longest) -> int:
    price = price_of(profile)
    if price is None:
        return 0
    tokens = most_tokens(
        profile, [longest.text], list(longest.images), longest.messages, FILLED_IN
    )
    return price.of(tokens) or 0
