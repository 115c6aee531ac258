"""Pages speak as their study does; files keep the names that programs read."""

import csv
from pathlib import Path

from tests.helpers.study_samples import item_run
from viewer.domain.report import Section, Table
from viewer.domain.study_words import PLACING
from viewer.services.reporting.pack import write_pack
from viewer.services.reporting.report_run import report_data, write_run_report
from viewer.services.reporting.report_words import in_words
from viewer.store.database import open_store
from viewer.studies.catalog import study_named

SECTION = Section(
    "Accuracy",
    "How it went.",
    Table(
        "t",
        ("model", "condition", "kind", "n_scored"),
        (("text_only", "text_only", "val", 3), ("m", None, "test_tiny", None)),
    ),
)


def test_that_conditions_and_kinds_are_named_and_numbers_stay() -> None:
    table = in_words(SECTION, study_named("pathology_mcq").words).table
    assert table.header == ("Model", "Condition", "Kind", "N scored")
    assert table.rows == (
        ("text_only", "text only", "Validation", 3),
        ("m", None, "Test-tiny", None),
    )


def test_that_columns_of_models_and_symbols_keep_their_names() -> None:
    header = ("metric", "my_model", "my_model (n = 3)", "n", "p adj", "n_scored")
    section = Section("T", "", Table("t", header, ()))
    words = study_named("pathology_mcq").words
    assert in_words(section, words, ["my_model"]).table.header == (
        *("Metric", "my_model", "my_model (n = 3)", "n", "p adj", "N scored"),
    )


def test_that_a_page_of_a_study_that_places_stays_as_it_is() -> None:
    assert in_words(SECTION, PLACING) is SECTION


def test_that_a_page_names_arms_and_its_table_keeps_their_names(
    tmp_path: Path,
) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        arms = {"arms": ["image", "text_only"]}
        run = item_run(store, tmp_path / "tiles", "pathology_mcq", arms)
        write_run_report(store, report_data(store, run), tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Pathology questions on sample" in page
    assert ">text only<" in page
    assert ">text_only<" not in page
    with (tmp_path / "out" / "results.csv").open(encoding="utf-8") as file:
        conditions = {row["condition"] for row in csv.DictReader(file)}
    assert conditions == {"plain", "text_only"}


def test_that_tables_for_a_paper_s_text_name_controls_as_the_page_does(
    tmp_path: Path,
) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        controls = {"controls": ["no_image", "other_image"]}
        run = item_run(store, tmp_path / "cases", "grounded_vqa", controls)
        pack = study_named("grounded_vqa").pack
        assert pack
        write_pack(store, pack.name, run, tmp_path / "out")
    tables = {path: path.read_text("utf-8") for path in tmp_path.rglob("*.tex")}
    assert any("without the image" in text for text in tables.values())
    assert not any("no\\_image" in text for text in tables.values())
    assert "no_image" in (tmp_path / "out/tables/image_dependence.csv").read_text(
        "utf-8"
    )
