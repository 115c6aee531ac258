"""Which models have their own policy, by names that apply to any run (E001-07)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.plain import did_you_mean
from viewer.domain.report import Section, Table
from viewer.domain.run import RunSpec
from viewer.studies.naming_models import called
from viewer.studies.rubric_reading.params import Params, names_of, read_params
from viewer.studies.rubric_reading.policy import InputPolicy

_SHOWN: Final[Mapping[InputPolicy, str]] = {
    InputPolicy.ALL_VIEWS: "all views",
    InputPolicy.SINGLE_VIEW: "one PA, else AP",
}
_PINNED_BEFORE: Final = ("medgemma",)
"""What the presets named besides when study files of theirs were first written."""
_NOT_ASKED: Final = "not in this run"


def settled(
    params: Params,
    preset: str,
    models: Sequence[ModelProfile],
    known: Mapping[str, ModelProfile],
) -> Params:
    """Return the parameters with model names as in the run's profiles.

    A name that the run lacks stays if the preset or another profile has it.
    """
    pinned = read_params(preset, {})
    names = _Names(models, (*models, *known.values()))
    single, boxes = "single_view_models", "no_box_models"
    return replace(
        params,
        single_view_models=names.settled(single, params, pinned),
        no_box_models=names.settled(boxes, params, pinned),
    )


@dataclass(frozen=True)
class _Names:
    """The models of a run, and all known models."""

    models: Sequence[ModelProfile]
    everybody: Sequence[ModelProfile]

    def settled(self, field: str, params: Params, pinned: Params) -> str:
        """Return the names in a field as in the run's profiles."""
        allowed = (*names_of(getattr(pinned, field)), *_PINNED_BEFORE)
        found: dict[str, None] = {}
        for name in names_of(getattr(params, field)):
            if name not in allowed and not any(called(m, name) for m in self.everybody):
                raise _nobody(field, name, self.models)
            own = [model.name for model in self.models if called(model, name)]
            found |= dict.fromkeys(own or [name])
        return ", ".join(found)


def policies(spec: RunSpec, params: Params) -> Section:
    """Return what each model is shown and asked, and named models that are missing."""
    rows = (*_asked(spec, params), *_absent(spec, params))
    table = Table("model_policies", ("Model", "Images", "Boxes"), tuple(rows))
    return Section(
        "What each model was shown and asked for",
        "What each model was shown and whether it was asked for boxes, as the settings "
        "for models of one view and without boxes say; inputs.csv has every task.",
        table,
    )


def _asked(spec: RunSpec, params: Params) -> Iterator[tuple[str, str, str]]:
    for model in spec.models:
        boxes = "asked for" if params.asks_boxes_of(model.name) else "not asked for"
        yield model.name, _SHOWN[params.policy_for(model.name)], boxes


def _absent(spec: RunSpec, params: Params) -> Iterator[tuple[str, str, str]]:
    """Yield a row for each model that a setting names but the run did not ask."""
    there = {model.name.casefold() for model in spec.models}
    named = (*names_of(params.single_view_models), *names_of(params.no_box_models))
    for name in dict.fromkeys(named):
        if name not in there:
            yield name, _NOT_ASKED, _NOT_ASKED


def _nobody(field: str, name: str, models: Sequence[ModelProfile]) -> WrongUseError:
    names = [model.name for model in models]
    return WrongUseError(
        f"The parameter {field} names '{name}', but there is no such model.",
        f"{did_you_mean(name, names)}This run asks {', '.join(names)}.",
    )
