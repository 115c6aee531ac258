"""The data of the paper's figures, against counting by hand."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from tests.helpers.reviewed_run import dataset as reviewed_dataset
from tests.helpers.reviewed_run import images
from tests.helpers.small_store import a_dataset
from tests.unit.studies.grid_localization.runs import random_run, result
from viewer.domain.answer import Status
from viewer.domain.case import Dataset
from viewer.domain.errors import UnreadableInputError
from viewer.domain.figure import HeatPanel
from viewer.domain.grid import Grid
from viewer.domain.result import Outcome, TrialResult
from viewer.domain.run import RunSpec
from viewer.studies.grid_localization.benchmark import unlike_paper
from viewer.studies.grid_localization.errors_by_class import CLASSES, error_classes
from viewer.studies.grid_localization.figures_examples import gallery, method_strip
from viewer.studies.grid_localization.figures_heat import (
    ReferenceHeat,
    heat_maps,
    mean_image,
)
from viewer.studies.grid_localization.figures_rates import (
    CHANCE,
    MEAN,
    grid_sizes,
    hit_rates,
)
from viewer.studies.grid_localization.figures_stacks import AVERAGE, class_figure
from viewer.studies.grid_localization.pack import PACK
from viewer.studies.grid_localization.pack_tables import rates_of
from viewer.studies.grid_localization.published import SPLIT_SIZES
from viewer.studies.grid_localization.rates import Record
from viewer.studies.grid_localization.report import report
from viewer.studies.packs import PackInput, Reviewed, Reviews

SIDE = 64


class MadeUp:
    """Pictures that are drawn from an image's name."""

    def sent(self, image: str, condition: str) -> npt.NDArray[np.uint8]:
        """Return noise of the image's own."""
        del condition
        rng = np.random.default_rng(sum(image.encode()))
        return rng.integers(10, 200, (SIDE, SIDE), dtype=np.uint8)

    def gridded(self, image: str, condition: str) -> npt.NDArray[np.uint8]:
        """Return the same in colour."""
        return np.stack([self.sent(image, condition)] * 3, axis=-1)

    def native(self, image: str, most: int) -> npt.NDArray[np.uint8]:
        """Return the same, as small as asked."""
        return self.sent(image, "")[:most, :most]

    def mask(self, image: str, finding: str) -> npt.NDArray[np.bool_]:
        """Return a rectangle of the image's own."""
        mask = np.zeros((SIDE, SIDE), dtype=bool)
        mask[: 1 + len(finding), sum(image.encode()) % 32 :] = True
        return mask

    def prompt(self, result: TrialResult) -> str:
        """Return a question."""
        return f"Where is {result.finding}?"


def grid_of(condition: str) -> Grid:
    n = int(condition.removeprefix("grid="))
    return Grid(n, n)


@pytest.fixture(scope="module")
def records() -> Sequence[Record]:
    results, spec = random_run()
    return rates_of(report(results, spec)).records()


@pytest.mark.statement("E000-28")
def test_that_findings_are_ordered_by_the_relative_difference_of_two_series(
    records: Sequence[Record],
) -> None:
    rates = {
        (str(r["finding"]), str(r["model"])): r["hit_rate"]
        for r in records
        if r["view"] == "all" and r["grid"] == "8"
    }
    chance = {
        str(r["finding"]): r["random_baseline"]
        for r in records
        if r["view"] == "all" and r["grid"] == "8"
    }
    figure = hit_rates(records, "8", ("a", CHANCE), unlike_paper="x")
    *shown, last = figure.panels[0].groups
    assert last == MEAN
    differences = [
        (float(str(rates[f, "a"])) - float(str(chance[f]))) / float(str(chance[f]))
        for f in shown
    ]
    assert differences == sorted(differences, reverse=True)
    bars = figure.panels[0].series[0]
    assert [bars.values[i] for i, _ in enumerate(shown)] == [
        rates[f, "a"] for f in shown
    ]


def test_that_nothing_to_divide_by_puts_a_finding_last(
    records: Sequence[Record],
) -> None:
    first = next(str(r["finding"]) for r in records)
    zero = [
        {**r, "hit_rate": 0.0}
        if (r["finding"], r["model"]) == (first, "constant")
        else {**r, "hit_rate": 0.4}
        for r in records
    ]
    figure = hit_rates(zero, "8", ("a", "constant"), unlike_paper="x")
    assert figure.panels[0].groups[-2] == first


@pytest.mark.statement("X-05")
def test_that_printed_values_stand_beside_the_papers_grid_alone(
    records: Sequence[Record],
) -> None:
    with_marks = hit_rates(records, "8", None, unlike_paper="")
    assert {m.group for m in with_marks.panels[0].published} == {"Cardiomegaly", MEAN}
    for grid, unlike in (("16", ""), ("8", "the run is not complete")):
        figure = hit_rates(records, grid, None, unlike_paper=unlike)
        assert figure.panels[0].published == ()
        told = "Without the paper's values: the run is not complete."
        assert (told in figure.head.caption) is bool(unlike)


def test_that_only_a_run_like_the_papers_has_its_values_beside_it() -> None:
    small, spec = reviewed_dataset(3), a_spec()
    assert unlike_paper(small, spec, incomplete=True) == "the run is not complete"
    of_others = "the images are not those of CheXlocalize's test set"
    assert unlike_paper(small, spec, incomplete=False) == of_others
    part = replace(whole_test_set(), images=whole_test_set().images[:-1])
    assert unlike_paper(part, spec, incomplete=False) == of_others
    assert unlike_paper(whole_test_set(), spec, incomplete=False) == ""
    exact = a_spec(mask_mode="exact")
    told = unlike_paper(whole_test_set(), exact, incomplete=False)
    assert told == "different from the paper's: mask mode"
    limited = replace(spec, limit=9)
    told = unlike_paper(whole_test_set(), limited, incomplete=False)
    assert told == "only the first 9 were asked"


def a_spec(**params: object) -> RunSpec:
    about = "grid_localization", "d", "gosai2025", 0, 1
    return RunSpec(*about, (), params)


def whole_test_set() -> Dataset:
    """Return 668 images of the 500 patients that the published test split has."""
    (image,) = images(1, laterals=0)
    patients = [f"patient{n}" for n in range(64741, 65241)]
    named = [*patients, *patients[: SPLIT_SIZES["test"][0] - len(patients)]]
    made = tuple(replace(image, key=f"{i}", patient=p) for i, p in enumerate(named))
    return replace(reviewed_dataset(1), images=made)


def test_that_grid_sizes_need_two_grids(records: Sequence[Record]) -> None:
    figure = grid_sizes(records)
    assert figure is not None
    assert [panel.title for panel in figure.panels] == ["a", "constant"]
    names = [series.name for series in figure.panels[0].series]
    assert names == ["8 × 8 grid", "16 × 16 grid"]
    assert grid_sizes([r for r in records if r["grid"] == "8"]) is None


def class_rows(results: Sequence[TrialResult], reviews: Reviews) -> list[Record]:
    return [*error_classes(results, reviews).records()]


@pytest.mark.statement("E000-24", "E000-27")
def test_that_every_frontal_trial_is_in_one_class_and_readers_split_the_misses() -> (
    None
):
    results = [
        result("p1_f", "Edema", 3, (3,)),
        replace_outcome(result("p2_f", "Edema", 3, (3,)), Outcome.FULL_FALLBACK),
        replace_outcome(result("p3_f", "Edema", 4, (3,)), Outcome.PARTIAL),
        *(result(f"p{i}_f", "Edema", 9, (3,)) for i in range(4, 9)),
        result("p9_f", "Edema", None, (3,)),
        result("p9_l", "Edema", 9, (3,), view="lateral"),
    ]
    (row,) = class_rows(results, {})
    assert {name: row[name] for name in CLASSES} == {
        "full": 2,
        "partial": 1,
        "position": 0,
        "anatomy": 0,
        "unsure": 0,
        "not_reviewed": 5,
        "no_answer": 1,
    }
    (read,) = class_rows(results, {("m", "Edema"): Reviewed(2.5, 1, 1, 0.5)})
    counts = [read[name] for name in CLASSES]
    assert (read["n"], sum(counts)) == (9, 9)
    assert counts == [2, 1.5, 2.5, 1, 1, 0, 1]


@pytest.mark.statement("E000-27")
def test_that_averages_weigh_findings_alike() -> None:
    results = [
        result("p1_f", "Edema", 3, (3,)),
        result("p1_f", "Cardiomegaly", 9, (3,)),
        result("p2_f", "Cardiomegaly", 9, (3,)),
        result("p3_f", "Cardiomegaly", 9, (3,)),
    ]
    figure = class_figure(class_rows(results, {}), ("Cardiomegaly", "Edema"))
    assert figure is not None
    assert [s.group for s in figure.stacks] == ["Cardiomegaly", "Edema", AVERAGE]
    shares = dict(zip(figure.segments, figure.stacks[-1].counts, strict=True))
    assert (shares["full"], shares["not_reviewed"]) == (0.5, 0.5)


def replace_outcome(trial: TrialResult, outcome: Outcome) -> TrialResult:
    return replace(trial, score=replace(trial.score, outcome=outcome))


@pytest.mark.statement("E000-28")
def test_that_heat_maps_are_what_counting_cells_and_averaging_masks_gives() -> None:
    results, _ = random_run()
    figures = heat_maps(results, MadeUp())
    panels = [panel for figure in figures for panel in figure.panels]
    for panel in panels:
        mine = [
            r
            for r in results
            if (r.finding, r.view, r.condition) == (panel.row, "frontal", "grid=8")
        ]
        if panel.column == "Reference":
            check_mean_mask(panel, mine)
        else:
            said = [r.placed.cell_index for r in mine if r.model == panel.column]
            cells = [cell for cell in said if cell is not None]
            counted = [cells.count(i) / len(cells) for i in range(64)]
            assert panel.values.ravel().tolist() == pytest.approx(counted)
            assert panel.n == len(cells)
    assert len({p.row for p in panels}) == 3
    assert figures[0].greatest == max(p.values.max() for p in figures[0].panels)


def check_mean_mask(panel: HeatPanel, results: Sequence[TrialResult]) -> None:
    images = {r.image for r in results}
    total = sum(MadeUp().mask(i, panel.row).astype(float) for i in images)
    # at 64 × 64 an element is a pixel
    np.testing.assert_allclose(panel.values, total / len(images), atol=1e-12)
    assert panel.n == len(images)


def test_that_the_reference_can_show_how_often_cells_qualify() -> None:
    results = [
        result("p1_f", "Edema", 0, (3, 4)),
        result("p2_f", "Edema", 0, (4,)),
    ]
    (figure,) = heat_maps(results, MadeUp(), ReferenceHeat.CELLS)
    reference = figure.panels[0].values.ravel()
    assert {i: v for i, v in enumerate(reference) if v} == {3: 0.5, 4: 1.0}


@pytest.mark.statement("E000-28")
def test_that_each_image_is_stretched_before_the_mean_is_taken() -> None:
    pictures = MadeUp()
    images = ["p1", "p2", "p1"]
    wanted = np.zeros((SIDE, SIDE))
    for image in ("p1", "p2"):
        pixels = pictures.sent(image, "").astype(float)
        wanted += (pixels - pixels.min()) / (pixels.max() - pixels.min()) / 2
    got = mean_image(images, "grid=8", pictures)
    np.testing.assert_allclose(got, wanted, atol=1e-12)


@pytest.mark.statement("E000-28")
def test_that_examples_are_drawn_by_lot_and_the_same_each_time() -> None:
    results, _ = random_run()
    first = gallery(results, 0, MadeUp(), grid_of)
    again = gallery(results[:1] + results[:0:-1], 0, MadeUp(), grid_of)
    other = gallery(results, 1, MadeUp(), grid_of)
    assert first is not None
    assert again is not None
    assert other is not None
    names = [(t.item, t.model) for t in first.tiles]
    assert names == [(t.item, t.model) for t in again.tiles]
    assert names != [(t.item, t.model) for t in other.tiles]
    hits = [t for t in first.tiles if t.kind == "Full hit"]
    assert len({t.finding for t in hits}) == 3  # of four, as many as there are
    assert all(t.picture.shape == (SIDE, SIDE, 3) for t in first.tiles)


@pytest.mark.statement("E000-24", "E000-28")
def test_that_misses_stand_in_the_class_that_readers_gave_them() -> None:
    results = [result(f"p{i}_f", "Edema", 9, (3,)) for i in range(4)]
    said = {("p0_f|Edema", "m"): "anatomy", ("p1_f|Edema", "m"): "position"}
    figure = gallery(results, 0, MadeUp(), grid_of, said)
    assert figure is not None
    kinds = {tile.item: tile.kind for tile in figure.tiles}
    assert kinds == {
        "p0_f|Edema": "Anatomy error",
        "p1_f|Edema": "Position error",
        "p2_f|Edema": "Miss, not reviewed",
        "p3_f|Edema": "Miss, not reviewed",
    }


def test_that_the_strip_shows_a_frontal_hit_of_the_first_grid() -> None:
    results, _ = random_run()
    strip = method_strip(results, 0, MadeUp(), grid_of)
    assert strip is not None
    words = {step.title: step.words for step in strip.steps}
    assert words["Grid"] == "8 × 8 grid"
    assert words["Score"].endswith("a hit")
    assert words["Question"].startswith("Where is")
    assert "in the model's colour: the answered cell" in strip.head.caption


@pytest.mark.statement("E000-32")
def test_that_questions_about_absent_findings_are_no_part_of_the_pack() -> None:
    results, spec = random_run()
    absent = [replace(r, condition=f"{r.condition} absent") for r in results]
    made = [
        PACK.data(PackInput(report(results, spec), some, spec, a_dataset(), MadeUp()))
        for some in (results, [*results, *absent])
    ]
    assert made[0].tables == made[1].tables
    assert len(made[0].figures) == len(made[1].figures) == 9


class Gone(MadeUp):
    """Pictures of images that are no longer there."""

    def sent(self, image: str, condition: str) -> npt.NDArray[np.uint8]:
        """Raise what a missing file raises."""
        del condition
        raise UnreadableInputError(f"{image} cannot be read.", "Look for it.")

    def gridded(self, image: str, condition: str) -> npt.NDArray[np.uint8]:
        """Raise it too."""
        return self.sent(image, condition)


def test_that_figures_of_numbers_remain_where_an_image_is_gone() -> None:
    results, spec = random_run()
    given = PackInput(report(results, spec), results, spec, a_dataset(), Gone())
    data = PACK.data(given)
    numbers = [figure.head.number for figure in data.figures]
    assert numbers == ["Figure 2", "Figure 2", "Figure 3", "Figure 6", "Figure 10"]
    assert data.missing
    assert all("cannot be read. Look for it." in words for words in data.missing)


def test_that_an_image_that_could_not_be_read_is_not_looked_at_again() -> None:
    excluded = [
        result("gone_f", "Edema", None, (3,), status=Status.EXCLUDED),
        result("p1_f", "Edema", 3, (3,)),
    ]
    looked: list[str] = []

    class Watched(MadeUp):
        def sent(self, image: str, condition: str) -> npt.NDArray[np.uint8]:
            looked.append(image)
            return super().sent(image, condition)

    (figure,) = heat_maps(excluded, Watched())
    assert set(looked) == {"p1_f"}
    assert figure.panels[0].n == 1


def test_that_a_run_without_any_answer_has_no_pictures() -> None:
    silent = [result("p1_f", "Edema", None, (3,))]
    assert method_strip(silent, 0, MadeUp(), grid_of) is None
    assert gallery(silent, 0, MadeUp(), grid_of) is None
    (figure,) = heat_maps(silent, MadeUp())
    assert figure.panels[1].n == 0
    assert heat_maps([], MadeUp()) == ()
    assert class_figure(class_rows([], {}), ()) is None
