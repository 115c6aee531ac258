"""Findings to be asked about that a data set has no reference for."""

from collections.abc import Iterator

from viewer.domain.case import Dataset, DatasetImage, View
from viewer.domain.finding_names import concept
from viewer.studies.grid_localization.params import Params


def missing_findings(dataset: Dataset, params: Params) -> tuple[str, ...]:
    """Return the findings of which no image of the views has a mask, box or label."""
    there = {
        concept(name)
        for image in dataset.images
        if image.view is View.UNKNOWN or image.view in params.views
        for name in _named(image, params)
    }
    return tuple(f for f in params.findings if concept(f) not in there)


def missing_findings_sentence(dataset: Dataset, params: Params) -> str:
    """Return which findings are not asked about, and why; "" if every one is."""
    missing = missing_findings(dataset, params)
    if not missing:
        return ""
    return (
        "Not asked, because no image of these views has a mask or a label for: "
        f"{', '.join(missing)}."
    )


def _named(image: DatasetImage, params: Params) -> Iterator[str]:
    """Yield the findings that an image has anything to ask about of."""
    yield from (*image.masks, *image.boxes, *image.defects)
    for name, present in image.labels.items():
        if present or params.absent_findings:
            yield name
