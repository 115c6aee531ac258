"""The asymmetry baseline: weak, but it looks at the pixels."""

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from sklearn.metrics import roc_auc_score

from tests.helpers.public_files import shared_data
from tests.helpers.requests import facts, request
from viewer.domain.exchange import Facts, ModelProfile
from viewer.domain.grid import Grid
from viewer.domain.image import Raster
from viewer.models import asymmetry
from viewer.models.catalog import adapter_for


def chest(side: int = 256) -> npt.NDArray[np.uint8]:
    """Return a symmetrical grey drawing: a bright body with two dark lungs."""
    y, x = np.mgrid[:side, :side] / (side - 1)
    image = np.full((side, side), 150.0)
    image[np.abs(x - 0.5) > 0.47] = 0
    for centre in (0.28, 0.72):
        image[((x - centre) / 0.15) ** 2 + ((y - 0.45) / 0.28) ** 2 < 1] = 60
    rng = np.random.default_rng(0)
    return np.clip(image + rng.normal(0, 3, image.shape), 0, 255).astype(np.uint8)


def opaque(image: npt.NDArray[np.uint8], x: float, y: float) -> Facts:
    """Return facts of the image with a round opacity at fractions x, y of it."""
    n = image.shape[0]
    rows, columns = np.mgrid[:n, :n] / (n - 1)
    spot = (columns - x) ** 2 + (rows - y) ** 2 < 0.05**2
    return facts(plain=Raster(np.where(spot, 140, image).astype(np.uint8)))


def answer(about: Facts) -> str:
    adapter = adapter_for(ModelProfile("asymmetry", "asymmetry"))
    return adapter.read(adapter.generate(request(about, png=b"png"))).text


@pytest.mark.parametrize(
    ("x", "y", "cell"),
    [(0.31, 0.56, "E3"), (0.69, 0.56, "E6"), (0.31, 0.31, "C3"), (0.69, 0.31, "C6")],
)
def test_that_a_one_sided_opacity_is_found(x: float, y: float, cell: str) -> None:
    assert answer(opaque(chest(), x, y)) == cell


def test_that_colour_and_size_of_the_raster_do_not_matter() -> None:
    about = opaque(chest(512), 0.31, 0.56)
    colour = facts(plain=Raster(np.stack([about.plain.pixels] * 3, axis=-1)))
    assert answer(about) == answer(colour) == "E3"


def test_that_a_lateral_is_judged_by_contrast_alone() -> None:
    image = np.full((256, 256), 100, np.uint8)
    image[135:155, 100:120] = 220
    assert answer(facts(plain=Raster(image), view="lateral")) == "E4"


@pytest.mark.parametrize("level", [0, 128, 255])
@pytest.mark.parametrize("view", ["frontal", "lateral", "unknown"])
def test_that_a_flat_image_gives_the_middle_cell_and_says_so(
    level: int, view: str
) -> None:
    flat = Raster(np.full((40, 50), level, np.uint8))
    adapter = adapter_for(ModelProfile("asymmetry", "asymmetry"))
    reply = adapter.read(adapter.generate(request(facts(plain=flat, view=view))))
    assert reply.text == "E5"
    assert "nothing stands out" in reply.note


@pytest.mark.parametrize("shape", [(1, 1), (3, 300), (300, 3), (27, 26), (128, 129)])
def test_that_any_size_and_grid_gets_an_answer_within_the_grid(
    shape: tuple[int, int],
) -> None:
    rng = np.random.default_rng(1)
    noise = Raster(rng.integers(0, 256, shape, dtype=np.uint8))
    grid = Grid(26, 5)
    labels = {grid.label(cell) for cell in grid.cells()}
    assert answer(facts(plain=noise, rows=26, columns=5)) in labels


def test_that_the_note_says_how_weak_it_is() -> None:
    adapter = adapter_for(ModelProfile("asymmetry", "asymmetry"))
    assert "Weak baseline" in adapter.read(adapter.generate(request())).note


def test_that_cell_means_equal_brute_force() -> None:
    rng = np.random.default_rng(2)
    score = rng.random((128, 128))
    grid = Grid(7, 26)
    means = asymmetry.cell_means(score, grid)
    for row in range(7):
        for column in range(26):
            block = score[
                row * 128 // 7 : (row + 1) * 128 // 7,
                column * 128 // 26 : (column + 1) * 128 // 26,
            ]
            assert means[row, column] == pytest.approx(block.mean())


def test_that_otsu_parts_two_levels_where_they_part_best() -> None:
    rng = np.random.default_rng(3)
    image = np.concatenate([rng.normal(0.2, 0.05, 700), rng.normal(0.8, 0.05, 300)])
    cut = asymmetry.otsu(image)
    between = [
        image[image < t].var() * (image < t).mean()
        + image[image >= t].var() * (image >= t).mean()
        for t in np.linspace(0.1, 0.9, 801)
    ]
    best = min(between)
    within = image[image < cut].var() * (image < cut).mean()
    within += image[image >= cut].var() * (image >= cut).mean()
    assert within == pytest.approx(best, rel=1e-3)


def test_that_mirroring_about_the_axis_twice_gives_the_image_back() -> None:
    image = np.arange(128.0 * 128).reshape(128, 128)
    twice = asymmetry.mirror(asymmetry.mirror(image, 127), 127)
    assert np.array_equal(twice, image)


@pytest.mark.data
def test_that_the_lung_field_covers_real_lungs_better_than_chance() -> None:
    folder = shared_data("cxr")
    dice = []
    for path in sorted((folder / "images").glob("*.jpg"))[:8]:
        film = np.asarray(Image.open(path).convert("L").resize((256, 256)))
        truth_path = folder / "lung_masks" / f"{path.stem}_lungmask.png"
        truth = np.asarray(Image.open(truth_path).resize((128, 128), 0)) == 255
        field = asymmetry.lung_field(asymmetry.reduced(film))
        dice.append(2 * (field & truth).sum() / (field.sum() + truth.sum()))
        assert roc_auc_score(truth.ravel(), field.ravel()) > 0.6
    assert np.median(dice) > 0.7
