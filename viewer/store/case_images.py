"""The images that a reader's case shows, and apart from them what is true of one."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from viewer.domain.case import ImageRef
from viewer.domain.escapes import path_of
from viewer.domain.finding_names import SYNONYMS, ByFinding
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.store.database import Row, Store
from viewer.store.geometry import geometry_of


@dataclass(frozen=True, slots=True)
class SeenImage:
    """The location of a case's image, and its geometry."""

    ref: ImageRef
    geometry: ImageGeometry


def images_named(
    store: Store, dataset_id: int, keys: Iterable[str], made: str = ""
) -> dict[str, SeenImage]:
    """Return images of a data set by key; masks stay unread, unknown keys missing.

    ``made`` names a further one, of images that were made for readers.
    """
    rows = store.rows(
        "SELECT key, path, frame, rows, columns, geometry FROM image"
        " WHERE dataset_id IN (SELECT id FROM dataset WHERE id = ?1 OR name = ?2)"
        " AND key IN (SELECT value FROM json_each(?3))",
        (dataset_id, made, json.dumps(sorted(set(keys)))),
    )
    return {row["key"]: _image(row) for row in rows}


def _image(row: Row) -> SeenImage:
    ref = ImageRef(path_of(row["path"]), row["frame"])
    return SeenImage(ref, geometry_of(row))


@dataclass(frozen=True)
class Truth:
    """The truth about a finding on an image, which a reader must not see too early."""

    reference: Mask | None
    anatomy: Mapping[str, Mask]


def truth_of(store: Store, dataset_id: int, image: str, finding: str) -> Truth:
    """Return the reference of a finding on an image, and the image's anatomy."""
    rows = store.rows(
        "SELECT m.* FROM mask m JOIN image i ON i.id = m.image_id"
        " WHERE i.dataset_id = ? AND i.key = ? AND (m.kind = 'anatomy'"
        " OR (m.kind = 'finding' AND m.name IN (?, ?))) ORDER BY m.name",
        (dataset_id, image, finding, SYNONYMS.get(finding)),
    )
    masks: dict[str, dict[str, Mask]] = {"finding": {}, "anatomy": {}}
    for row in rows:
        mask = Mask(SizePx(row["rows"], row["columns"]), row["counts"])
        masks[row["kind"]][row["name"]] = mask
    return Truth(ByFinding(masks["finding"]).get(finding), masks["anatomy"])
