"""A paper's pack: every number is what counting the masks by hand gives."""

import csv
from pathlib import Path

import pytest

from tests.helpers.pack_checks import (
    MadePack,
    check_every_cell,
    make_pack,
)
from tests.stories.conftest import only_numbers
from viewer.cli import run_command_line
from viewer.domain.answer import Status
from viewer.services.configuring.study_file import known_profiles
from viewer.services.reporting.pack import PackRequest, plan_pack
from viewer.settings import HOME_VARIABLE, read_settings
from viewer.store.database import open_store
from viewer.store.runs import run_summary


@pytest.fixture(scope="module")
def made(phantom: Path, tmp_path_factory: pytest.TempPathFactory) -> MadePack:
    """Return the pack of six phantom patients and three scripted models."""
    return make_pack(phantom, tmp_path_factory.mktemp("pack"))


@pytest.mark.statement("E000-16", "E000-19", "E000-20", "E000-21", "E000-22", "X-04")
def test_that_every_cell_of_the_packs_tables_is_its_closed_form(
    made: MadePack,
) -> None:
    assert check_every_cell(made) > 2000


@pytest.mark.statement("E000-06", "E000-27", "E000-28")
def test_that_every_figure_of_the_paper_is_there_in_three_forms(
    made: MadePack,
) -> None:
    names = {path.name for path in (made.folder / "figures").iterdir()}
    figures = (
        *("fig1_method", "fig2_hit_rates_8", "fig2_hit_rates_16"),
        *("fig3_error_classes", "fig4_heat_maps", "fig5_examples"),
        *("fig6_grid_sizes", "fig7_heat_maps", "fig8_heat_maps", "fig10_counts"),
        *("mask_areas", "coverage_thresholds"),
    )
    assert names == {f"{f}.{kind}" for f in figures for kind in ("svg", "pdf", "csv")}


@pytest.mark.statement("E000-05", "E000-06")
def test_that_counts_are_those_of_the_masks(made: MadePack) -> None:
    with (made.folder / "figures" / "fig10_counts.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        mine = [
            pair
            for pair in made.pairs
            if (pair.finding, pair.view) == (row["group"], row["segment"])
        ]
        assert int(row["count"]) == len(mine)
    assert len(rows) == 9 * 2


@pytest.mark.statement("X-02")
def test_that_paper_and_recommended_numbers_never_share_a_table(
    made: MadePack,
) -> None:
    paper = set(made.tables["hit_rates_paper"][0])
    recommended = set(made.tables["hit_rates_recommended"][0])
    assert "bootstrap_sd" not in recommended
    assert paper & {"ci_low", "gain", "gain_low", "location_prior"} == set()


def test_that_the_page_lists_every_file_of_the_pack(made: MadePack) -> None:
    page = (made.folder / "report.html").read_text()
    files = [p for p in made.folder.rglob("*") if p.is_file()]
    names = {p.relative_to(made.folder).as_posix() for p in files} - {"report.html"}
    assert [name for name in sorted(names) if f'href="{name}"' not in page] == []
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3", "")


def test_that_the_same_wish_is_the_same_run_and_leaves_nothing_to_ask(
    made: MadePack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(made.folder.parent / "home"))
    known = known_profiles(read_settings().models_file)
    profiles = tuple(known[model] for model in made.scripts)
    with open_store(made.folder.parent / "s.sqlite") as store:
        run = plan_pack(store, PackRequest("grid2025", "phantom", profiles))
        counts = run_summary(store, run).counts
        few = plan_pack(store, PackRequest("grid2025", "phantom", profiles, limit=3))
    assert run == 1
    assert counts.get(Status.PENDING, 0) == 0
    assert few == 2


@pytest.mark.statement("X-01", "X-05")
def test_that_a_run_that_is_not_finished_is_written_without_published_values(
    made: MadePack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(made.folder.parent / "home"))
    path = made.folder.parent / "s.sqlite"
    profile = known_profiles(read_settings().models_file)["constant"]
    with open_store(path) as store:
        wanted = PackRequest("grid2025", "phantom", (profile,), limit=2)
        run = plan_pack(store, wanted)
    words = ["pack", "grid2025", "--run", str(run), "--store", str(path)]
    with only_numbers():
        assert run_command_line([*words, "--out", str(tmp_path)]) == 0
    page = (tmp_path / "report.html").read_text()
    assert "Incomplete" in page
    assert "Published values" not in page
    assert "published" not in (tmp_path / "figures/fig2_hit_rates_8.csv").read_text()


def test_that_a_pack_is_either_asked_or_there_already(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["pack", "grid2025", "--out", str(tmp_path), "--run", "1"]
    assert run_command_line([*words, "--dataset", "phantom"]) == 2
    assert "or --run" in capsys.readouterr().err


def test_that_an_order_names_two_series(
    made: MadePack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(made.folder.parent / "s.sqlite")]
    words = ["pack", "grid2025", "--run", "1", "--out", str(tmp_path), *store]
    assert run_command_line([*words, "--order", "always"]) == 2
    assert "--order A,B" in capsys.readouterr().err
    assert run_command_line([*words, "--order", "always,GPT-9"]) == 2
    said = capsys.readouterr().err
    assert "no series named 'GPT-9'" in said
    assert not list(tmp_path.iterdir())


def test_that_an_unknown_paper_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["pack", "grid2024", "--dataset", "d", "--models", "uniform"]
    assert run_command_line([*words, "--out", str(tmp_path / "o")]) == 2
    said = capsys.readouterr().err
    assert "There is no pack named 'grid2024'." in said
    assert "Did you mean 'grid2025'?" in said
    assert not (tmp_path / "o").exists()
