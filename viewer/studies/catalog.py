"""The studies by name: ours, and those that other distributions bring."""

import functools
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Final, cast

from viewer.domain.errors import WrongUseError
from viewer.domain.plain import did_you_mean
from viewer.domain.plugins import (
    Broken,
    PluginError,
    Plugins,
    check_name,
    load_plugins,
)
from viewer.studies.benchmarks import Benchmark
from viewer.studies.packs import Pack
from viewer.studies.places import Places
from viewer.studies.study import Study

INTERFACE: Final = 1
"""The version of `viewer.studies.study` that a study of another package is built for.

Such a study says it as ``interface``; it changes when a study that worked would not.
"""
ENTRY_POINTS: Final = "viewer.studies"
OURS: Final[Mapping[str, str]] = {
    "grid_localization": "Grid localization",
    "rubric_reading": "Graded tasks",
    "grounded_vqa": "Grounded questions",
    "pathology_mcq": "Pathology questions",
    "evidence_diagnosis": "Multi-evidence diagnosis",
    "question_set": "Question set",
}
"""Our studies, each the name of its folder, and what people call it.

In the order of their papers, 000 to 004, then anybody's questions; the first is what a
new batch asks. A list of them reads none.
"""
PLACING: Final = "grid_localization"
"""The study that single questions in Read are asked with, and readers' tasks."""


def titles() -> Mapping[str, str]:
    """Return the title of each study by its name, without importing built-in ones."""
    others = {name: one.value.title for name, one in _others().working.items()}
    return {**OURS, **others}


def studies() -> Iterator[Study]:
    """Yield every study, ours first."""
    return map(study_named, titles())


def broken_studies() -> tuple[Broken, ...]:
    """Return the studies of other packages that cannot be used."""
    return _others().broken


def package_of(study: str) -> str:
    """Return the distribution that provides a study, "" for a built-in one."""
    found = _others().working.get(study)
    return found.package if found else ""


def study_named(name: str) -> Study:
    """Return a study; an unknown name raises WrongUseError with the known ones."""
    if name in OURS:
        return cast("Study", import_module(f"{__package__}.{name}.study").STUDY)
    if name in _others().working:
        return _others().working[name].value
    raise _unknown("study", "studies", name, titles())


def pack_named(name: str) -> Pack:
    """Return a pack; an unknown name raises WrongUseError with the known ones."""
    packs = {study.pack.name: study.pack for study in studies() if study.pack}
    if name not in packs:
        raise _unknown("pack", "packs", name, packs)
    return packs[name]


def benchmarks() -> Iterator[Benchmark]:
    """Yield what each paper prints, in the papers' order."""
    found = (study.benchmark() for study in studies())
    return (one for one in found if one is not None)


def known_findings() -> tuple[str, ...]:
    """Return the findings that can be asked about on any image.

    The study is not imported for it: a window starts with this list.
    """
    findings: tuple[str, ...] = import_module(f"{__package__}.{PLACING}.findings").KNOWN
    return findings


def places_of(study: str, preset: str, params: Mapping[str, object]) -> Places:
    """Return the geometry of a study's answers on images, for its settings.

    A study whose answers are not locations raises WrongUseError.
    """
    found = study_named(study)
    places = found.places(found.read_params(preset, dict(params)))
    if places is None:
        raise no_places(found)
    return places


def no_places(study: Study) -> WrongUseError:
    """Return the error for using locations of a study that has none."""
    return WrongUseError(
        f"{study.title} does not locate findings on images.",
        "Choose a run of a study that does.",
    )


def places_findings(study: str) -> bool:
    """Tell whether a study, by name, has locations on an image as answers."""
    return study_named(study).words.places


def _unknown(
    kind: str, kinds: str, name: str, known: Mapping[str, object]
) -> WrongUseError:
    broken = " overread doctor names those that cannot be used."
    return WrongUseError(
        f"There is no {kind} named '{name}'.",
        f"{did_you_mean(name, known)}The {kinds} are {', '.join(known)}."
        f"{broken if broken_studies() else ''}",
    )


@functools.cache
def _others() -> Plugins[Study]:
    return load_plugins(entry_points(group=ENTRY_POINTS), "study", _checked)


def _checked(name: str, study: object) -> Study:
    """Return another package's study, or raise why it is invalid."""
    built_for = getattr(study, "interface", "none")
    if built_for != INTERFACE:
        raise PluginError(
            f"was built for interface {built_for}, and this program offers "
            f"{INTERFACE}: install a version for it."
        )
    if not isinstance(study, Study):
        raise PluginError(
            f"has no {_missing(study)}: ask its author for a version that has it."
        )
    params = study.read_params(study.defaults.preset, dict(study.defaults.params))
    if study.words.places != (study.places(params) is not None):
        raise PluginError(
            "has the verdicts of another kind of study in its words: HITS are for "
            "places, RIGHTS for words."
        )
    check_name(name, study.name, OURS)
    return study


def _missing(study: object) -> str:
    """Return the first member of the study interface that an object lacks."""
    parts = (
        part
        for part in (*Study.__annotations__, *vars(Study))
        if not part.startswith("_")
    )
    return next((part for part in parts if not hasattr(study, part)), "study")
