"""Reference boxes of a data set's images, and who read them."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from viewer.domain.case import DatasetImage, ReferenceBox
from viewer.domain.finding_names import ByFinding
from viewer.domain.geometry import BoxPx
from viewer.store.database import Row, Store


@dataclass(frozen=True)
class Boxes:
    """One image's boxes by finding, and its readers."""

    boxes: Mapping[str, tuple[ReferenceBox, ...]] = field(default_factory=dict)
    readers: tuple[str, ...] = ()


NO_BOXES: Final = Boxes()


def add_boxes(store: Store, image_id: int, image: DatasetImage) -> None:
    """Keep an image's boxes and readers; inside a transaction."""
    listed = [(name, box) for name, of in image.boxes.items() for box in of]
    store.execute_many(
        "INSERT INTO reference_box (image_id, position, finding, reader, x0, y0, x1,"
        " y1) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (image_id, i, name, b.reader, b.box.x0, b.box.y0, b.box.x1, b.box.y1)
            for i, (name, b) in enumerate(listed)
        ],
    )
    store.execute_many(
        "INSERT INTO image_reader (image_id, position, reader) VALUES (?, ?, ?)",
        [(image_id, i, reader) for i, reader in enumerate(image.readers)],
    )


def boxes_of_dataset(store: Store, dataset_id: int) -> dict[int, Boxes]:
    """Return the boxes and readers of every image that has some, by image row."""
    return _grouped(store, "i.dataset_id = ?", (dataset_id,))


def boxes_of_image(store: Store, image_id: int) -> Boxes:
    """Return the boxes and readers of one image row."""
    boxes = _grouped(store, "i.id = ?", (image_id,))
    return boxes.get(image_id, NO_BOXES)


def readers_of_dataset(store: Store, name: str) -> tuple[str, ...]:
    """Return who read or drew a box on any image of a data set, by name."""
    rows = store.rows(
        "SELECT t.reader FROM (SELECT image_id, reader FROM image_reader"
        " UNION SELECT image_id, reader FROM reference_box) t"
        " JOIN image i ON i.id = t.image_id JOIN dataset d ON d.id = i.dataset_id"
        " WHERE d.name = ? AND t.reader != '' GROUP BY t.reader ORDER BY t.reader",
        (name,),
    )
    return tuple(row["reader"] for row in rows)


def _grouped(
    store: Store, condition: str, parameters: tuple[object, ...]
) -> dict[int, Boxes]:
    boxes: dict[int, dict[str, list[ReferenceBox]]] = defaultdict(dict)
    readers: dict[int, list[str]] = defaultdict(list)
    for row in _rows(store, "reference_box", condition, parameters):
        of_finding = boxes[row["image_id"]].setdefault(row["finding"], [])
        box = BoxPx(row["x0"], row["y0"], row["x1"], row["y1"])
        of_finding.append(ReferenceBox(box, row["reader"]))
    for row in _rows(store, "image_reader", condition, parameters):
        readers[row["image_id"]].append(row["reader"])
    return {
        image: Boxes(
            ByFinding({n: tuple(of) for n, of in boxes.get(image, {}).items()}),
            tuple(readers.get(image, ())),
        )
        for image in {*boxes, *readers}
    }


def _rows(
    store: Store, table: str, condition: str, parameters: tuple[object, ...]
) -> list[Row]:
    return store.rows(
        f"SELECT t.* FROM {table} t JOIN image i ON i.id = t.image_id"  # noqa: S608 - our own names
        f" WHERE {condition} ORDER BY t.image_id, t.position",
        parameters,
    )
