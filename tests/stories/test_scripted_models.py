"""The scripted models of generated collections differ in what figures show."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Overread = Callable[..., Any]
# Of the collections that are generated, not of what is measured on them.
pytestmark = [pytest.mark.proof, pytest.mark.usefixtures("undrawn")]


def _packed(overread: Overread, folder: Path, study: str, form: str, n: int) -> Path:
    """Ask a collection's scripted models and write the paper's pack; its figures."""
    made, store = folder / "made", ["--store", folder / "s.sqlite"]
    size = ["--n", n, "--size", "128x128"]
    overread("phantom", "--study", study, "--out", made, *size)
    overread("import", form, made, "--name", "made", *store)
    overread("run", made / "study.toml", *store)
    paper = {"pathology_mcq": "pathmmu2024", "evidence_diagnosis": "medsyn2026"}
    overread("pack", paper[study], "--run", "last", "--out", folder / "pack", *store)
    return folder / "pack" / "figures"


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_that_corruption_misleads_the_model_that_errs(
    overread: Overread, tmp_path: Path
) -> None:
    figures = _packed(overread, tmp_path, "pathology_mcq", "pathmmu", 8)
    for panel in ("Colour", "Quality"):
        rates = [
            float(row["y"])
            for row in _rows(figures / "levels.csv")
            if row["series"] == "errs" and row["panel"].startswith(panel)
        ]
        assert sorted(rates, reverse=True) == rates
        assert rates[0] - rates[-1] > 10
    rates = [
        float(row["rate"])
        for row in _rows(figures / "image_dependence.csv")
        if row["series"] == "errs" and row["kind"] == "bar"
    ]
    assert len(set(rates)) == 3


def test_that_models_of_cases_are_told_apart_by_every_judgement(
    overread: Overread, tmp_path: Path
) -> None:
    figures = _packed(overread, tmp_path, "evidence_diagnosis", "medsyn", 12)
    for figure in ("fig_10", "fig_11"):
        rows = _rows(figures / f"{figure}.csv")
        knows, errs = (
            [row["share"] for row in rows if row["bar"] == model]
            for model in ("knows", "errs")
        )
        assert knows != errs
    rates = {
        row["arm"]: row["fdx"]
        for table in ("table_03", "table_04", "table_06")
        for row in _rows(figures.parent / "tables" / f"{table}.csv")
        if row["model"] == "errs"
    }
    assert rates["expert"] > rates["raw"] > rates["remove_text"]
    assert rates["refined"] > rates["raw"]
