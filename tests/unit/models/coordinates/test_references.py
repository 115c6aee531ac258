"""The parsers against the post-processing that transformers ships, where it does."""

import random
from typing import Protocol

import pytest

from viewer.domain.geometry import BoxPx, PolygonPx, SizePx
from viewer.domain.places import Place, PlacesReading
from viewer.models.coordinates.conventions import CONVENTIONS
from viewer.models.coordinates.frame import Frame

_SIZE = (799, 641)
_FRAME = Frame.of_sent(SizePx(_SIZE[1], _SIZE[0]))


def _box(place: Place) -> list[float]:
    assert isinstance(place.shape, BoxPx)
    return [place.shape.x0, place.shape.y0, place.shape.x1, place.shape.y1]


def _read(name: str, text: str) -> PlacesReading:
    return CONVENTIONS[name].read(text, _FRAME)


class FlorenceReader(Protocol):
    """What is used of transformers' Florence2PostProcessor."""

    def parse_description_with_bboxes_from_text_and_spans(
        self, text: str, image_size: tuple[int, int]
    ) -> list[dict[str, object]]: ...

    def parse_description_with_polygons_from_text_and_spans(
        self, text: str, image_size: tuple[int, int]
    ) -> list[dict[str, object]]: ...


@pytest.fixture(scope="module")
def florence() -> FlorenceReader:
    """Transformers' own reader of Florence-2's text; it needs no tokenizer for that."""
    pytest.importorskip("torch", reason="needs torch (the extra local)")
    module = pytest.importorskip(
        "transformers.models.florence2.processing_florence2",
        reason="needs transformers (the extra local)",
    )

    class NoTokenizer:
        all_special_tokens: tuple[str, ...] = ()

    reader: FlorenceReader = module.Florence2PostProcessor({}, NoTokenizer())
    return reader


def _ordered_bins(rng: random.Random) -> list[int]:
    xs, ys = sorted(rng.sample(range(1000), 2)), sorted(rng.sample(range(1000), 2))
    return [xs[0], ys[0], xs[1], ys[1]]


def test_that_florence_boxes_are_those_of_transformers(
    florence: FlorenceReader,
) -> None:
    rng = random.Random(0)
    for _ in range(100):
        groups = [[_ordered_bins(rng) for _ in range(rng.randint(1, 3))] for _ in "ab"]
        text = "".join(
            f"finding {i}" + "".join(f"<loc_{n}>" for box in group for n in box)
            for i, group in enumerate(groups)
        )
        theirs = florence.parse_description_with_bboxes_from_text_and_spans(text, _SIZE)
        ours = _read("florence2", text).places
        assert [p.label for p in ours] == [t["cat_name"] for t in theirs]
        for place, their in zip(ours, theirs, strict=True):
            assert [int(n) for n in _box(place)] == their["bbox"]


def test_that_florence_outlines_are_those_of_transformers(
    florence: FlorenceReader,
) -> None:
    rng = random.Random(1)
    for _ in range(100):
        bins = [rng.randrange(1000) for _ in range(2 * rng.randint(3, 9))]
        text = "lung<poly>" + "".join(f"<loc_{n}>" for n in bins) + "</poly>"
        theirs = florence.parse_description_with_polygons_from_text_and_spans(
            text, _SIZE
        )
        place = _read("florence2", text).places[0]
        assert isinstance(place.shape, PolygonPx)
        ours = [int(n) for p in place.shape.points for n in (p.x, p.y)]
        assert theirs == [{"cat_name": "lung", "polygons": [ours]}]


def test_that_kosmos_boxes_are_those_of_transformers() -> None:
    kosmos = pytest.importorskip(
        "transformers.models.kosmos2.processing_kosmos2",
        reason="needs transformers (the extra local)",
    )
    rng = random.Random(2)
    width, height = _SIZE
    for _ in range(200):
        pairs = [sorted(rng.sample(range(1024), 2)) for _ in range(rng.randint(1, 3))]
        joined = "</delimiter_of_multi_objects/>".join(
            f"<patch_index_{a:04}><patch_index_{b:04}>" for a, b in pairs
        )
        text = f"<grounding> We see<phrase> a mass</phrase><object>{joined}</object>."
        _, entities = kosmos.clean_text_and_extract_entities_with_bboxes(text)
        ours = _read("kosmos2", text).places
        assert {place.label for place in ours} == {entities[0][0]}
        for place, (x0, y0, x1, y1) in zip(ours, entities[0][2], strict=True):
            their = [min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)]
            expected = [n * s for n, s in zip(their, (width, height) * 2, strict=True)]
            assert _box(place) == pytest.approx(expected)


def test_that_kosmos_patches_are_written_as_transformers_writes_them() -> None:
    kosmos = pytest.importorskip(
        "transformers.models.kosmos2.processing_kosmos2",
        reason="needs transformers (the extra local)",
    )
    rng = random.Random(3)
    width, height = _SIZE
    for _ in range(200):
        x0, x1 = sorted(rng.uniform(0, width) for _ in range(2))
        y0, y1 = sorted(rng.uniform(0, height) for _ in range(2))
        box = (x0 / width, y0 / height, x1 / width, y1 / height)
        upper_left, lower_right = kosmos.coordinate_to_patch_index(box, 32)
        text = CONVENTIONS["kosmos2"].write([Place(BoxPx(x0, y0, x1, y1))], _FRAME)
        assert f"<patch_index_{upper_left:04}><patch_index_{lower_right:04}>" in text


def test_that_maira_boxes_are_moved_back_from_the_centre_crop() -> None:
    """The rule of MAIRA-2's processor: shorter side, offset rounded down."""
    width, height = _SIZE
    side, offset = min(_SIZE), (width - min(_SIZE)) // 2
    rng = random.Random(4)
    for _ in range(100):
        x0, x1 = sorted(rng.sample(range(100), 2))
        y0, y1 = sorted(rng.sample(range(100), 2))
        text = f"<obj>effusion <box><x{x0}><y{y0}><x{x1}><y{y1}></box></obj>"
        expected = [
            (x0 + 0.5) / 100 * side + offset,
            (y0 + 0.5) / 100 * side,
            (x1 + 0.5) / 100 * side + offset,
            (y1 + 0.5) / 100 * side,
        ]
        assert _box(_read("maira2", text).places[0]) == pytest.approx(expected)
    assert height == side
