"""The sham that is as visibly pasted as the edit that it is held against (E002-11)."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from scipy.ndimage import gaussian_filter

from tests.helpers.public_files import shared_data
from viewer.domain.image import Raster
from viewer.imaging.blending import Blend, Composite, Pasting, Region, composite
from viewer.imaging.seams import seam_of, shifted_sham
from viewer.studies.grounded_vqa.arms import conditions
from viewer.studies.grounded_vqa.params import Params
from viewer.studies.grounded_vqa.visual import Arm

HOW = (Pasting(), Pasting(Blend.HARD), Pasting(match_histogram=True))
Bytes = npt.NDArray[np.uint8]


def smooth(seed: int, low: int, high: int, side: int = 64) -> Bytes:
    noise = gaussian_filter(np.random.default_rng(seed).normal(size=(side, side)), 3)
    scaled = (noise - noise.min()) / np.ptp(noise)
    return np.asarray(low + scaled * (high - low), dtype=np.uint8)


def ellipse(seed: int, side: int = 64) -> npt.NDArray[np.bool_]:
    rows, columns = np.random.default_rng(seed).uniform(10, 24, 2)
    y, x = np.mgrid[:side, :side] - side / 2
    return np.asarray((y / rows) ** 2 + (x / columns) ** 2 < 1)


def region(seed: int, low: int = 40, high: int = 180) -> Region:
    return Region(Raster(smooth(seed, low, high)), ellipse(seed))


def changes(target: Region, made: Composite, how: Pasting) -> tuple[float, float]:
    """Return the mean absolute change in grey levels at the seam, and inside."""
    change = np.abs(made.raster.pixels.astype(int) - target.raster.pixels)
    seam = seam_of(made.pasted, how.sigma(target.box))
    return float(change[seam].mean()), float(change[made.pasted].mean())


@pytest.mark.statement("E002-11")
@pytest.mark.parametrize("how", HOW)
def test_that_the_sham_changes_as_much_at_the_seam_as_each_donor(how: Pasting) -> None:
    for seed in range(12):
        target, donor = region(seed), region(seed + 100, low=90, high=250)
        edit, sham = composite(target, donor, how), shifted_sham(target, donor, how)
        assert (sham.pasted == edit.pasted).all()
        wanted, _ = changes(target, edit, how)
        assert wanted > 3
        assert changes(target, sham, how)[0] == pytest.approx(wanted, abs=0.6)


@pytest.mark.statement("E002-11")
def test_that_the_sham_keeps_what_its_region_shows() -> None:
    how = Pasting(Blend.HARD)
    for low, high, way in ((20, 120, -1), (130, 230, 1)):
        target, donor = region(1, low=120, high=180), region(2, low=low, high=high)
        sham = shifted_sham(target, donor, how)
        own = target.raster.pixels.astype(int)
        moved = sham.raster.pixels - own
        (shift,) = set(moved[sham.pasted].tolist())
        assert shift * way > 0, "as the donor's"
        assert not moved[~sham.pasted].any()


@pytest.mark.statement("E002-11")
def test_that_a_shift_turns_round_where_it_would_cut_grey_values_off() -> None:
    how = Pasting(Blend.HARD)
    target, donor = region(1, low=60, high=120), region(2, low=0, high=20)
    sham = shifted_sham(target, donor, how)
    own = target.raster.pixels.astype(int)
    moved = (sham.raster.pixels - own)[sham.pasted]
    assert moved.min() == moved.max() > 0
    wanted = changes(target, composite(target, donor, how), how)[0]
    assert changes(target, sham, how)[0] == pytest.approx(wanted, abs=0.6)


@pytest.mark.statement("E002-11")
def test_that_a_sham_of_a_colour_image_moves_its_channels_alike() -> None:
    grey, donor = region(6), region(7, low=120, high=250)
    colour = Region(Raster(np.repeat(grey.raster.pixels[..., None], 3, 2)), grey.mask)
    made = shifted_sham(colour, donor).raster.pixels
    assert (made == shifted_sham(grey, donor).raster.pixels[..., None]).all()


@pytest.mark.statement("E002-11")
def test_that_shams_of_real_radiographs_are_as_visible_as_donors() -> None:
    lungs = list(real_lungs())
    assert len(lungs) >= 10
    how, seams, insides = Pasting(), [], []
    for target, donor in pairwise(lungs):
        edit, sham = composite(target, donor, how), shifted_sham(target, donor, how)
        (seam, inside), (own_seam, own_inside) = (
            changes(target, made, how) for made in (edit, sham)
        )
        seams.append((seam, own_seam))
        insides.append((inside, own_inside))
    assert all(own == pytest.approx(donor, abs=0.6) for donor, own in seams)
    donor, own = np.mean(insides, axis=0)
    assert donor > 10
    assert own == pytest.approx(donor, rel=0.2)


def real_lungs(side: int = 160) -> Iterator[Region]:
    """Yield both lungs of each radiograph as one region."""
    folder = shared_data("cxr")
    for path in sorted((folder / "images").iterdir()):
        mask = folder / "lung_masks" / f"{path.stem}_lungmask.png"
        if mask.exists():
            small = [
                Image.open(one).convert("L").resize((side, side))
                for one in (path, mask)
            ]
            pixels, lungs = (np.asarray(one) for one in small)
            yield Region(Raster(pixels.copy()), np.asarray(lungs > 127))


@pytest.mark.statement("E002-11")
def test_that_no_sham_is_asked_that_the_blending_would_undo() -> None:
    names = {
        blend: {one.name for one in conditions(Params(blend=blend, arms=("vpt",)))}
        for blend in Blend
    }
    assert names[Blend.ALPHA] == names[Blend.HARD] == {str(arm) for arm in Arm}
    assert names[Blend.POISSON] == {Arm.DONOR.value, Arm.SAME.value}
