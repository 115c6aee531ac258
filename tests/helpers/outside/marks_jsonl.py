"""A data-set format of another distribution: one JSON object a line, each a box."""

import json
from collections import defaultdict
from pathlib import Path

from viewer.domain.case import Dataset, Notice, ReferenceBox, View
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import BoxPx
from viewer.readers.datasets.annotated import Annotated, Collection, assembled
from viewer.readers.datasets.catalog import DatasetFormat
from viewer.readers.datasets.files import Progress

TABLE = "marks.jsonl"


def looks(root: Path) -> bool:
    """Tell whether a folder is of this format."""
    return (root / TABLE).is_file()


def read(
    root: Path, name: str, view: View | None = None, progress: Progress | None = None
) -> Dataset:
    """Read lines such as {"image": "1.png", "finding": "Nodule", "box": [4, 5, 9, 9]}.

    A line that is of no use is a notice; the others are read.
    """
    if not looks(root):
        raise UnreadableInputError(
            f"There is no {TABLE} in '{root}'.", "Choose another."
        )
    boxes: dict[str, dict[str, list[ReferenceBox]]] = defaultdict(dict)
    notices = []
    text = (root / TABLE).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        try:
            mark = json.loads(line)
            box = ReferenceBox(BoxPx(*map(float, mark["box"])))
            boxes[mark["image"]].setdefault(mark["finding"], []).append(box)
        except (ValueError, KeyError, TypeError):
            what = f"Line {number} is no mark and is not used."
            notices.append(Notice("odd_row", TABLE, what))
    entries = [
        Annotated(Path(file).stem, file, labels=dict.fromkeys(of, True), boxes=_all(of))
        for file, of in boxes.items()
    ]
    collection = Collection(name, "marks-jsonl", root, view or View.UNKNOWN)
    return assembled(collection, entries, notices, progress)


def _all(
    boxes: dict[str, list[ReferenceBox]],
) -> dict[str, tuple[ReferenceBox, ...]]:
    return {finding: tuple(of) for finding, of in boxes.items()}


FORMAT = DatasetFormat("marks-jsonl", "Boxes as one JSON object a line", read, looks)
