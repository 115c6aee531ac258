"""No estimator may give an interval or a p-value that no simulation has proved."""

import re
from importlib import import_module

import pytest

from tests.helpers.interval_proofs import OF_ESTIMATORS, PAGE, PROOFS
from viewer.results.estimators import ESTIMATORS

for study in ("evidence_diagnosis", "grid_localization", "rubric_reading"):
    import_module(f"viewer.studies.{study}.estimators")
import_module("viewer.studies.grid_localization.errors_by_class")
NEITHER = {
    *("size", "sum", "mean of pooled rates", "share", "part", "mean", "median"),
    *("largest", "nested mean of rates", "change of rates", "chance", "first"),
    *("constant answer", "listed", "rate of distinct", "distinct", "spread"),
    *("difference in points", "spread of shares"),
    *(
        "chance level",
        "rank of share",
        "f1",
        "macro f1",
        "gain in f1",
        "judge agreement",
    ),
    *("cross-modal", "mean cross-modal", "change in nmse", "agreement over orders"),
    *("warning of few", "sd over items", "random cell", "sd over patients"),
    *("spread of answers", "agreement of replicates", "extent of a review"),
    *("average precision",),
    *("average precision by overlap", "froc", "froc curve"),
}
"""Estimators that give neither an interval nor a p-value."""


@pytest.mark.statement("X-07")
def test_that_every_estimator_is_proved_or_gives_neither_interval_nor_p() -> None:
    own = {n for n, f in ESTIMATORS.items() if f.__module__.startswith("viewer.")}
    assert own == {*OF_ESTIMATORS} | NEITHER
    assert not {*OF_ESTIMATORS} & NEITHER


@pytest.mark.statement("X-07")
def test_that_every_proof_exists_and_stands_on_the_page() -> None:
    named = {proof for proofs in OF_ESTIMATORS.values() for proof in proofs}
    assert named <= set(PROOFS)
    rows = PAGE.read_text("utf-8").splitlines()
    told = {row.split("|")[1].strip() for row in rows if row.startswith("| ")}
    assert told - {"what"} == set(PROOFS)


ENDS = re.compile(r"(^|_)(low|high)$|^ci_|^p$|^p_value$|^p_adjusted$")


@pytest.mark.statement("X-07")
def test_that_no_column_named_as_an_end_or_a_p_comes_of_another_estimator() -> None:
    from tests.helpers.built_in_specs import sources
    from tests.helpers.study_samples import STUDIES

    for one in ("grid_localization", *STUDIES):
        for _, specs in sources(one):
            lines = [of for spec in specs for of in (spec, *spec.get("lines", ()))]
            for cell in (cell for of in lines for cell in of.get("cells", ())):
                named = [n for n in cell["names"] if ENDS.search(n)]
                if named:
                    assert cell["estimator"] in OF_ESTIMATORS, (one, cell["names"])
