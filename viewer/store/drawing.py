"""What data sets have for drawing questions: anatomies and boxes."""

from dataclasses import dataclass

from viewer.store.database import Store


@dataclass(frozen=True, slots=True)
class DrawingMaterial:
    """How many images of a data set have an anatomy mask, and how many a box.

    ``items`` is the number of questions it already has.
    """

    name: str
    anatomies: int
    boxed: int
    items: int


def drawing_material(store: Store) -> tuple[DrawingMaterial, ...]:
    """Return the boxes, masks and questions of each registered data set, counted."""
    rows = store.rows(
        "SELECT d.name,"
        " (SELECT count(*) FROM image i WHERE i.dataset_id = d.id AND EXISTS"
        "   (SELECT 1 FROM mask m WHERE m.image_id = i.id AND m.kind = 'anatomy'))"
        "   AS anatomies,"
        " (SELECT count(*) FROM image i WHERE i.dataset_id = d.id AND EXISTS"
        "   (SELECT 1 FROM reference_box b WHERE b.image_id = i.id)) AS boxed,"
        " (SELECT count(*) FROM item q WHERE q.dataset_id = d.id) AS items"
        " FROM dataset d WHERE d.adhoc = 0 AND d.complete = 1 ORDER BY d.id"
    )
    return tuple(
        DrawingMaterial(r["name"], r["anatomies"], r["boxed"], r["items"]) for r in rows
    )


def anatomy_names(store: Store, dataset: str) -> tuple[str, ...]:
    """Return the anatomies with a mask on any image of a data set, by name."""
    rows = store.rows(
        "SELECT DISTINCT m.name FROM mask m JOIN image i ON i.id = m.image_id"
        " JOIN dataset d ON d.id = i.dataset_id"
        " WHERE d.name = ? AND m.kind = 'anatomy' ORDER BY m.name",
        (dataset,),
    )
    return tuple(str(row["name"]) for row in rows)
