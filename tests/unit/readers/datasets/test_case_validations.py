"""What readers found of cases is imported, keeps cases out, and is reported."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.evidence_cases import CHINESE, ENGLISH, cases_dataset
from tests.helpers.tiny_study import a_spec
from viewer.domain.case_validation import (
    ANONYMISATION,
    CaseValidation,
    validations_of,
)
from viewer.domain.errors import UnreadableInputError
from viewer.domain.physician import Alignment
from viewer.domain.run import RunSpec
from viewer.readers.datasets.case_validations import read_case_validations
from viewer.readers.datasets.medsyn import read
from viewer.studies.evidence_diagnosis.frames import case_frame
from viewer.studies.evidence_diagnosis.plan import plan
from viewer.studies.evidence_diagnosis.validation import (
    problems_of,
    revalidated,
)

HEADER = "reader,case,confirmed,incomplete,alignment,unticked"


def table(folder: Path, *lines: str, header: str = HEADER) -> Path:
    path = folder / "validations.csv"
    path.write_text("\n".join((header, *lines)) + "\n", encoding="utf-8")
    return path


@pytest.mark.statement("E004-04", "E004-05", "E004-23")
def test_that_everything_a_reader_found_is_a_reason(tmp_path: Path) -> None:
    lines = ("r1,case-1,no,e1;e3,ok;unsupported;ok;ok,3", "r2,case-1,yes,,,")
    bad, good = read_case_validations(table(tmp_path, *lines), (ENGLISH, CHINESE))
    assert bad.problems(ENGLISH) == (
        "e1 cannot be interpreted",
        "e3 cannot be interpreted",
        "the evidence does not confirm the diagnosis",
        "e2 is unsupported",
        f"not ticked: {ANONYMISATION[2]}",
    )
    assert good == CaseValidation("case-1", "r2", (), True, (Alignment.OK,) * 4)
    assert good.problems(ENGLISH) == ()
    listed = [bad.as_json(), good.as_json()]
    kept = replace(ENGLISH.item(), reference={"validations": listed})
    assert validations_of(kept) == (bad, good)
    assert validations_of(ENGLISH.item()) == ()


@pytest.mark.statement("E004-04")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        (",case-1,yes,,,", "names no reader"),
        ("r,case-9,yes,,,", "names the case 'case-9', which does not exist"),
        ("r,case-1,perhaps,,,", "'perhaps' as confirmed instead of yes or no"),
        ("r,case-1,yes,e9,,", "names the evidence 'e9'"),
        ("r,case-1,yes,,fine,", "has the verdict 'fine'"),
        ("r,case-1,yes,,ok;ok,", "has 2 verdicts on 4 pieces of evidence"),
        ("r,case-1,yes,,,6", "names the line '6', which is not from 1 to 5"),
        ("ok,case-1,yes,,,", "has 'case-1' by 'ok' again"),
    ],
)
def test_that_a_row_that_cannot_be_is_named_by_its_line(
    line: str, said: str, tmp_path: Path
) -> None:
    path = table(tmp_path, "ok,case-1,yes,,,", line)
    with pytest.raises(
        UnreadableInputError, match=r"Line 3 of 'validations\.csv'"
    ) as e:
        read_case_validations(path, (ENGLISH,))
    assert said in str(e.value)
    with pytest.raises(UnreadableInputError, match="no column 'confirmed'"):
        read_case_validations(table(tmp_path, header="reader,case"), (ENGLISH,))


@pytest.mark.statement("E004-04", "E004-23")
def test_that_a_case_that_is_not_fit_is_not_asked_about(
    tmp_path: Path, spec_of: Callable[[], RunSpec]
) -> None:
    cases_dataset(tmp_path, 5)
    table(tmp_path, "r1,case-0002,no,,,", "r1,case-0003,yes,,,", "r2,case-0002,no,,,")
    dataset = read(tmp_path, "cases")
    trials = plan(dataset, spec_of())
    left_out = {one.item.partition("|")[0] for one in trials if one.exclusion}
    assert left_out == {"case-0002"}
    assert {one.exclusion for one in trials} == {"", "not_validated"}
    assert problems_of(dataset.items[2]) == ()
    frame = case_frame(dataset.items, 4)
    again = revalidated([item.key for item in dataset.items], 4)
    assert len(again) == 1
    wanted = {
        "case-0002": ("r1; r2", "the evidence does not confirm the diagnosis"),
        "case-0003": ("r1", ""),
    }
    for case, readers, problems, once_more in frame.each(*frame.columns):
        assert (readers, problems) == wanted.get(str(case), ("", ""))
        assert (once_more == "yes") == (case in again)
    assert not case_frame(cases_dataset(tmp_path / "other", 2).items, 0)


@pytest.fixture
def spec_of() -> Callable[[], RunSpec]:
    from viewer.domain.exchange import ModelProfile

    model = ModelProfile("m", "scripted", {"answer": "A"})
    return lambda: a_spec(
        (model,), study="evidence_diagnosis", dataset="cases", params={"tasks": ["fdx"]}
    )
