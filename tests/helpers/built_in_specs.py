"""Every way in which this program's own studies specify their tables, without a run.

verify.py knows the fingerprint of each specification. Where one changes on purpose,
``python -m tests.helpers.built_in_specs`` renews them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from viewer.domain.case import Dataset
from viewer.domain.evidence import Language
from viewer.domain.plain import plain
from viewer.domain.rubric import NO_GRADES
from viewer.results.spec import Spec
from viewer.results.spec_json import spec_documents
from viewer.studies.catalog import PLACING, study_named
from viewer.studies.control_tables import control_specs
from viewer.studies.controls import Controlled
from viewer.studies.evidence_diagnosis import tables as of_cases
from viewer.studies.evidence_diagnosis.report import OF_TASKS
from viewer.studies.grid_localization import tables as of_places
from viewer.studies.grid_localization.asked import MACRO, Asked
from viewer.studies.grid_localization.params import LEVELS
from viewer.studies.grid_localization.report import specs_beside
from viewer.studies.grounded_vqa import tables as of_heal
from viewer.studies.grounded_vqa.report import OF_KINDS
from viewer.studies.pathology_mcq import tables as of_mcq
from viewer.studies.pathology_mcq.making import BUILT_SPECS
from viewer.studies.pathology_mcq.params import FrequentFrom, Pooling, Work
from viewer.studies.pathology_mcq.questions import Mcq
from viewer.studies.protocol import ReportContext
from viewer.studies.question_set import tables as of_questions
from viewer.studies.rubric_reading import tables as of_grades
from viewer.studies.rubric_reading.graded import Graded
from viewer.studies.tables import ALL_VIEWS, MICRO, OF_ALL, items_spec, results_spec
from viewer.studies.variants import variants_spec
from viewer.writers.verify import fingerprints
from viewer.writers.verify.built_in import fingerprint
from viewer.writers.verify.frames import Source

COMMAND: Final = "python -m tests.helpers.built_in_specs"
_HEAD: Final = (
    '"""The fingerprints of the specifications of this program\'s own studies."""\n\n'
)
SEED = 7
_SETS = {"evidence_diagnosis": OF_TASKS, "grounded_vqa": OF_KINDS}
MODELS = ("one", "other")
_QUESTION = Mcq("k", "p", "Atlas", "val", (), "?", ("x", "y"), 1, (), "B")


def sources(study: str) -> Iterator[tuple[Source, list[dict[str, Any]]]]:
    """Yield the plans of some runs of a study with the specifications of each."""
    words = study_named(study).words
    own_study = study_named(study)
    controls = control_specs(own_study) if isinstance(own_study, Controlled) else ()
    both = items_spec(words, ()), variants_spec(words), *controls
    for preset in study_named(study).presets():
        params = study_named(study).read_params(preset, {})
        for own, specs in _VARIANTS[study](params):
            plan = {
                "study": study,
                "package": "",
                "seed": SEED,
                "models": [*MODELS],
                "params": plain(own),
            }
            if study == PLACING:
                documents = spec_documents([*both, *specs])
                yield Source(plan, (), asked=_ASKED), documents
            else:
                sets = _SETS.get(study, OF_ALL)
                rates = results_spec((), means=False, sets=sets)
                yield Source(plan, ()), spec_documents([*both, rates, *specs])


def lines_of(study: str) -> str:
    """Return what verify.py has to know of a study's specifications."""
    known: dict[str, list[str]] = {}
    for source, specs in sources(study):
        for spec in specs:
            hashes, own = known.setdefault(spec["name"], []), fingerprint(spec, source)
            hashes += [] if own in hashes else [own]
    return "\n".join(" ".join((name, *hashes)) for name, hashes in known.items())


Variants = Iterator[tuple[Any, Sequence[Spec]]]


def _heal(params: Any) -> Variants:  # noqa: ANN401 - the study's own parameters
    yield params, of_heal.specs(has_dataset=True, has_boxes=True, extracted=True)


def _mcq(params: Any) -> Variants:  # noqa: ANN401 - the study's own parameters
    for pooling in Pooling:
        for frequent in FrequentFrom:
            own = replace(params, expert_pooling=pooling, frequent_from=frequent)
            yield own, of_mcq.specs(own, [_QUESTION])
    yield replace(params, work=Work.BUILDING), BUILT_SPECS


def _cases(params: Any) -> Variants:  # noqa: ANN401 - the study's own parameters
    arms = ("raw", "expert", "remove_text", "random_text", "refined")
    own = replace(params, cyclic_orders=True, arms=arms)
    specs = of_cases.specs(own, tuple(Language))
    yield own, [*of_cases.PREPARING_SPECS, *specs]


def _grades(params: Any) -> Variants:  # noqa: ANN401 - the study's own parameters
    given = Graded(NO_GRADES, MODELS, {}, {}, params, SEED, "a", "b")
    run = (*of_grades.RUN, of_grades.ASKED, *of_grades.SELECTED)
    grades = (*of_grades.grade_specs(given), of_grades.CARDED)
    yield params, [*run, *grades, *of_grades.PROPOSED]


def _questions(params: Any) -> Variants:  # noqa: ANN401 - the study's own parameters
    yield params, of_questions.SPECS


_ASKED: dict[str, list[Any]] = {
    "finding": ["Edema", MACRO, MICRO],
    "view": ["frontal", ALL_VIEWS],
    "condition": ["grid=8"],
    "model": ["one"],
    "repeat": [0, 1],
}


def _places(params: Any) -> Variants:  # noqa: ANN401 - the study's own parameters
    findings, views, grids, models = (tuple(of) for of in [*_ASKED.values()][:-1])
    params = replace(params, ablation=tuple(LEVELS))
    of = Asked(
        params, SEED, findings[:1], views, grids, models, often=True, measured=True
    )
    dataset = Dataset("tiny", "folder", Path(), (), (), "")
    beside = specs_beside(of, ReportContext(dataset=dataset))
    yield params, [*of_places.trial_specs(of), *beside]


def fingerprints_source() -> str:
    """Return the module that holds the fingerprints, as it should be now."""
    studies = (f'    "{one}": """\\\n{lines_of(one)}""",\n' for one in _VARIANTS)
    return f"{_HEAD}FINGERPRINTS = {{\n{''.join(studies)}}}\n"


_VARIANTS = {
    "grid_localization": _places,
    "evidence_diagnosis": _cases,
    "grounded_vqa": _heal,
    "pathology_mcq": _mcq,
    "question_set": _questions,
    "rubric_reading": _grades,
}


if __name__ == "__main__":
    Path(fingerprints.__file__).write_text(fingerprints_source(), encoding="utf-8")
