from dataclasses import replace
from pathlib import Path

from viewer.domain.case import Dataset, DatasetImage, ImageRef, ReferenceBox, View
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.readers.datasets.files import content_sha256
from viewer.store import cases
from viewer.store.database import open_store
from viewer.store.reference_boxes import readers_of_dataset

PLAIN = DatasetImage(
    key="b",
    patient="p",
    study="s",
    view=View.FRONTAL,
    ref=ImageRef(Path("b.png")),
    geometry=ImageGeometry(SizePx(40, 50)),
    sha256="0" * 64,
)
BOXED = replace(
    PLAIN,
    key="a",
    ref=ImageRef(Path("a.png")),
    boxes={
        "Nodule": (
            ReferenceBox(BoxPx(1.5, 2.0, 9.25, 8.0), "R2"),
            ReferenceBox(BoxPx(2.0, 2.0, 9.0, 8.0), "R1"),
        ),
        "Mass": (ReferenceBox(BoxPx(0.0, 0.0, 50.0, 40.0), "R1"),),
    },
    readers=("R1", "R2", "R3"),
)
DATASET = Dataset("d", "vindr", Path("root"), (BOXED, PLAIN), (), "f" * 64)


def test_that_boxes_and_readers_are_kept_apart_and_in_their_order(
    tmp_path: Path,
) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, DATASET)
        kept = cases.image_with_reference(store, BOXED.ref)
        assert kept is not None
        assert kept.boxes == BOXED.boxes
        assert list(kept.boxes) == ["Nodule", "Mass"]
        assert kept.readers == ("R1", "R2", "R3")
        assert cases.image_with_reference(store, PLAIN.ref) == PLAIN
        assert cases.image_with_reference(store, ImageRef(Path("c.png"))) is None


def test_that_a_moved_box_and_another_reader_are_another_content() -> None:
    moved = replace(BOXED, boxes={**BOXED.boxes, "Mass": ()})
    unread = replace(BOXED, readers=("R1", "R2"))
    hashes = {content_sha256([image]) for image in (BOXED, moved, unread, PLAIN)}
    assert len(hashes) == 4


def test_that_a_data_set_without_boxes_keeps_the_name_of_its_content() -> None:
    known = "2e23b5080c837e10"
    assert content_sha256([PLAIN]).startswith(known)


def test_that_the_readers_of_a_data_set_are_those_who_drew_or_read(
    tmp_path: Path,
) -> None:
    nameless = replace(
        PLAIN, boxes={"Mass": (ReferenceBox(BoxPx(0, 0, 5, 5)),)}, readers=()
    )
    drawn = replace(BOXED, readers=("R3",))
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, replace(DATASET, images=(drawn, nameless)))
        other = replace(BOXED, key="c", readers=("R4",))
        cases.add_dataset(store, replace(DATASET, name="e", images=(other,)))
        assert readers_of_dataset(store, "d") == ("R1", "R2", "R3")
        assert readers_of_dataset(store, "unknown") == ()
