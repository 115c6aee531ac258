"""Assembly of a data set from its parsed tables.

Every image that a table names is kept, whatever is wrong with it. If any part of a
finding's reference cannot be used, the finding is a defect of its image: half a
reference would be wrong.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from viewer.domain.box_reference import mask_of
from viewer.domain.case import (
    Dataset,
    DatasetImage,
    ImageHeader,
    ImageRef,
    Notice,
    ReferenceBox,
    View,
)
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.readers.datasets.files import (
    FileFacts,
    Progress,
    content_sha256,
    read_facts,
    turned_notices,
    unknown_patients,
)
from viewer.readers.datasets.image_files import ImageFiles, missing_path
from viewer.readers.datasets.naming import (
    named_view,
    patient_key,
    study_key,
    written_view,
)

MakeMask = Callable[[SizePx], Mask]
"""Make a mask for an image of a size; one that cannot be made raises."""


@dataclass(frozen=True)
class Annotated:
    """The tables' entries for one image; ``size`` is the size they state.

    ``broken`` maps a finding to the reason why part of its reference is unusable.
    ``patient`` and ``view`` are as written, "" if no table has them.
    """

    key: str
    file: str
    size: SizePx | None = None
    labels: Mapping[str, bool] = field(default_factory=dict)
    boxes: Mapping[str, tuple[ReferenceBox, ...]] = field(default_factory=dict)
    masks: Mapping[str, MakeMask] = field(default_factory=dict)
    readers: tuple[str, ...] = ()
    broken: Mapping[str, str] = field(default_factory=dict)
    patient: str = ""
    view: str = ""


@dataclass(frozen=True)
class Collection:
    """Properties of the whole collection; ``view`` is the fallback for its images."""

    name: str
    format: str
    root: Path
    view: View
    split: str = ""


@dataclass(frozen=True)
class _Reference:
    """One image's usable reference, and the defects of the rest."""

    masks: Mapping[str, Mask]
    boxes: Mapping[str, tuple[ReferenceBox, ...]]
    defects: Mapping[str, str]
    notices: tuple[Notice, ...]


def assembled(
    collection: Collection,
    entries: Sequence[Annotated],
    notices: Sequence[Notice],
    progress: Progress | None = None,
) -> Dataset:
    """Assemble the data set from the named images, each with its file."""
    files = ImageFiles(collection.root)
    paths = {entry.key: files.find(entry.file) for entry in entries}
    facts = read_facts(tuple(p for p in paths.values() if p), progress)
    images: list[DatasetImage] = []
    found = [*notices, *files.notices]
    for entry in sorted(entries, key=lambda entry: entry.key):
        path = paths[entry.key]
        of_file = facts.get(path) if path else None
        image, about = _image(collection, entry, path, of_file)
        images.append(image)
        found += about
    found += files.unnamed(set(paths.values()))
    return Dataset(
        name=collection.name,
        format=collection.format,
        root=collection.root,
        images=tuple(images),
        notices=(*found, *unknown_patients(images)),
        root_sha256=content_sha256(images),
        split=collection.split,
    )


def _image(
    collection: Collection, entry: Annotated, path: Path | None, found: FileFacts | None
) -> tuple[DatasetImage, list[Notice]]:
    header = found.headers[0] if found and found.headers else None
    listed = ImageGeometry(entry.size or SizePx(0, 0))
    geometry = header.geometry if header else listed
    reference = _reference(entry, geometry.size)
    of_file = "" if header else "missing_file" if found is None else "unreadable"
    defects = {**reference.defects, **({"*": of_file} if of_file else {})}
    patient = patient_key(entry.patient or _patient_id(header), entry.key)
    image = DatasetImage(
        key=entry.key,
        patient=patient,
        study=study_key(header, patient),
        view=_view(collection, entry, header),
        ref=header.ref
        if header
        else ImageRef(path or missing_path(collection.root, entry.file)),
        geometry=geometry,
        sha256=found.sha256 if found else "",
        labels=entry.labels,
        masks={name: m for name, m in reference.masks.items() if not m.is_empty},
        zero_masks=frozenset(n for n, m in reference.masks.items() if m.is_empty),
        defects=defects,
        boxes=reference.boxes,
        readers=entry.readers,
    )
    has_places = bool(entry.boxes or entry.masks)
    told = (
        _file_notices(image, entry, found),
        _view_notices(image, entry, header),
        turned_notices(image.key, header if has_places else None),
    )
    return image, [*chain(*told), *reference.notices]


def _patient_id(header: ImageHeader | None) -> str:
    return header.patient_key if header and header.modality else ""


def _view(collection: Collection, entry: Annotated, header: ImageHeader | None) -> View:
    if entry.view:
        return written_view(entry.view)
    if header and header.view is not View.UNKNOWN:
        return header.view
    named = named_view(entry.key)
    return named if named is not View.UNKNOWN else collection.view


def _file_notices(
    image: DatasetImage, entry: Annotated, found: FileFacts | None
) -> Iterator[Notice]:
    if found is None:
        text = f"Its file {Path(entry.file).name} is not in the folder."
        yield Notice("missing_file", image.key, text)
        return
    if found.problem:
        yield Notice("unreadable", image.key, found.problem)
        return
    if len(found.headers) > 1:
        text = f"Its file has {len(found.headers)} frames; the first is read."
        yield Notice("several_frames", image.key, text)


def _view_notices(
    image: DatasetImage, entry: Annotated, header: ImageHeader | None
) -> Iterator[Notice]:
    if header is None:
        return
    if entry.view and image.view is View.UNKNOWN:
        text = (
            f"Its table gives the view '{entry.view}', which is not PA, AP, frontal, "
            "lateral or other; its view is unknown."
        )
        yield Notice("unknown_view", image.key, text)
    elif image.view is View.UNKNOWN:
        text = "Neither the file nor its name says the view; choose one on import."
        yield Notice("unknown_view", image.key, text)
    elif entry.view and header.view not in {View.UNKNOWN, image.view}:
        text = (
            f"Its table says {image.view}, its View Position {header.view}; the table "
            "is used."
        )
        yield Notice("view_disagrees", image.key, text)


def _reference(entry: Annotated, size: SizePx) -> _Reference:
    masks, boxes, defects = {}, {}, dict.fromkeys(entry.broken, "reference_unreadable")
    notices = [
        Notice("reference_unreadable", entry.key, f"{name} cannot be used: {why}.")
        for name, why in sorted(entry.broken.items())
    ]
    if not size.rows:
        return _Reference({}, {}, defects, tuple(notices))
    if entry.size and entry.size != size:
        return _other_size(entry, size)
    for name in sorted({*entry.boxes, *entry.masks} - set(defects)):
        try:
            if name in entry.masks:
                masks[name] = _made(entry.masks[name], size)
            if name in entry.boxes:
                boxes[name], clipped = _inside(entry.boxes[name], size)
                notices += [_clipped(entry.key, name)] if clipped else []
        except _Unusable as error:
            defects[name] = error.reason
            text = f"{name} cannot be used: {error.why}."
            notices.append(Notice(error.reason, entry.key, text))
            # Made before its boxes failed; half a reference would be wrong.
            masks.pop(name, None)
    return _Reference(masks, boxes, defects, tuple(notices))


class _Unusable(Exception):  # noqa: N818 - no failure of the program
    """A finding's reference cannot be used; the reason as a word and in words."""

    def __init__(self, reason: str, why: str) -> None:
        super().__init__(why)
        self.reason, self.why = reason, why


def _made(make: MakeMask, size: SizePx) -> Mask:
    try:
        mask = make(size)
        # Decodes the mask here, where a broken code becomes a defect of its image.
        _ = mask.is_empty
    except UnreadableInputError as error:
        raise _Unusable("mask_unreadable", error.what.rstrip(".")) from error
    if mask.size != size:
        why = f"its mask is {mask.size.words}, the image {size.words}"
        raise _Unusable("mask_size", why)
    return mask


def _inside(
    boxes: tuple[ReferenceBox, ...], size: SizePx
) -> tuple[tuple[ReferenceBox, ...], bool]:
    """Return boxes clipped to the image, and whether any extended beyond it."""
    cut = tuple(ReferenceBox(_cut(b.box, size), b.reader) for b in boxes)
    for box in cut:
        if mask_of(size, (box,), 1).is_empty:
            raise _Unusable("box_outside", "a box of it contains no pixel of the image")
    return cut, cut != boxes


def _cut(box: BoxPx, size: SizePx) -> BoxPx:
    return BoxPx(
        min(max(box.x0, 0.0), float(size.columns)),
        min(max(box.y0, 0.0), float(size.rows)),
        min(max(box.x1, 0.0), float(size.columns)),
        min(max(box.y1, 0.0), float(size.rows)),
    )


def _clipped(key: str, finding: str) -> Notice:
    text = f"A box of {finding} extends beyond the image and is cropped to it."
    return Notice("box_clipped", key, text)


def _other_size(entry: Annotated, size: SizePx) -> _Reference:
    """Drop every location: the table describes an image of another size."""
    names = {*entry.boxes, *entry.masks, *entry.broken}
    if not names:
        return _Reference({}, {}, {}, ())
    marked = entry.size.words if entry.size else ""
    text = (
        f"Its locations are for an image of {marked}, but its file is {size.words}; "
        "none is used."
    )
    notice = Notice("mask_size", entry.key, text)
    return _Reference({}, {}, dict.fromkeys(sorted(names), "mask_size"), (notice,))


def without_repeats(
    key: str, boxes: Mapping[str, Sequence[ReferenceBox]]
) -> tuple[dict[str, tuple[ReferenceBox, ...]], list[Notice]]:
    """Return each finding's boxes without duplicates, and notices of the duplicates."""
    notices = [
        Notice(
            "repeated_box", key, f"A box of {name} is listed {n} times; it counts once."
        )
        for name, of in boxes.items()
        for n in Counter(of).values()
        if n > 1
    ]
    return {name: tuple(dict.fromkeys(of)) for name, of in boxes.items()}, notices
