"""The data of the page Batch…: a form, its estimate, and study files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

from viewer.domain.box_reference import ANY, MAJORITY
from viewer.domain.errors import OverreadError
from viewer.domain.exchange import ModelProfile
from viewer.domain.finding_names import own_word
from viewer.domain.plain import plain
from viewer.domain.run import RunSpec
from viewer.services.configuring.form_field import FormField
from viewer.services.configuring.model_list import model_lines
from viewer.services.configuring.own_prompts import prompts_table
from viewer.services.configuring.prompt_drafts import PromptDrafts, drafts_of
from viewer.services.configuring.study_file import (
    known_profiles,
    make_spec,
    named_profile,
    own_profiles,
    read_study_file,
)
from viewer.services.configuring.toml_files import read_toml
from viewer.settings import Settings
from viewer.store import cases
from viewer.store.database import open_store
from viewer.store.folders import findings_of_dataset, findings_told_of
from viewer.store.reference_boxes import readers_of_dataset
from viewer.studies.catalog import (
    broken_studies,
    known_findings,
    places_findings,
    study_named,
    titles,
)
from viewer.studies.fields import (
    Decimal,
    MaybeText,
    ModelName,
    Names,
    OneOf,
    Switch,
    Text,
    Whole,
)
from viewer.studies.prompts import HasPrompts
from viewer.writers.files import write_atomically
from viewer.writers.toml import toml_bytes

_DOLLAR: Final = 1_000_000
_FINDINGS: Final = "findings"
_LACKING: Final = (
    "The data set has no reference and no label of it, so nothing is asked about it."
)
_STUDY_FILE: Final = "study.toml"
_RULE: Final = "reader_rule"
OWN: Final = ("prompts", "prompt_variants")
"""The parameters with the user's own prompts, for which a form has no field."""
_FIRST_CHOICE: Final = "asymmetry"
_PRICES: Final = ("price_in", "price_out")


@dataclass(frozen=True)
class BatchForm:
    """The user's choices. ``params`` are the study's, only those that differ or all.

    ``profiles`` are models that the study file itself brings, as ``[[model]]`` tables.
    ``ceiling_microusd`` is the most the run may cost, None for no ceiling, and
    ``limit`` how many items are asked about, None for all.
    """

    study: str
    dataset: str
    preset: str
    models: tuple[str, ...]
    seed: int
    repeats: int
    params: Mapping[str, object] = field(default_factory=dict)
    profiles: tuple[ModelProfile, ...] = ()
    ceiling_microusd: int | None = None
    limit: int | None = None


@dataclass(frozen=True)
class ModelState:
    """A model as shown in lists; ``state`` says what it still needs, else ``ready``.

    ``host`` is the remote machine, "" if images stay on this one. ``places`` is True if
    it always answers with a location.
    """

    name: str
    summary: str
    state: str
    ready: bool
    host: str = ""
    places: bool = False


def study_titles() -> Mapping[str, str]:
    """Return the title of each study, by the name in files."""
    return titles()


def unusable_studies() -> Mapping[str, str]:
    """Return why studies of other packages cannot be used, by their names."""
    return {one.name: one.why for one in broken_studies()}


def study_title(name: str) -> str:
    """Return the title of a study; an unknown one keeps its name."""
    return titles().get(name, name)


def drafts_for(study: str, params: Mapping[str, object]) -> PromptDrafts | None:
    """Return a study's prompts with what is custom; None if none can be replaced."""
    found = study_named(study)
    if not isinstance(found, HasPrompts):
        return None
    return drafts_of(found.known_prompts, params)


def takes_variants(study: str) -> bool:
    """Tell whether a run of a study can ask with variants of its prompts."""
    return not study_named(study).words.graded


def preset_titles(study: str) -> Mapping[str, str]:
    """Return the titles of a study's presets, by the name in files."""
    chosen = study_named(study)
    return {name: chosen.preset_title(name) for name in chosen.presets()}


def ablation_preset(study: str) -> str:
    """Return the preset that varies how images are drawn, "" if a study has none."""
    chosen = study_named(study)
    varying = (
        name
        for name in chosen.presets()
        if getattr(chosen.read_params(name, {}), "ablation", ())
    )
    return next(varying, "")


def finding_names() -> tuple[str, ...]:
    """Return the findings that a question about any image may be about."""
    return known_findings()


def dataset_names(store: Path) -> tuple[str, ...]:
    """Return the registered data sets, the newest first."""
    with open_store(store) as opened:
        return tuple(d.name for d in cases.dataset_summaries(opened))[::-1]


def reader_names(store: Path, dataset: str) -> tuple[str, ...]:
    """Return the readers of a data set's reference boxes; none if it is unknown."""
    with open_store(store) as opened:
        return readers_of_dataset(opened, dataset)


@dataclass(frozen=True)
class ReferenceNames:
    """What the reference of a data set names: its readers, and the findings shown.

    ``told_of`` are the findings that it has references or labels of.
    """

    readers: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    told_of: tuple[str, ...] = ()

    def lacking(self, fields: Iterable[FormField]) -> Mapping[str, str]:
        """Return the findings on offer that nothing is asked about, each with why."""
        offered = next((f.choices for f in fields if f.name == _FINDINGS), ())
        told = self.told_of
        return {f: _LACKING for f in offered if told and not own_word(f, told)}

    def readers_beside(self, params: Mapping[str, object]) -> tuple[str, ...]:
        """Return the readers, and the chosen one if it is not among them."""
        named = [str(params[_RULE])] if _RULE in params else []
        return tuple(dict.fromkeys((*self.readers, *named)))

    def suggested(self, fields: Iterable[FormField]) -> Mapping[str, object]:
        """Return the data set's own findings if it has none of those preset."""
        asked = next((f.default for f in fields if f.name == _FINDINGS), ())
        names = asked if isinstance(asked, tuple) else ()
        known = any(own_word(str(name), self.findings) for name in names)
        suits = known or not names or not self.findings
        return {} if suits else {_FINDINGS: self.findings}

    def fills_alike(self, other: "ReferenceNames", fields: Sequence[FormField]) -> bool:
        """Tell whether two data sets make the same form of these fields."""
        suggested = self.suggested(fields) == other.suggested(fields)
        lacking = self.lacking(fields) == other.lacking(fields)
        return suggested and lacking and self.added == other.added

    @property
    def added(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The choices that a form has for this data set only."""
        known = finding_names()
        return self.readers, tuple(f for f in self.findings if not own_word(f, known))

    def without_suggested(self, params: Mapping[str, object]) -> Mapping[str, object]:
        """Return parameters without findings that were this data set's own ones."""
        asked = params.get(_FINDINGS)
        own = isinstance(asked, list | tuple) and {*asked} == {*self.findings}
        return {n: v for n, v in params.items() if not (own and n == _FINDINGS)}


def reference_names(store: Path, dataset: str) -> ReferenceNames:
    """Return what a data set's reference names; nothing if it is unknown."""
    with open_store(store) as opened:
        readers = readers_of_dataset(opened, dataset)
        return ReferenceNames(
            readers,
            findings_of_dataset(opened, dataset),
            findings_told_of(opened, dataset),
        )


def model_states(settings: Settings) -> tuple[ModelState, ...]:
    """Return every model that can be asked alone, with its state, by name."""
    return tuple(
        ModelState(
            line.name, line.summary, line.state, line.can_ask, line.host, line.places
        )
        for line in model_lines(settings)
        if not line.takes_boxes
    )


def role_names(settings: Settings) -> tuple[str, ...]:
    """Return the models that may have a role: all known ones, including segmenters."""
    return tuple(line.name for line in model_lines(settings))


def answering(study: str, states: Sequence[ModelState]) -> tuple[ModelState, ...]:
    """Return the models that can answer a study: those that write, or all."""
    if study in titles() and not places_findings(study):
        return tuple(state for state in states if not state.places)
    return tuple(states)


def first_choice(states: Sequence[ModelState]) -> tuple[str, ...]:
    """Return the model that a new form selects: a ready one that needs no training."""
    ready = [state.name for state in states if state.ready]
    return (_FIRST_CHOICE,) if _FIRST_CHOICE in ready else tuple(ready[:1])


def form_fields(
    study: str,
    preset: str,
    readers: Sequence[str] = (),
    models: Sequence[str] = (),
    findings: Sequence[str] = (),
) -> tuple[FormField, ...]:
    """Return a study's parameters as form fields, at a preset's values.

    ``readers`` are those of the data set, any of whom may be the reference;
    ``findings`` those that it has, ``models`` those that may have a role.
    """
    chosen = study_named(study)
    params = chosen.read_params(preset, {})
    values = plain(params)
    kinds = {f.name: f.metadata["kind"] for f in fields(params) if f.name not in OWN}
    made = (
        _in_words(
            _field(f.name, f.metadata["kind"], values[f.name], str(f.metadata["help"])),
            f.metadata["label"],
            f.metadata["words"],
        )
        for f in fields(params)
        if f.name in kinds
    )
    shown = (
        _of_models(f, models) if isinstance(kinds[f.name], ModelName) else f
        for f in made
    )
    shown = (_with_findings(f, findings) if f.name == _FINDINGS else f for f in shown)
    return tuple(of_readers(f, readers) if f.name == _RULE else f for f in shown)


def _with_findings(field: FormField, findings: Sequence[str]) -> FormField:
    """Return the field of findings, also with those that only the data set has."""
    own = (name for name in findings if not own_word(name, field.choices))
    return replace(field, choices=(*field.choices, *own))


def _of_models(field: FormField, models: Sequence[str]) -> FormField:
    """Return the field of a role: one of the models, or none; typed without any."""
    if not models:
        return field
    names = dict.fromkeys(("", str(field.default), *models))
    words = tuple(name or "none" for name in names)
    return replace(field, kind="choice", choices=tuple(names), words=words)


def _in_words(field: FormField, label: str, words: tuple[str, ...]) -> FormField:
    """Return a field with display names: identifiers lose their underscores."""
    if not label and "_" in field.name:
        label = field.name.replace("_", " ").capitalize()
    if not words and any("_" in choice for choice in field.choices):
        words = tuple(choice.replace("_", " ") for choice in field.choices)
    return replace(field, label=label, words=words)


def of_readers(field: FormField, readers: Sequence[str]) -> FormField:
    """Return the field of the rule of readers: two rules, or one reader's name."""
    names = dict.fromkeys((*readers, str(field.default)))
    rules = {ANY: "any reader's", MAJORITY: "at least half the readers'"}
    words = {**rules, **{n: f"{n}'s own" for n in names if n not in rules}}
    return replace(
        field, kind="choice", choices=tuple(words), words=tuple(words.values())
    )


def _field(name: str, kind: object, value: object, meaning: str) -> FormField:
    default = tuple(value) if isinstance(value, list) else value
    if isinstance(kind, Whole | Decimal):
        word = "int" if isinstance(kind, Whole) else "float"
        return FormField(name, word, default, meaning, (), kind.low, kind.high)
    if isinstance(kind, Switch):
        return FormField(name, "bool", default, meaning)
    if isinstance(kind, OneOf):
        choices = tuple(str(choice) for choice in kind.choices)
        return FormField(name, "choice", default, meaning, choices)
    if isinstance(kind, Text | MaybeText | ModelName):
        return FormField(name, "text", default, meaning)
    choices = kind.choices if isinstance(kind, Names) else ()
    known = finding_names() if name == _FINDINGS else ()
    return FormField(name, "choices", default, meaning, choices or known)


def spec_of(form: BatchForm, settings: Settings) -> RunSpec:
    """Return the run a form describes, checked; a sentence says what is wrong."""
    profiles = known_profiles(settings.models_file)
    profiles |= {profile.name: profile for profile in form.profiles}
    return make_spec(
        study=form.study,
        dataset=form.dataset,
        preset=form.preset,
        seed=form.seed,
        repeats=form.repeats,
        models=[named_profile(name, profiles) for name in form.models],
        overrides=form.params,
        limit=form.limit,
        ceiling_microusd=form.ceiling_microusd,
        known=profiles,
    )


def own_prompts_of(form: BatchForm) -> dict[str, object]:
    """Return the custom prompts among a form's parameters."""
    return {name: value for name, value in form.params.items() if name in OWN}


def read_study(path: Path, settings: Settings) -> BatchForm:
    """Return the form of a study file with every parameter filled in."""
    spec = read_study_file(path, settings.models_file)
    profiles = own_profiles(read_toml(path), path)
    return BatchForm(
        study=spec.study,
        dataset=spec.dataset,
        preset=spec.preset,
        models=tuple(profile.name for profile in spec.models),
        seed=spec.seed,
        repeats=spec.repeats,
        params=dict(spec.params),
        profiles=tuple(profiles.values()),
        ceiling_microusd=spec.ceiling_microusd,
        limit=spec.limit,
    )


def study_beside(dataset: str, settings: Settings) -> BatchForm | None:
    """Return the form of ``study.toml`` in a data set's folder.

    None if there is no such file, or if it is invalid or asks about another data set.
    """
    with open_store(settings.store) as store:
        roots = {one.name: one.root for one in cases.dataset_summaries(store)}
    path = Path(roots.get(dataset, "")) / _STUDY_FILE
    if dataset not in roots or not path.is_file():
        return None
    try:
        form = read_study(path, settings)
    except OverreadError:
        return None
    return form if form.dataset == dataset else None


def write_study(form: BatchForm, path: Path) -> None:
    """Write a form as a study file that ``overread run`` takes.

    Parameters equal to the preset's are left out, so that the file shows the
    differences; an invalid form raises and writes nothing.
    """
    table: dict[str, Any] = {
        "study": form.study,
        "dataset": form.dataset,
        "preset": form.preset,
        "seed": form.seed,
        "repeats": form.repeats,
        "models": list(form.models),
    }
    if form.ceiling_microusd is not None:
        table["ceiling"] = form.ceiling_microusd / _DOLLAR
    if form.limit is not None:
        table["limit"] = form.limit
    special = dict(_special(form))
    own, variants = (special.pop(name, {}) for name in OWN)
    if special:
        table["params"] = special
    if prompts := prompts_table(own, variants):
        table["prompts"] = prompts
    if form.profiles:
        table["model"] = [_model_table(profile) for profile in form.profiles]
    write_atomically(path, toml_bytes(table))


def _special(form: BatchForm) -> Iterator[tuple[str, object]]:
    study = study_named(form.study)
    preset = plain(study.read_params(form.preset, {}))
    chosen = study.read_params(form.preset, dict(form.params))
    for name, value in plain(chosen).items():
        if value != preset[name]:
            yield name, value


def _model_table(profile: ModelProfile) -> dict[str, object]:
    """Return a ``[[model]]`` table; prices are dollars there, micro-dollars here."""
    settings = {
        key: value / _DOLLAR if key in _PRICES and isinstance(value, int) else value
        for key, value in profile.settings.items()
    }
    return {"name": profile.name, "adapter": profile.adapter, **settings}
