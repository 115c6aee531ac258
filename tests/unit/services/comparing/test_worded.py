"""Two runs of a study without a grid, compared item by item."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.quiz_study import quiz_dataset, quiz_in_catalog, quiz_spec, says
from tests.helpers.study_samples import item_run
from tests.helpers.tiny_study import plan_and_finish
from viewer.domain.errors import WrongUseError
from viewer.domain.run import RunSpec
from viewer.readers.datasets.files import content_sha256
from viewer.services.comparing.causes import Cause
from viewer.services.comparing.family import declare_family
from viewer.services.comparing.runs import compare, statistics_of, summary_sentence
from viewer.services.comparing.sides import Side
from viewer.store import cases
from viewer.store.database import Store, open_store

RIGHT = {"two": "C", "one": "A", "none": "B"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with quiz_in_catalog(), open_store(tmp_path / "s.sqlite") as opened:
        dataset = quiz_dataset(tmp_path / "pictures")
        cases.add_dataset(opened, dataset)
        first, *rest = dataset.items
        other = (replace(first, reference={"option": 0}), *rest)
        cases.add_dataset(
            opened,
            replace(
                dataset,
                name="otherwise",
                items=other,
                root_sha256=content_sha256(dataset.images, other),
            ),
        )
        yield opened


def asked(store: Store, spec: RunSpec) -> Side:
    run = plan_and_finish(store, spec)
    return Side(run, spec.models[0].name)


def test_that_another_answer_is_why_a_verdict_flips(
    store: Store, tmp_path: Path
) -> None:
    one = asked(store, quiz_spec([says("knows", RIGHT, tmp_path)]))
    other = asked(store, quiz_spec([says("errs", {**RIGHT, "one": "B"}, tmp_path)]))
    comparison = compare(store, one, other)
    (flip,) = comparison.flips
    assert flip.pair.first.item == "one"
    assert flip.why.because == (Cause.ANSWER,)
    assert str(flip.why) == "answer: A → B"
    assert comparison.asked.images.same == 3
    assert "knows" in summary_sentence(comparison)
    tested = statistics_of(store, comparison)
    findings = {group.key[1] for group in tested.groups}
    assert findings >= {"(micro)", "views", "text"}


def test_that_a_family_declared_before_makes_its_comparison_confirmatory(
    store: Store, tmp_path: Path
) -> None:
    made = declare_family(store, "quizzes", ["knows", "errs"], study="quiz")
    assert made.findings == ("text", "views")
    one = asked(store, quiz_spec([says("knows", RIGHT, tmp_path)]))
    other = asked(store, quiz_spec([says("errs", {**RIGHT, "one": "B"}, tmp_path)]))
    comparison = compare(store, one, other)
    assert statistics_of(store, comparison).adjustment.sentence.startswith(
        "Confirmatory: 2 findings"
    )
    with pytest.raises(WrongUseError, match="no reference for Edema"):
        declare_family(store, "quizzes", ["a", "b"], ["Edema"], study="quiz")


def test_that_another_truth_and_other_images_are_told(
    store: Store, tmp_path: Path
) -> None:
    model = says("knows", RIGHT, tmp_path)
    shown = asked(store, quiz_spec([model]))
    spec = replace(quiz_spec([model], images=False), dataset="otherwise")
    hidden = asked(store, spec)
    comparison = compare(store, shown, hidden)
    (flip,) = comparison.flips
    assert flip.why.because == (Cause.TRANSFORM, Cause.REFERENCE)
    assert flip.why.together
    assert {item for item, _ in comparison.asked.images.different} == {"two", "one"}


@pytest.mark.parametrize("study", ["evidence_diagnosis", "grounded_vqa"])
def test_that_answers_to_several_tasks_are_never_counted_as_one(
    store: Store, tmp_path: Path, study: str
) -> None:
    run = item_run(store, tmp_path / study, study, other="Yes")
    comparison = compare(store, Side(run, "studied"), Side(run, "other"))
    task = comparison.words.task
    tasks = {task(pair.first.finding) for pair in comparison.pairing.scored}
    assert len(tasks) > 1
    for group in comparison.groups:
        assert len({task(finding) for finding in group.findings}) == 1
    assert "(micro)" not in {group.finding for group in comparison.groups}
    pooled = [group for group in comparison.groups if group.pooled]
    within = {(g.condition, finding) for g in pooled for finding in g.findings}
    single = [group for group in comparison.groups if not group.pooled]
    alone = [group for group in single if group.key not in within]
    said = summary_sentence(comparison)
    for group in (*alone, *pooled):
        assert comparison.words.called("finding", group.finding) in said
    items = sum(group.table.items for group in (*alone, *pooled))
    assert items == len(comparison.pairing.scored)
    tests = statistics_of(store, comparison)
    assert [g.finding for g in tests.groups].count("(macro)") == len(pooled)
