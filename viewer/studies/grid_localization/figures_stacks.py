"""Stacked bars: classes of error and counts of images (Gosai 2025, Fig. 3, 9, 10)."""

from collections.abc import Sequence
from typing import Final

from viewer.domain.case import Dataset, View
from viewer.domain.counting import counted
from viewer.domain.figure import FigureHead, Stack, StackFigure
from viewer.studies.grid_localization.asked import spoken
from viewer.studies.grid_localization.errors_by_class import CLASSES
from viewer.studies.grid_localization.rates import Record

AVERAGE: Final = "Mean of findings"
_OPEN: Final = "review not finished"
_SPLITS: Final = {
    "val": ("fig9_counts", "Figure 9"),
    "test": ("fig10_counts", "Figure 10"),
}


def class_figure(rows: Sequence[Record], findings: Sequence[str]) -> StackFigure | None:
    """Return Fig. 3 of the first grid; None if no frontal view was asked about.

    ``rows`` are those of the table of classes of error.
    Each bar is the whole of a model's frontal trials of a finding. The last group
    averages the shares over the findings (E000-27).
    """
    if not rows:
        return None
    first = rows[0]["grid"]
    mine = [row for row in rows if row["grid"] == first]
    mine.sort(key=lambda row: [*findings, row["finding"]].index(row["finding"]))
    models = tuple(dict.fromkeys(row["model"] for row in mine))
    stacks = tuple(
        Stack(row["finding"], row["model"], _counts(row), row["n"], _review(row))
        for row in mine
    )
    averages = tuple(
        _average(model, [row for row in mine if row["model"] == model])
        for model in models
    )
    caption = (
        f"{spoken(first)}, frontal views; each bar shows all of a model's trials. "
        "Full: the cell is a hit; partial: it touches the mask. A complete miss is a "
        "position or an anatomy error once a reader has classified it. Next to each "
        "bar: n, how many complete misses were reviewed, and for a sample the exact 95 "
        "% interval of the anatomy errors among all of them."
    )
    head = FigureHead("fig3_error_classes", "Figure 3", "Classes of error", caption)
    return StackFigure(head, CLASSES, (*stacks, *averages), "trials", share=True)


def _counts(row: Record) -> tuple[float, ...]:
    return tuple(row[name] for name in CLASSES)


def _review(row: Record) -> str:
    """Return how much of a bar's misses was reviewed, "" if nothing was."""
    misses, reviewed = row["n_misses"], row["n_reviewed"]
    if not reviewed:
        return ""
    parts = [f"{reviewed} of {counted(misses, 'miss', 'misses')} reviewed"]
    if reviewed < misses:
        parts.append(f"anatomy {row['anatomy_low']} to {row['anatomy_high']}")
    return ", ".join([*parts, *([] if row["review"] == "finished" else [_OPEN])])


def _average(model: str, rows: Sequence[Record]) -> Stack:
    open_ = any(row["review"] == "not finished" for row in rows)
    return Stack(AVERAGE, model, _mean_shares(rows), note=_OPEN if open_ else "")


def _mean_shares(rows: Sequence[Record]) -> tuple[float, ...]:
    """Return the unweighted mean over findings of each class's share."""
    shares = [[count / row["n"] for count in _counts(row)] for row in rows]
    return tuple(sum(column) / len(rows) for column in zip(*shares, strict=True))


def image_counts(dataset: Dataset, findings: Sequence[str]) -> StackFigure:
    """Return Fig. 9 or 10: positive images by finding and view (E000-06).

    An image is positive where its label or its mask says so.
    """
    views = [v for v in View if any(image.view is v for image in dataset.images)]
    stacks = tuple(
        Stack(f, "", tuple(_positive(dataset, f, view) for view in views))
        for f in findings
    )
    name, number = _SPLITS.get(dataset.split, ("fig10_counts", "Figure 10"))
    images = counted(len(dataset.images), "image")
    patients = counted(len({i.patient for i in dataset.images}), "patient")
    caption = (
        f"Positive images by finding and view, of {images} of {patients} in the data "
        f"set {dataset.name}, according to label or mask."
    )
    head = FigureHead(name, number, "Images by finding and view", caption)
    segments = tuple(view.value for view in views)
    return StackFigure(head, segments, stacks, "images", share=False)


def _positive(dataset: Dataset, finding: str, view: View) -> int:
    return sum(
        image.view is view
        and (finding in image.masks or image.labels.get(finding, False))
        for image in dataset.images
    )
