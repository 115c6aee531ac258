import numpy as np
import numpy.typing as npt
import pytest
from scipy import ndimage

from viewer.domain.geometry import SizePx
from viewer.services.synthetic.phantom.tissue_picture import picture
from viewer.services.synthetic.phantom.tissue_questions import SUBSETS, Tile, make_tile
from viewer.services.synthetic.phantom.tissue_scene import Nucleus, Tissue, make_field

SIZE = SizePx(192, 256)
USUAL = SizePx(384, 512)


def tiles(count: int) -> list[Tile]:
    return [make_tile(3, index, SIZE) for index in range(count)]


def spots(there: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return the pixels of each connected spot."""
    labels, count = ndimage.label(there)
    return np.bincount(np.asarray(labels).ravel(), minlength=count + 1)[1:]


def test_that_the_same_seed_and_number_give_the_same_bytes() -> None:
    for tissue in Tissue:
        first = picture(make_field(1, 4, tissue, SIZE))
        again = picture(make_field(1, 4, tissue, SIZE))
        assert first.dtype == np.uint8
        assert first.shape == (192, 256, 3)
        assert np.array_equal(first, again)
    assert make_field(1, 4, Tissue.FAT, SIZE) != make_field(2, 4, Tissue.FAT, SIZE)


def test_that_nuclei_can_be_counted_in_the_picture() -> None:
    field = make_field(0, 2, Tissue.LYMPHOID, USUAL)
    red = picture(field)[..., 0].astype(float)
    dark = ndimage.gaussian_filter(red, 1) < 120
    found = int((spots(dark) > 12).sum())
    known = sum(field.counts.values())
    assert known > 200
    assert 0.97 * field.counts[Nucleus.LYMPHOCYTE] <= found <= known


def test_that_lumens_are_empty_and_as_many_as_glands() -> None:
    field = make_field(0, 0, Tissue.MUCOSA, USUAL)
    bright = ndimage.gaussian_filter(picture(field)[..., 1].astype(float), 2) > 225
    assert int((spots(bright) > 300).sum()) == len(field.glands)


def test_that_tissues_differ_in_what_they_hold() -> None:
    counts = {t: make_field(0, 1, t, USUAL).counts for t in Tissue}
    assert counts[Tissue.CARCINOMA][Nucleus.MITOSIS] >= 2
    assert counts[Tissue.MUCOSA][Nucleus.MITOSIS] == 0
    assert counts[Tissue.STROMA][Nucleus.FIBROBLAST] >= 55
    assert counts[Tissue.NECROSIS][Nucleus.EPITHELIAL] == 0
    assert make_field(0, 1, Tissue.FAT, USUAL).vacuoles


def test_that_it_is_pink_and_blue_as_sections_are() -> None:
    mean = picture(make_field(0, 1, Tissue.STROMA, SIZE)).reshape(-1, 3).mean(axis=0)
    assert mean[0] > mean[2] > mean[1]
    lymphoid = picture(make_field(0, 1, Tissue.LYMPHOID, SIZE)).reshape(-1, 3)
    darkest = lymphoid[lymphoid.sum(axis=1).argsort()[:200]].mean(axis=0)
    assert darkest[2] > darkest[0]


def test_that_every_answer_is_what_the_field_holds() -> None:
    for tile in tiles(30):
        for question in tile.questions:
            right = question.options[question.correct]
            n, mitoses = len(tile.field.glands), tile.field.counts[Nucleus.MITOSIS]
            truth = {
                "How many glands are cut across in this field?": str(n),
                "How many mitotic figures are there?": str(mitoses),
                "Are there glands in this field?": "Yes" if n else "No",
                "Which tissue does this field show?": tile.field.tissue.value,
            }
            if question.text in truth:
                assert right == truth[question.text]
            elif question.text.startswith("Which nuclei"):
                counts = tile.field.counts
                assert counts[Nucleus(right)] == max(counts.values())
            else:
                assert (right == "Present") == (mitoses > 0)
            assert question.explanation.endswith(".")
            assert len(set(question.options)) == len(question.options)


@pytest.mark.statement("E003-03")
def test_that_a_collection_has_every_subset_in_every_split_and_2_to_10_options() -> (
    None
):
    made = tiles(25)
    places = {(tile.subset, tile.split) for tile in made}
    assert places == {(s, p) for s in SUBSETS for p in ("val", "test_tiny", "test")}
    sizes = {len(q.options) for tile in made for q in tile.questions}
    assert sizes == {2, 3, 4, 5, 10}
    assert any(")" in o for t in made for q in t.questions for o in q.options)
    assert made[7] == make_tile(3, 7, SIZE)
