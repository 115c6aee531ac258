"""Estimate a batch's questions, cost and time before anything is sent."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Final, TypeGuard

from viewer.domain.case import Dataset
from viewer.domain.controls import CONTROL_WORDS
from viewer.domain.counting import counted
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import RunSpec, Trial
from viewer.models.batching import is_batched
from viewer.models.catalog import spec_of as adapter_spec_of
from viewer.models.paper_presets import samples
from viewer.models.prices import is_priced, is_unpriced, most_tokens, price_of
from viewer.services.configuring.money import DOLLAR, dollars
from viewer.services.configuring.study_file import advised_repeats
from viewer.services.running.batch_form import OWN, BatchForm, spec_of
from viewer.services.running.plan_run import plan_sha256, with_people
from viewer.services.running.prompt_versions import split_notice
from viewer.services.running.supported_findings import (
    exclusion_notes,
    missing_findings,
    planned_trials,
)
from viewer.services.sessions import datasets
from viewer.services.trials.grades import grades_of
from viewer.services.trials.placed_answer import asking_of
from viewer.settings import Settings
from viewer.store import runs, usage
from viewer.store.database import Store, open_store
from viewer.studies.catalog import study_named
from viewer.studies.exclusions import reason_words
from viewer.studies.places import prompt_for_places
from viewer.studies.prompts import varied
from viewer.studies.steps import Longest
from viewer.studies.study import Study

_OVERHEAD_S: Final = 0.04
"""What a trial takes beside its model: reading, drawing, keeping."""
_FREE: Final = "None of these models has a price."


@dataclass(frozen=True)
class BatchEstimate:
    """What a batch will ask.

    ``requests`` is the total number of questions, ``already_answered`` those settled by
    an earlier run of the same plan. ``cost_microusd`` and ``seconds`` are estimates for
    the rest from the mean of each model's earlier replies, None if one has none yet or
    a price is unknown. ``most_microusd`` is an upper bound for the models with a price.
    ``sends`` is True if a server is asked, not only this program.
    """

    requests: int
    already_answered: int
    models: int
    cost_microusd: int | None
    most_microusd: int
    seconds: float | None
    sends: bool
    sentence: str


def estimate(
    store: Path, form: BatchForm, settings: Settings, concurrency: int = 4
) -> BatchEstimate:
    """Return the number, cost and duration of a batch's questions; nothing is asked.

    ``concurrency`` is the number of questions in flight.
    """
    spec = spec_of(form, settings)
    study = study_named(spec.study)
    with open_store(store) as opened:
        dataset = datasets.dataset_named(opened, spec.dataset)
        spec = with_people(spec, dataset, study) if spec.models else spec
        planned = planned_trials(study, dataset, spec) if spec.models else ()
        asked = [trial for trial in planned if not trial.exclusion]
        done = _settled(opened, plan_sha256(spec, dataset, study))
        looks = split_notice(opened, spec, dataset) if spec.models else ""
        left = len(asked) - done
        cost = _cost(opened, spec, left)
        seconds = _seconds(opened, spec, dataset, left, concurrency)
    most = _most(spec, dataset, left)
    takes = _takes(spec, cost, seconds) if left else ""
    sentences = (
        _trials(planned, asked, spec),
        missing_findings(spec, dataset) if planned else "",
        *(f"{note.model} {note.text}." for note in exclusion_notes(planned)),
        _answered_already(done),
        takes,
        _at_most(spec, most),
        *notices_of(spec, dataset),
        _own_prompts(spec),
        _controls(spec),
        _repeated(spec),
        looks,
    )
    return BatchEstimate(
        requests=len(asked),
        already_answered=done,
        models=len(spec.models),
        cost_microusd=cost,
        most_microusd=most,
        seconds=seconds,
        sends=any(
            adapter_spec_of(profile).remote for profile in (*spec.models, *spec.helpers)
        ),
        sentence=" ".join(sentence for sentence in sentences if sentence),
    )


def notices_of(spec: RunSpec, dataset: Dataset) -> tuple[str, ...]:
    """Return what a study says of its settings before anything is asked.

    How readers grade outputs is not said where they have graded some of the run's.
    """
    study = study_named(spec.study)
    if study.words.graded and _is_graded(study, spec, dataset):
        return ()
    return study.notices(study.read_params(spec.preset, dict(spec.params)))


def _is_graded(study: Study, spec: RunSpec, dataset: Dataset) -> bool:
    graded = {(one.model, one.item) for one in grades_of(dataset).grades}
    planned = planned_trials(study, dataset, spec) if graded and spec.models else ()
    return any((trial.model, trial.item) in graded for trial in planned)


def _own_prompts(spec: RunSpec) -> str:
    """Name the prompts that this run replaces or varies; "" for none."""
    prompts, variants = (spec.params.get(name) for name in OWN)
    told = (
        f"Custom prompts are used for {', '.join(prompts)}." if _any(prompts) else "",
        f"Each item is also asked with the prompt {_variants(variants)}."
        if _any(variants)
        else "",
    )
    return " ".join(filter(None, told))


def _controls(spec: RunSpec) -> str:
    """Name the controls that each item is also asked under; "" for none."""
    named = spec.params.get("controls")
    words = [CONTROL_WORDS[one] for one in named] if isinstance(named, list) else []
    details = "; ".join(words)
    return f"Each item is also asked under controls: {details}." if words else ""


def _any(own: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(own, Mapping) and bool(own)


def _variants(names: Collection[str]) -> str:
    return f"{'variant' if len(names) == 1 else 'variants'} {', '.join(names)}"


def _repeated(spec: RunSpec) -> str:
    """Recommend more repeats for models that sample their answers (E000-14)."""
    wanted = advised_repeats(spec.study, spec.preset, spec.models)
    if spec.repeats >= wanted:
        return ""
    drawing = " and ".join(model.name for model in spec.models if samples(model))
    return f"Repeat {wanted} times: answers of {drawing} are sampled and vary."


def _settled(store: Store, sha256: str) -> int:
    """Return how many questions a run of this plan has already answered."""
    run = runs.run_with_plan(store, sha256)
    if run is None:
        return 0
    counts = runs.run_summary(store, run).counts
    return sum(n for s, n in counts.items() if s not in {"pending", "excluded"})


def _cost(store: Store, spec: RunSpec, left: int) -> int | None:
    """Return the cost of the remaining questions in micro-dollars, None if unknown."""
    if any(map(is_unpriced, (*spec.models, *spec.helpers))):
        return None
    # Exact: money is whole micro-dollars, and is rounded once at the end.
    total = Fraction(0)
    for profile in spec.models:
        if not any(map(is_priced, (profile, *spec.helpers))):
            continue
        mean = usage.mean_cost(store, profile.name)
        if mean is None:
            return None
        total += Fraction(mean) * Fraction(left, len(spec.models))
    return round(total)


def _most(spec: RunSpec, dataset: Dataset, left: int) -> int:
    """Return the maximum cost of the remaining trials in micro-dollars."""
    each = sum(most_of_trial(spec, dataset, profile) for profile in spec.models)
    return math.ceil(Fraction(each * left, max(1, len(spec.models))))


def _at_most(spec: RunSpec, most: int) -> str:
    """Return the upper bound of the cost, and the date of its prices."""
    if most == 0:
        return ""
    asked = (*spec.models, *spec.helpers)
    prices = [price_of(profile) for profile in asked]
    dates = sorted({price.date for price in prices if price and price.date})
    listed = f", by list prices of {', '.join(dates)}" if dates else ""
    others = " for the other models" if any(map(is_unpriced, asked)) else ""
    return f"At most {dollars(most)}{others}{listed}."


def _seconds(
    store: Store, spec: RunSpec, dataset: Dataset, left: int, concurrency: int
) -> float | None:
    """Return the duration of the remaining trials, None if unknown."""
    total = 0.0
    for profile in spec.models:
        mean_ms = usage.mean_latency(store, profile.name)
        if mean_ms is None or is_batched(profile):
            return None
        each = mean_ms / 1000 / concurrency + _OVERHEAD_S
        questions = len(longest_of_trial(spec, dataset, profile))
        total += each * questions * left / len(spec.models)
    return total


def _trials(planned: Sequence[Trial], asked: Sequence[Trial], spec: RunSpec) -> str:
    items = len({trial.item for trial in asked})
    if spec.models and not asked:
        return _nothing(planned)
    excluded = len(planned) - len(asked)
    names = ", ".join(profile.name for profile in spec.models) or "no model yet"
    text = (
        f"{counted(len(asked), 'trial')} of {counted(items, 'item')}"
        f"{_with_what(spec)}, to {counted(len(spec.models), 'model')}: {names}."
    )
    more = "trial is" if excluded == 1 else "trials are"
    lost = f" {excluded} more {more} planned as excluded." if excluded else ""
    return text + lost


def _with_what(spec: RunSpec) -> str:
    """Return what is sent with each question, and which other models are asked."""
    if study_named(spec.study).words.places:
        return _with_image(spec)
    besides = " and ".join(helper.name for helper in spec.helpers)
    return f", whose replies are passed on to {besides}" if besides else ""


def _with_image(spec: RunSpec) -> str:
    """Return which models are sent the image with its grid."""
    every = bool(spec.params.get("grid_for_coordinates"))
    plain = [one.name for one in spec.models if not every and asking_of(one)]
    if not plain:
        return ", each with one gridded image"
    if len(plain) == len(spec.models):
        return ", each with one image without a grid"
    return f", each with one image, which has no grid for {' and '.join(plain)}"


def _nothing(planned: Sequence[Trial]) -> str:
    """Return why a plan with at least one trial asks nothing."""
    reasons = Counter(trial.exclusion for trial in planned)
    why = " ".join(filter(None, map(reason_words, reasons)))
    lost = "the one trial is" if len(planned) == 1 else f"all {len(planned)} trials are"
    return f"There is nothing to ask: {lost} excluded. {why}".rstrip()


def _answered_already(done: int) -> str:
    return (
        f"{done} of them are already answered and are not asked again." if done else ""
    )


def _takes(spec: RunSpec, cost: int | None, seconds: float | None) -> str:
    """Return cost and duration of the remaining questions, as far as known."""
    asked = (*spec.models, *spec.helpers)
    has_price = any(map(is_priced, asked))
    known = [f"${cost / DOLLAR:.2f}"] if has_price and cost is not None else []
    known += [duration(seconds)] if seconds is not None else []
    unpriced = [model.name for model in asked if is_unpriced(model)]
    missing = ["cost"] if has_price and cost is None and not unpriced else []
    in_batches = [model.name for model in asked if is_batched(model)]
    missing += ["time"] if seconds is None and not in_batches else []
    sentences = (
        _no_price(unpriced) if unpriced else "" if has_price else _FREE,
        f"About {' and '.join(known)}, judging by earlier replies." if known else "",
        _not_known(missing),
        _within_a_day(in_batches),
    )
    return " ".join(sentence for sentence in sentences if sentence)


def _no_price(models: Sequence[str]) -> str:
    names = " and ".join(models)
    return (
        f"The cost of {names} is not known: add price_in and price_out, in dollars per "
        "million tokens, to the model."
    )


def _not_known(missing: Sequence[str]) -> str:
    if not missing:
        return ""
    verb = "are" if len(missing) > 1 else "is"
    what = " and ".join(missing).capitalize()
    return f"{what} {verb} not known until the first answers."


def _within_a_day(models: Sequence[str]) -> str:
    """Say which models answer in batches of their providers; "" for none."""
    names = " and ".join(models)
    return f"Answers of {names} come as a batch, within a day." if names else ""


def duration(seconds: float) -> str:
    """Return a time such as ``14 minutes``, as coarse as an estimate is."""
    for unit, size, least in (("hour", 3600.0, 5400.0), ("minute", 60.0, 45.0)):
        if seconds >= least:
            return counted(max(1, round(seconds / size)), unit)
    return counted(max(1, round(seconds)), "second")


FILLED_IN: Final = 768
"""More bytes than view, finding and schema add to a prompt."""


def longest_of_trial(
    spec: RunSpec, dataset: Dataset, profile: ModelProfile
) -> tuple[Longest, ...]:
    """Return the longest question of each step of a model's trials."""
    study = study_named(spec.study)
    every = varied(study.read_params(spec.preset, dict(spec.params))).values()
    longest = max((study.longest(dataset, one) for one in every), key=_words)
    asking = asking_of(profile) if study.words.places else ""
    if not asking:
        return longest
    text = prompt_for_places(asking)[1]
    # an example comes with its question, and with an answer that is hardly longer
    return tuple(replace(one, text=text * (2 * len(one.images) - 1)) for one in longest)


def _words(longest: Sequence[Longest]) -> int:
    return sum(len(one.text) for one in longest)


def most_of_trial(spec: RunSpec, dataset: Dataset, profile: ModelProfile) -> int:
    """Return the maximum cost of a model's trial in micro-dollars."""
    asked = longest_of_trial(spec, dataset, profile)
    return sum(_most_of(who_answers(spec, profile, one.role), one) for one in asked)


def who_answers(spec: RunSpec, profile: ModelProfile, role: str) -> ModelProfile:
    """Return the model in a role, or the trial's own without one."""
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
