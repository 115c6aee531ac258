"""Pages have people's words above their columns, whatever the columns are called."""

import re

import pytest

from tests.helpers.built_in_specs import sources
from viewer.domain.evidence import Language
from viewer.domain.study_words import capital
from viewer.results.page import headers
from viewer.results.spec import Spec
from viewer.results.spec_json import specs_of
from viewer.studies.catalog import PLACING, titles
from viewer.studies.evidence_diagnosis.tables import strata_pages
from viewer.studies.grounded_vqa.tables import specs as of_heal
from viewer.studies.pathology_mcq.layouts import layouts

_RAW = re.compile(r"_|^(n|k|ci|p) .*[a-z]|^(Ci|N|K|Qwk|Mad|Sd) ")
_SYMBOLS = {"n", "k", "p", "k / n", "± SD"}
_OF_THE_DATA = {"passes"}
"""Tables whose columns follow the run."""


def pages(study: str) -> list[Spec]:
    """Return a study's tables that a page has, without a run."""
    found = [spec for _, documents in sources(study) for spec in specs_of(documents)]
    return [spec for spec in found if spec.title and spec.name not in _OF_THE_DATA]


@pytest.mark.parametrize("study", titles())
def test_that_no_page_has_a_raw_name_above_a_column(study: str) -> None:
    beside = {
        "evidence_diagnosis": [*strata_pages(Language.ENGLISH, ())],
        "grounded_vqa": of_heal(
            has_dataset=False,
            has_boxes=False,
            passes=("item", "answer_plain", "answer_loba-1", "dice"),
        ),
        "pathology_mcq": layouts(()),
    }
    every = [*pages(study), *beside.get(study, ())]
    for spec in (one for one in every if one.title):
        assert spec.shown, f"{spec.name} names no columns"
        for name in headers(spec):
            header = name if study == PLACING or name in _SYMBOLS else capital(name)
            named = header in _SYMBOLS or header[:1].isupper() or header[:1].isdigit()
            assert named, (spec.name, header)
            assert header in _SYMBOLS or not _RAW.search(header), (spec.name, header)


@pytest.mark.parametrize("study", titles())
def test_that_no_two_tables_of_a_study_have_the_same_title(study: str) -> None:
    names = {(spec.name, spec.title) for spec in pages(study)}
    assert len({title for _, title in names}) == len(names)
