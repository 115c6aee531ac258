"""A second reader validates a drawn fifth of the cases again, blinded to the first."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.proportion import proportion_confint

from tests.helpers.evidence_cases import ENGLISH
from tests.helpers.task_stores import imported, phantom
from viewer.cli import run_command_line
from viewer.domain.case import Dataset
from viewer.domain.case_validation import validations_of
from viewer.domain.errors import WrongUseError
from viewer.domain.form_values import Values
from viewer.domain.item import Item
from viewer.domain.plain import made, plain
from viewer.domain.reading import Material, SessionId, Task
from viewer.services.readings import cases, recording
from viewer.services.readings.criteria import criteria_agreement
from viewer.services.readings.mrmc import export_readings
from viewer.services.readings.rating_agreement import rating_agreement
from viewer.services.readings.task_choice import TaskWanted
from viewer.services.readings.task_readings import open_task, task_offer
from viewer.services.sessions import datasets
from viewer.store import readings
from viewer.store.database import open_store
from viewer.studies.evidence_diagnosis.frames import case_frame
from viewer.studies.evidence_diagnosis.readings import READING_TASKS
from viewer.studies.evidence_diagnosis.validation import cases_to_read, revalidated
from viewer.studies.reading_tasks import CaseRead

CASES, SEED = 15, 3
FIRST = TaskWanted("evidence_diagnosis", "validation", "people", seed=SEED)
AGAIN = replace(FIRST, task="revalidation")
Key = tuple[str, str]


def found(reader: int, item: str, what: str) -> bool:
    """Tell whether a reader finds nothing wrong, now and then otherwise."""
    return hash_of(item, what) % 5 > 0 and hash_of(item, what, str(reader)) % 4 > 0


def hash_of(*words: str) -> int:
    return sum(ord(letter) * 31**i for i, letter in enumerate("".join(words)))


def answered(reader: int, item: str, task: Task) -> Values:
    aligned = [name for name in task.asked if name.startswith("alignment")]
    odd = ("misaligned", "unsupported")
    return {
        "confirmed": "yes" if found(reader, item, "") else "no",
        "incomplete": tuple(
            option.key
            for option in task.options["incomplete"]
            if not found(reader, item, option.key)
        ),
        "checklist": tuple(f"{n}" for n in range(1, 6) if found(reader, item, f"{n}")),
        **{
            name: "ok" if found(reader, item, name) else odd[reader] for name in aligned
        },
    }


def validate(store: Path, session: SessionId, reader: int) -> list[str]:
    """Lock every case of a session; return its items."""
    with open_store(store) as opened:
        items = [one.item for one in readings.tasks_of(opened, session)]
    for task in cases.queue(store, session):
        values = answered(reader, items[task.position], task)
        recording.lock(store, session, task.position, values)
    return items


@pytest.fixture(scope="module")
def validated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A store of cases that a reader validated and a second one did in part."""
    root = tmp_path_factory.mktemp("validated")
    folder = phantom(root / "cases", "evidence_diagnosis", CASES)
    store = imported(folder, "medsyn", run=False)
    validate(store, open_task(store, FIRST, "Dr A"), 0)
    return store, validate(store, open_task(store, AGAIN, "Dr B"), 1)


@pytest.mark.statement("E004-04")
def test_that_a_fifth_is_drawn_by_the_seed_for_the_second_reader(
    validated: tuple[Path, list[str]],
) -> None:
    store, again = validated
    with open_store(store) as opened:
        items = datasets.dataset_named(opened, "people").items
    keys = [case.key for case in cases_to_read(items)]
    assert len(keys) == CASES < len(items)
    assert sorted(again) == sorted(revalidated(keys, SEED))
    assert len(again) == CASES / 5
    assert {len(validations_of(i)) for i in items if i.key in again} == {2}
    frame = case_frame([i for i in items if i.key in keys], SEED)
    drawn = {case for case, once in frame.each("case", "once_more") if once}
    assert drawn == set(again)
    offer = task_offer(store, AGAIN)
    assert (offer.cases, offer.drawn) == (CASES, 3)
    assert "3 of 15 cases" in offer.sentence
    assert set(revalidated(keys, SEED + 1)) != set(again)
    assert task_offer(store, replace(AGAIN, limit=2)).drawn == 2


@pytest.mark.statement("E004-04")
def test_that_a_reader_does_not_validate_again_what_was_validated_alone(
    validated: tuple[Path, list[str]],
) -> None:
    store, _ = validated
    for wanted, name, done in (
        (AGAIN, "Dr A", "Validate the cases"),
        (FIRST, "Dr B", "Validate a fifth of the cases again"),
    ):
        with pytest.raises(WrongUseError, match=f"{name} already does '{done}'"):
            open_task(store, wanted, name, returning=True)


def judged_by_both(again: list[str], items: Sequence[Item]) -> Mapping[str, list[Key]]:
    """Return what two readers judged by each criterion: a case, and what of it."""
    pieces = {
        case.key: [one.key for one in case.evidence]
        for case in cases_to_read(items)
        if case.key in again
    }
    return {
        "evidence can be interpreted": [(i, k) for i in again for k in pieces[i]],
        "evidence confirms the diagnosis": [(i, "") for i in again],
        "text says what the images show": [
            (i, f"alignment_{n}") for i in again for n in range(len(pieces[i]))
        ],
        "case is anonymised": [(i, f"{n}") for i in again for n in range(1, 6)],
    }


@pytest.mark.statement("E004-04", "E004-05")
def test_that_agreement_by_criterion_is_what_other_code_says(
    validated: tuple[Path, list[str]],
) -> None:
    store, again = validated
    with open_store(store) as opened:
        items = datasets.dataset_named(opened, "people").items
    told = {one.criterion: one for one in criteria_agreement(store, 1)}
    assert told == {one.criterion: one for one in criteria_agreement(store, 2)}
    expected = judged_by_both(again, items)
    assert told.keys() == expected.keys()
    for name, keys in expected.items():
        one, two = ([found(r, *key) for key in keys] for r in (0, 1))
        same = sum(a == b for a, b in zip(one, two, strict=True))
        of = told[name]
        assert (of.first, of.second, of.cases) == ("Dr A", "Dr B", len(again))
        assert of.judged == len(keys)
        assert of.same.value == pytest.approx(same / len(keys), abs=1e-12)
        kappa = cohen_kappa_score(one, two)
        assert of.kappa.value == pytest.approx(kappa, abs=1e-12)
        assert of.kappa.interval.low <= kappa <= of.kappa.interval.high
        use = (sum(one) + sum(two)) / (2 * len(keys))
        chance = 2 * use * (1 - use)
        ac = (same / len(keys) - chance) / (1 - chance)
        assert of.ac.value == pytest.approx(ac, abs=1e-12)
    confirmed = told["evidence confirms the diagnosis"].same
    low, high = proportion_confint(round(3 * confirmed.value), 3, method="beta")
    assert confirmed.interval.low == pytest.approx(low, abs=1e-9)
    assert confirmed.interval.high == pytest.approx(high, abs=1e-9)
    # The questions on one piece of evidence each are not compared beside them.
    assert rating_agreement(store, 1) == ()


@pytest.mark.statement("E004-04")
def test_that_the_agreement_is_printed_and_exported(
    validated: tuple[Path, list[str]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    store, _ = validated
    words = ["readings", "--session", "2", "--json", "--store", str(store)]
    assert run_command_line(words) == 0
    rows = json.loads(capsys.readouterr().out)["criteria"]
    told = {row["criterion"]: row for row in rows}
    assert len(told) == 4
    row = told["case is anonymised"]
    assert (row["readers"], row["cases"], row["judged"]) == ("Dr A and Dr B", 3, 15)
    assert " to " in row["same"]
    assert " to " in row["kappa"]
    assert "Cohen's κ, jackknife by patient, 95 %" in row["methods"]
    export_readings(store, 2, tmp_path / "out")
    with (tmp_path / "out" / "agreement.csv").open(encoding="utf-8") as file:
        filed = {(r["question"], r["measure"]): r for r in csv.DictReader(file)}
    assert len(filed) == 12
    same = filed["case is anonymised", "same"]
    low, value, high = (float(same[name]) for name in ("low", "value", "high"))
    assert f"{value:.3f} ({low:.3f} to {high:.3f})" == row["same"]
    ac = filed["case is anonymised", "ac"]
    low, value, high = (float(ac[name]) for name in ("low", "value", "high"))
    assert f"{value:.3f} ({low:.3f} to {high:.3f})" == row["ac"]
    assert ac["method"].endswith("jackknife by patient, 95 %")


@pytest.mark.statement("E004-04")
def test_that_a_reader_who_withdraws_is_not_compared(
    validated: tuple[Path, list[str]], tmp_path: Path
) -> None:
    store = tmp_path / "s.sqlite"
    store.write_bytes(validated[0].read_bytes())
    recording.withdraw(store, SessionId(2))
    assert criteria_agreement(store, 1) == ()
    # Somebody else may still be the second reader.
    assert open_task(store, AGAIN, "Dr C") == 3
    assert criteria_agreement(store, 3) == ()


@pytest.fixture
def read_as_stored() -> Callable[[int], CaseRead]:
    """Return what makes a locked validation of a case with so many pieces."""

    def make(pieces: int) -> CaseRead:
        case = replace(
            ENGLISH,
            evidence=tuple(
                replace(ENGLISH.evidence[0], key=f"e{n}") for n in range(pieces)
            ),
        )
        dataset = replace(
            Dataset("d", "medsyn", Path("d"), (), (), "0"), items=(case.item(),)
        )
        (shown,) = READING_TASKS[1].cases(dataset, ())
        text = json.dumps(plain(shown.material), sort_keys=True)
        material = made(Material, json.loads(text), where="the case")
        values: dict[str, str | tuple[str, ...]] = {
            f"alignment_{n}": "ok" for n in range(pieces)
        }
        values |= {"confirmed": "yes", "alignment_2": "unsupported", "incomplete": ()}
        return CaseRead("r", "", case.key, material, values)

    return make


def test_that_the_verdict_on_one_of_eleven_pieces_stays_with_it(
    read_as_stored: Callable[[int], CaseRead],
) -> None:
    task, read = READING_TASKS[1], read_as_stored(11)
    ((_, entry),) = task.entries(read)
    assert isinstance(entry, dict)
    assert entry["alignment"] == ["ok", "ok", "unsupported", *["ok"] * 8]
    assert task.criteria is not None
    odd = [
        what
        for criterion, what, met in task.criteria(read)
        if criterion == "text says what the images show" and not met
    ]
    assert odd == ["e2"]
