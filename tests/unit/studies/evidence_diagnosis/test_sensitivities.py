from dataclasses import replace
from math import log
from typing import Any

import numpy as np
import pytest

from tests.helpers.evidence_cases import ENGLISH, frames_of, table_of
from viewer.domain.answer import Status
from viewer.domain.evidence import EvidenceType
from viewer.metrics.divergence import jsd
from viewer.metrics.posterior import Estimator, Posterior, from_counts, from_letters
from viewer.results.evaluate import evaluate
from viewer.results.spec import ListSpec
from viewer.studies.evidence_diagnosis.frames import ANSWERS, SENSITIVITIES
from viewer.studies.evidence_diagnosis.params import Context, Params, Task
from viewer.studies.evidence_diagnosis.rows import Row
from viewer.studies.evidence_diagnosis.sensitivities import (
    HEADER,
    sensitivity_frame,
    untold_models,
)
from viewer.studies.evidence_diagnosis.showing import Showing, sensitivity_showings

CT = EvidenceType.CT
SINGLE = Params(sensitivity=True, context=Context.SINGLE)
EVERY = Params(sensitivity=True)


def believing(seed: int) -> Posterior:
    """Return a posterior that depends on a seed alone."""
    p = np.random.default_rng(seed).dirichlet(np.ones(4))
    return from_letters(dict(zip("ABCD", map(log, p), strict=True)), "ABCD")


def rows_of(params: Params, refined: bool = False) -> list[Row]:
    """Return an answer with a posterior for every showing that is needed."""
    needed: dict[Showing, None] = {}
    for of in ENGLISH.types:
        pairs = sensitivity_showings(of, params.context, refined)
        for pair in (pairs.image, pairs.text):
            needed.update(dict.fromkeys((pair.full, pair.without)))
    return [
        Row(ENGLISH, "m", Task.FDX, s, Status.SCORED_WRONG, posterior=believing(i))
        for i, s in enumerate(needed)
    ]


def lines(rows: list[Row], params: Params, seed: int = 0) -> list[dict[str, Any]]:
    """Return the rows of the frame, None where there is no number."""
    frame = sensitivity_frame(rows, params, seed)
    spec = ListSpec("sensitivities", frame=SENSITIVITIES)
    return evaluate(spec, {SENSITIVITIES: frame}).records()


def compared(rows: list[Row], params: Params) -> dict[str, dict[str, Any]]:
    """Return the rows of Table 12 by type of evidence."""
    table = table_of("table_12", frames_of(rows, params), params)
    return {one["evidence"]: one for one in table.records()}


@pytest.mark.statement("E004-17", "E004-18")
@pytest.mark.parametrize("params", [SINGLE, EVERY], ids=["single", "all"])
@pytest.mark.parametrize("refined", [False, True])
def test_that_each_type_is_left_out_in_both_modalities(
    params: Params, refined: bool
) -> None:
    rows = rows_of(params, refined)
    known = {row.showing: row.posterior for row in rows}
    found = lines(rows, params)
    assert [one["evidence"] for one in found] == list(ENGLISH.types)
    assert {one["refined"] for one in found} == {refined}
    for one in found:
        evidence = EvidenceType(one["evidence"])
        pairs = sensitivity_showings(evidence, params.context, refined)
        for name, pair in (("image", pairs.image), ("text", pairs.text)):
            full, without = known[pair.full], known[pair.without]
            assert full is not None
            assert without is not None
            expected = pytest.approx(jsd(full.p, without.p), abs=1e-12)
            assert one[f"{name}_s"] == one[f"{name}_corrected"] == expected


@pytest.mark.statement("E004-18")
def test_that_a_single_change_leaves_the_same_answer_out_twice() -> None:
    rows = rows_of(SINGLE)
    assert len(rows) == 1 + 2 * len(ENGLISH.types)
    assert len(rows_of(EVERY)) == 2 + 2 * len(ENGLISH.types)


@pytest.mark.statement("E004-19")
def test_that_what_has_no_posterior_is_counted_as_missing() -> None:
    rows = [row for row in rows_of(SINGLE) if row.showing.name != "raw without CT"]
    both = compared(rows, SINGLE)
    assert (both[CT]["missing"], both[CT]["cases"]) == (1, 0)
    assert both[EvidenceType.MICROSCOPY]["cases"] == 1
    table = table_of("sensitivity", frames_of(rows, SINGLE), SINGLE)
    assert table.header == HEADER
    first, line, *_ = table.records()
    assert (line["evidence"], line["image_s"], line["text_high"]) == ("CT", None, None)
    assert (line["context"], line["estimator"]) == ("single", "letter_logprobs")
    assert first["image_interval_by"] == "bounds"


@pytest.mark.statement("E004-17")
def test_that_what_was_drawn_is_compared_less_its_bias() -> None:
    same = from_counts((5, 5, 5, 5))
    rows = [
        Row(ENGLISH, "m", Task.FDX, row.showing, row.status, posterior=same)
        for row in rows_of(SINGLE)
    ]
    found = lines(rows, SINGLE, seed=1)
    assert {one["image_s"] for one in found} == {0.0}
    assert all(one["image_corrected"] < 0 for one in found)
    assert {one["estimator"] for one in found} == {"monte_carlo"}
    of_types = compared(rows, SINGLE)
    average = of_types.pop("Average")
    assert {one["tied"] for one in of_types.values()} == {1}
    assert average["tied"] is None


@pytest.mark.statement("E004-19")
def test_that_a_case_without_its_plain_answer_is_missing_and_its_text_counts() -> None:
    rows = [row for row in rows_of(EVERY) if row.showing != Showing()]
    found = lines(rows, EVERY)
    assert [one["evidence"] for one in found] == list(ENGLISH.types)
    assert {one["image_s"] for one in found} == {None}
    assert None not in {one["text_s"] for one in found}
    missing = {of: one["missing"] for of, one in compared(rows, EVERY).items()}
    assert missing.pop("Average") is None
    assert missing == dict.fromkeys(map(str, ENGLISH.types), 1)


@pytest.mark.statement("E004-17")
def test_that_models_that_answer_without_any_probability_are_named() -> None:
    rows = rows_of(SINGLE)
    failed = Row(ENGLISH, "down", Task.FDX, Showing(), Status.PROVIDER_ERROR)
    silent = Row(ENGLISH, "silent", Task.FDX, Showing(), Status.SCORED_WRONG, chosen=2)
    answers = frames_of([*rows, failed, silent])[ANSWERS]
    (sentence,) = untold_models(answers, SINGLE)
    assert sentence.startswith("silent gave no probabilities of the options, so ")
    top = replace(SINGLE, estimator=Estimator.TOP_LOGPROBS)
    (sentence,) = untold_models(answers, top)
    assert sentence.startswith("silent gave no log-probabilities of the options, so ")
    assert untold_models(answers, Params()) == ()
    one = replace(silent, posterior=believing(1))
    assert untold_models(frames_of([*rows, silent, one])[ANSWERS], SINGLE) == ()
