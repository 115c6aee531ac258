from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from tests.unit.studies.pathology_mcq.small import dataset, item, result, spec
from viewer.domain.answer import Status
from viewer.domain.figure import RateFigure
from viewer.domain.image import Raster
from viewer.domain.item import Item
from viewer.domain.pack import PackData
from viewer.domain.report import Section
from viewer.domain.result import Score, TrialResult
from viewer.imaging.corruptions import Corruption, corrupt, pixels_sha256
from viewer.studies.catalog import pack_named
from viewer.studies.packs import PackInput, Pictures
from viewer.studies.pathology_mcq.pack import gallery_figure
from viewer.studies.pathology_mcq.params import Arm
from viewer.studies.pathology_mcq.report import report
from viewer.studies.pathology_mcq.study import STUDY
from viewer.studies.protocol import ReportContext

if TYPE_CHECKING:
    from viewer.studies.steps import Sources

RIGHT, WRONG = Status.SCORED_CORRECT, Status.SCORED_WRONG
ITEMS = tuple(
    item(
        f"{subset}-{split}-{i}",
        i % 4,
        experts=[("I", "ann", i % 4), ("II", "ben", 0)] if split == "test_tiny" else (),
    )
    for subset in ("PubMed", "Atlas")
    for split in ("val", "test_tiny", "test")
    for i in range(2)
)
PACK = pack_named("pathmmu2024")


def pack(results: list[TrialResult]) -> PackData:
    of = spec(settings={**STUDY.defaults.params, "guessed_by": 1})
    data = dataset(ITEMS)
    reported = report(results, of, ReportContext(data))
    return PACK.data(PackInput(reported, results, of, data, cast("Pictures", None)))


def answers(condition: str, wrong: int, model: str = "m") -> list[TrialResult]:
    """Return one result for each item, every ``wrong``-th of them wrong."""
    return [
        result(one, WRONG if i % wrong == 0 else RIGHT, condition, model)
        for i, one in enumerate(ITEMS)
    ]


def section(data: PackData, number: str) -> Section:
    return next(one for one in data.sections if one.number == number)


@pytest.mark.statement("E003-14")
def test_that_table_1_has_chance_experts_models_and_models_without_images() -> None:
    data = pack([*answers("plain", 2), *answers("text_only", 3)])
    table = section(data, "Table 1").table
    sizes = (*("Tiny, n = 4", "All, n = 8"), *("Tiny, n = 2", "All, n = 4") * 2)
    assert table.header == ("Model", "Input", "Val, n = 4", *sizes)
    assert section(data, "Table 1").groups == (
        *(("", 2), ("Overall", 3), ("PubMed", 2), ("Atlas", 2)),
    )
    rows = {row[:2]: row[2:] for row in table.rows}
    assert rows["Random Choice", "none"][:3] == ("25.0", "25.0", "25.0")
    assert rows["Expert performance", "image and text"][:2] == ("", "75.0")
    assert rows["m", "image and text"][:3] == ("50.0", "50.0", "50.0")
    assert rows["m", "text only"][1] == "50.0"
    names = [table.name for table in data.tables]
    assert "published" in names
    assert "items" not in names


@pytest.mark.statement("E003-12")
def test_that_chance_and_experts_are_of_the_items_that_reviews_keep() -> None:
    rejected = {"PubMed-test_tiny-1", "Atlas-test_tiny-0", "Atlas-test-1"}
    asked = [
        replace(one, score=Score(Status.EXCLUDED, "rejected"))
        if one.item in rejected
        else one
        for one in answers("plain", 3)
    ]
    kept = [one for one in ITEMS if one.key not in rejected]
    tiny = [one for one in kept if one.facts["split"] == "test_tiny"]
    data = pack(asked)
    table = section(data, "Table 1").table
    assert table.header[2:5] == ("Val, n = 4", "Tiny, n = 2", "All, n = 5")
    rows = {row[0]: row for row in table.rows}
    always = sum(one.reference["option"] == 0 for one in tiny) / len(tiny)
    assert rows["Frequent Choice"][3] == f"{100 * always:.1f}"
    experts = next(one for one in data.tables if one.name == "experts")
    told = {row[:3]: row[3:] for row in experts.rows}
    assert told["tiny", "Overall", "II"] == (always, 1, 2, 2)
    assert told["tiny", "PubMed", "II"] == (1.0, 1, 1, 1)
    paper = next(one for one in data.tables if one.name == "accuracy_paper")
    columns = {(row["part"], row["subset"]): row for row in paper.records()}
    assert columns["tiny", "Overall"]["n"] == 2
    assert columns["tiny", "Overall"]["frequent"] == always


@pytest.mark.statement("E003-06", "E003-07", "E003-14")
def test_that_changes_are_printed_with_their_arrow() -> None:
    data = pack(
        [*answers("plain", 4), *answers("jpeg-2", 2), *answers("noise", 3)],
    )
    row = section(data, "Table 2").table.rows[0]
    assert row[0] == "m"
    assert section(data, "Table 2").groups == ()
    assert row[5] == "50.0 ↓ 25.0"
    assert row[-1] == "50.0 ↓ 25.0"
    assert row[1] == ""
    noise = section(data, "Table 3").table.rows[0]
    assert noise[1] == "50.0 ↓ 25.0"
    assert "Qwen" not in str(section(data, "Table 4").table.rows)
    assert section(data, "Table 4").table.rows[1][1] == "55.7"


@pytest.mark.statement("X-05")
def test_that_the_papers_rows_stand_below_those_of_the_run() -> None:
    results = [*answers("plain", 4), *answers("jpeg-2", 2), *answers("noise", 3)]
    data = pack(results)
    (first,) = section(data, "Table 1").published
    assert first.words == "Published: Sun 2024, PathMMU, Table 1"
    rows = {row[0]: row[1:] for row in first.rows}
    assert rows["Random Choice"][:4] == ("", "24.6", "22.1", "23.7")
    assert rows["Expert performance"][:3] == ("", "", "71.8")
    (second,) = section(data, "Table 2").published
    assert second.rows[0][:2] == ("Qwen-VL-7B", "32.7 ↑ 0.6")
    assert section(data, "Table 3").published[0].rows[0][1] == "28.8"
    waiting = replace(results[0], score=Score(Status.PENDING))
    unfinished = pack([waiting, *results[1:]])
    assert not any(one.published for one in unfinished.sections)


@pytest.mark.statement("E003-17")
def test_that_figure_5_has_guessable_items_beside_mismatched_ones() -> None:
    blind = (*answers("text_only", 2), *answers("text_only", 3, "o"))
    results = [*blind, *answers("mismatch", 3, "n")]
    data = pack(results)
    table = next(t for t in data.tables if t.name == "figure5")
    by_bar = {row[:2]: row[2:] for row in table.rows}
    assert by_bar["guessable items", "experts, with images"][1:3] == (2, 0.5)
    assert ("guessable items", "m") not in by_bar, "it chose them"
    assert by_bar["guessable items", "o"][:2] == (4, 6)
    assert by_bar["mismatched questions", "n"][:2] == (8, 12)
    assert by_bar["matching questions", "m"][:2] == (6, 12)
    (figure,) = data.figures
    assert isinstance(figure, RateFigure)
    (panel,) = figure.panels
    assert panel.groups == (
        *("guessable items", "matching questions", "mismatched questions"),
    )
    values = {one.name: (one.values, one.counts) for one in panel.series}
    assert values["m"] == ((None, 0.5, None), (0, 12, 0))
    assert values["o"] == ((4 / 6, 8 / 12, None), (6, 12, 0))
    assert values["experts, with images"] == ((0.5, None, None), (2, 0, 0))
    assert values["n"][1] == (0, 0, 12)
    assert panel.baselines[0] == (0.25, 0.25, None)
    assert any("Figure 4 needs" in sentence for sentence in data.missing)


def test_that_what_cannot_be_drawn_is_said() -> None:
    data = pack(answers("plain", 2))
    assert data.figures == ()
    assert len(data.missing) == 2
    assert [one.number for one in data.sections] == ["Table 1", "Table 4"]
    assert STUDY.defaults.params["arms"] == [arm.value for arm in Arm]
    assert isinstance(ITEMS[0], Item)


@pytest.mark.statement("E003-15")
def test_that_of_a_run_that_made_questions_there_are_these_and_no_figure() -> None:
    of = spec(settings={"work": "building"})
    reported = report([], of, ReportContext(dataset(ITEMS)))
    given = PackInput(reported, [], of, dataset(ITEMS), cast("Pictures", None))
    data = PACK.data(given)
    assert [table.name for table in data.tables] == ["built", "built_questions"]
    assert data.figures == ()
    assert "answered none" in data.missing[0]


class Shown:
    """The images of a run: one of 300 × 250 pixels, in grey."""

    seed = 5

    def raster(self, key: str) -> Raster:
        assert key == "a.png"
        shade = np.indices((300, 250)).sum(axis=0) % 256
        return Raster(shade.astype(np.uint8))


@pytest.mark.statement("E003-06")
def test_that_the_gallery_shows_every_kind_at_every_level_as_it_was_sent() -> None:
    asked = [replace(r, request_sha256="0") for r in answers("hue-1", 2)]
    of = spec(settings=STUDY.defaults.params)
    reported = report(asked, of, ReportContext(dataset(ITEMS)))
    given = PackInput(reported, asked, of, dataset(ITEMS), cast("Pictures", None))
    assert gallery_figure(given) is None
    figure = gallery_figure(replace(given, sources=cast("Sources", Shown())))
    assert figure is not None
    assert len(figure.tiles) == 8 * 6
    assert {tile.picture.shape for tile in figure.tiles} == {(192, 192, 3)}
    hashes = {tile.cell for tile in figure.tiles}
    assert len(hashes) > 20
    raster = Shown().raster("a.png")
    blurred = next(
        t for t in figure.tiles if (t.kind, t.finding) == ("motion", "level 3")
    )
    whole = corrupt(raster, Corruption.MOTION, 3, 5)
    assert blurred.cell == pixels_sha256(whole)[:8]
    assert np.array_equal(blurred.picture, whole.pixels[54:246, 29:221])
    assert gallery_figure(replace(given, results=answers("plain", 2))) is None
