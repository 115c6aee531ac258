"""A data set's counts by finding and view, beside the paper's (E000-04).

Labels and masks are counted separately, because they disagree in the published data;
the known defects of CheXlocalize are named (E000-05).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from viewer.domain.case import NAMED_VIEWS, Dataset, DatasetImage
from viewer.domain.finding_names import concept, own_word
from viewer.results.frame import Frame, frame_of_rows
from viewer.results.spec import Cell, Key, ListSpec, Shown, TableSpec
from viewer.studies.grid_localization.asked import in_order
from viewer.studies.grid_localization.findings import (
    KNOWN,
    NINE,
    SUPPORT_DEVICES,
)
from viewer.studies.grid_localization.published import SPLIT_SIZES, TEST_PAIRS
from viewer.studies.tables import ALL_VIEWS

ALL_IMAGES, PAIRS = "(all images)", "(pairs of the nine findings)"
_NAMES: Final[dict[object, str]] = {
    ALL_IMAGES: "All images",
    PAIRS: "Pairs of the nine findings",
}
HELD: Final = "held"
DEFECTS: Final = "defects"
_TEST: Final = "test"
_NORMAL: Final = "No Finding"
_EXPECTED: Final = {**TEST_PAIRS, SUPPORT_DEVICES: 315}
"""Positive labels of each finding (a reader of the published tables; 4 rates agree)."""
_PATIENTS: Final = {"val": range(64541, 64741), "test": range(64741, 65241)}
_NAME: Final = re.compile(r"patient(\d+)")
_NO_HUMAN = "There are human points, but no mask."
KNOWN_DEFECTS: Final[Mapping[str, str]] = {
    "patient65086_study1_view1_frontal": "Labelled positive, but it has no mask.",
    "patient65145_study1_view1_frontal": "Missing from the file of human points.",
    "patient64860_study1_view1_frontal": _NO_HUMAN,
    "patient64860_study1_view2_lateral": _NO_HUMAN,
    "patient65192_study1_view1_frontal": _NO_HUMAN,
}
"""Known errors in the test set of CheXlocalize, by image id."""


def dataset_frames(dataset: Dataset | None) -> dict[str, Frame]:
    """Return a data set's counts by finding, and its defects."""
    split = published_split(dataset) if dataset else ""
    images = dataset.images if dataset else ()
    words = _words(images)
    held = (row for image in images for row in _rows(image, words, split))
    names = ("kind", "subject", "text", "known", "why")
    return {
        HELD: frame_of_rows(_HELD, held),
        DEFECTS: frame_of_rows(names, _defects(dataset, split) if dataset else ()),
    }


_HELD: Final = (
    *("finding", "view", "image", "patient", "label", "mask", "label_alone"),
    *("mask_alone", "expected", "expected_patients"),
)


def _rows(
    image: DatasetImage, words: Mapping[str, str], split: str
) -> Iterator[tuple[object, ...]]:
    """Yield an image once for each row that counts it: in its view and in all."""
    shown = {words[concept(name)] for name in _shown(image)}
    known = split == _TEST
    for view in (str(image.view), ALL_VIEWS):
        where = view, image.key, image.patient
        whole = SPLIT_SIZES.get(split, _UNKNOWN) if view == ALL_VIEWS else _UNKNOWN
        labelled = any(image.labels.get(finding) for finding in shown)
        yield ALL_IMAGES, *where, *_both(label=labelled, mask=bool(image.masks)), *whole
        for finding in shown:
            label = image.labels.get(finding, False)
            mask = finding in image.masks
            told = known and view == ALL_VIEWS
            of_it = _EXPECTED.get(concept(finding)) if told else None
            yield finding, *where, *_both(label=label, mask=mask), of_it, None
            if concept(finding) in NINE:
                every = sum(TEST_PAIRS.values()) if told else None
                yield PAIRS, *where, *_both(label=label, mask=mask), every, None


_UNKNOWN: Final = (None, None)


def _both(*, label: bool, mask: bool) -> tuple[bool, ...]:
    return label, mask, label and not mask, mask and not label


def dataset_specs(dataset: Dataset) -> tuple[TableSpec, ListSpec]:
    """Return counts of all images, of each finding and of all pairs, by view.

    Findings stand in the paper's order, any others follow by name. Labels are images
    labelled positive, masks those with one that is not empty. Expected is what the
    paper or the published tables give for this split.
    """
    split = f"its split is {dataset.split or 'not known'}"
    views = in_order(NAMED_VIEWS, (str(image.view) for image in dataset.images))
    present = set(_words(dataset.images).values())
    known = [own_word(name, present) or name for name in KNOWN]
    findings = (ALL_IMAGES, *in_order(known, present), PAIRS)
    keys = Key("finding", values=findings), Key("view", values=(*views, ALL_VIEWS))
    counts = TableSpec(
        "counts",
        keys,
        _CELLS,
        "Images and findings",
        f"Contents of the data set {dataset.name}; {split}. Images labelled positive "
        "and images with a mask are counted separately. Expected numbers are those of "
        "the paper and of the published labels, if the patients are those of the test "
        "or validation split of CheXlocalize.",
        HELD,
        outer=("finding", "view"),
        every=True,
        shown=(Shown("finding", "Finding", words=_NAMES), "view", *_SHOWN),
    )
    return counts, DEFECT_TABLE


_SUMS: Final = {
    "labels": "label",
    "masks": "mask",
    "label_without_mask": "label_alone",
    "mask_without_label": "mask_alone",
}
_EXPECTED_NAMES: Final = ("expected_images", "expected_patients")
_CELLS: Final = (
    Cell("size", ("images",)),
    Cell("distinct", ("patients",), ("patient",)),
    *(Cell("sum", (name,), (column,)) for name, column in _SUMS.items()),
    Cell("first", _EXPECTED_NAMES, ("expected", "expected_patients")),
)
_SHOWN: Final = (
    *("images", "patients", "labels", "masks"),
    Shown("label_without_mask", "Label, no mask"),
    Shown("mask_without_label", "Mask, no label"),
    *(Shown("expected_images", "Expected"), "expected_patients"),
)
DEFECT_TABLE: Final = ListSpec(
    "defects", ("kind", "subject", "text", "known"), frame=DEFECTS
)
KNOWN_TABLE: Final = ListSpec(
    "known_defects",
    title="Known defects of the data set",
    text="Defects of the published test set itself.",
    frame=DEFECTS,
    where={"known": (True,)},
    shown=(
        *(Shown("subject", "Image"), Shown("why", "Known")),
        Shown("text", "Found here"),
    ),
)


def _defects(dataset: Dataset, split: str) -> Iterator[tuple[object, ...]]:
    """Yield what is wrong with a data set; known defects that were not met, last."""
    known = KNOWN_DEFECTS if split == _TEST else {}
    for one in dataset.notices:
        why = known.get(one.subject, "")
        yield one.kind, one.subject, one.text, bool(why), why
    met = {one.subject for one in dataset.notices}
    for subject, text in known.items() if is_whole(dataset) else ():
        if subject not in met:
            yield "known_defect_not_met", subject, text, True, text


def published_split(dataset: Dataset) -> str:
    """Return which split of CheXlocalize all images are of, "" for anything else.

    Its patients are known by the numbers that CheXpert gave them.
    """
    numbers = {_number(image.patient) for image in dataset.images}
    for split, of_split in _PATIENTS.items():
        if numbers and all(number in of_split for number in numbers):
            return split
    return ""


def _number(patient: str) -> int:
    """Return the number of ``patient64741``, -1 for a name of another kind."""
    match = _NAME.fullmatch(patient)
    return int(match[1]) if match else -1


def is_whole(dataset: Dataset) -> bool:
    """Tell whether as many images and patients are there as the paper says."""
    patients = len({image.patient for image in dataset.images})
    sizes = SPLIT_SIZES.get(published_split(dataset))
    return (len(dataset.images), patients) == sizes


def _words(images: Sequence[DatasetImage]) -> dict[str, str]:
    """Return a data set's name for each finding, from masks before labels."""
    words: dict[str, str] = {}
    for image in images:
        words |= {concept(name): name for name in image.masks}
    for image in images:
        for name in sorted(_shown(image)):
            words.setdefault(concept(name), name)
    return words


def _shown(image: DatasetImage) -> set[str]:
    """Return the findings of an image by mask or label; normal is not a finding."""
    labelled = (name for name, yes in image.labels.items() if yes)
    return {*image.masks, *labelled} - {_NORMAL}
