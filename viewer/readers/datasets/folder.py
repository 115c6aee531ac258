"""A plain folder: images of any kind, with masks beside them.

``NAME.<finding>.png``, or the same in any other picture format, is the mask of an image
``NAME.*`` beside it, and so is a picture of its name in a folder of masks
(`readers.mask_folders`); `rasters.mask_rule` decides which pixels are the finding.
Underscores in the finding count as spaces. An image's id is its path below the folder
without the suffix, joined by ``/``; if two files would share an id, both keep their
suffix. Frames of a multi-frame file have ``#2`` appended, counted from 1.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.case import (
    Dataset,
    DatasetImage,
    ImageHeader,
    ImageRef,
    Notice,
    View,
)
from viewer.domain.errors import OverreadError, UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.domain.slide import is_region
from viewer.readers.datasets.files import (
    FileFacts,
    Progress,
    content_sha256,
    read_facts,
    turned_notices,
    unknown_patients,
)
from viewer.readers.datasets.folder_layout import ImageFile, find_images, image_file
from viewer.readers.datasets.names import with_storable_names
from viewer.readers.datasets.naming import named_view, patient_key, study_key
from viewer.readers.headers import read_file_header
from viewer.readers.masks import read_mask
from viewer.readers.rasters.mask_rule import Caution

_LARGEST_PART: Final = 0.6
"""A mask of more of the image than this may be the wrong way round."""
_NO_PICTURES = frozenset({"SEG", "SR", "PR", "KO", "RTSTRUCT"})
_NO_PICTURE: Final = "contains segments or a report, not a picture,"


@dataclass(frozen=True)
class _Masks:
    """The masks beside an image, and why others could not be read.

    ``cautions`` are doubts that a person should check in those that were read.
    """

    read: Mapping[str, Mask]
    problems: Mapping[str, str]
    cautions: Mapping[str, Sequence[Caution]]


def read(
    root: Path, name: str, view: View | None = None, progress: Progress | None = None
) -> Dataset:
    """Read every image below a folder, with the masks beside them.

    Parameters
    ----------
    root : Path
        The folder.
    name : str
        The name the data set is registered under.
    view : View, optional
        The view of images of which neither the file nor its name says it.
    progress : callable, optional
        Called with the number of files read so far.

    Raises
    ------
    UnreadableInputError
        There is no such folder, or it cannot be listed.
    """
    layout = find_images(root)
    facts = read_facts(tuple(file.path for file in layout.images), progress)
    images: list[DatasetImage] = []
    notices = list(layout.notices)
    for file in layout.images:
        found = facts[file.path]
        if _is_no_picture(found):
            text = f"It {_NO_PICTURE} and is not imported."
            notices.append(Notice("not_an_image", file.key, text))
            continue
        if _is_listed_elsewhere(file, found):
            text = f"It is part of the whole slide {found.headers[0].ref.path.name}."
            notices.append(Notice("part_of_slide", file.key, text))
            continue
        if progress:
            progress(len(facts), len(facts))  # masks take longest: it may be stopped
        masks = _read_masks(file)
        of_file = _images(file, found, masks, view)
        images.extend(of_file)
        notices.extend(_notices(of_file, found, masks))
    notices.extend(unknown_patients(images))
    return Dataset(
        name=name,
        format="folder",
        root=root,
        images=tuple(sorted(images, key=lambda image: image.key)),
        notices=tuple(notices),
        root_sha256=content_sha256(images),
    )


def read_image(path: Path, view: View | None = None, frame: int = 0) -> Dataset:
    """Read one file as its own data set, with the masks beside it.

    Its name is derived from its content, so that the same file is always the same data
    set. If ``frame`` is a region of a slide, the data set has that region alone. A file
    that cannot be read, or contains no picture or no such region, raises.
    """
    file = image_file(path)
    found = read_facts((path,), None)[path]
    if found.problem:
        raise UnreadableInputError(found.problem)
    if _is_no_picture(found):
        raise UnreadableInputError(
            f"{path.name} {_NO_PICTURE} and a model cannot be asked about it.",
            "Open the image that it belongs to.",
        )
    if is_region(frame):
        images: tuple[DatasetImage, ...] = (_region(file, found, view, frame),)
    else:
        images = _images(file, found, _read_masks(file), view)
    sha256 = content_sha256(images)
    name = f"{path.name} {sha256[:12]}"
    return with_storable_names(Dataset(name, "folder", path.parent, images, (), sha256))


def _region(
    file: ImageFile, found: FileFacts, view: View | None, frame: int
) -> DatasetImage:
    header = read_file_header(file.path)
    if frame not in header:
        raise UnreadableInputError(
            f"{file.path.name} has no region {frame}.", "Choose one within the slide."
        )
    image, masks = header.image(frame), _Masks({}, {}, {})
    return _image(file, f"{file.key}#{frame}", found, image, masks, view)


def _is_no_picture(found: FileFacts) -> bool:
    named = any(header.modality in _NO_PICTURES for header in found.headers)
    return named or not found.is_image


def _is_listed_elsewhere(file: ImageFile, found: FileFacts) -> bool:
    return any(header.ref.path != file.path for header in found.headers)


def _read_masks(file: ImageFile) -> _Masks:
    masks: dict[str, Mask] = {}
    problems = dict.fromkeys(
        file.ambiguous, "several images have its name, so it is not used"
    )
    cautions: dict[str, Sequence[Caution]] = {}
    for finding, path in file.masks.items():
        try:
            found = read_mask(path)
        except OverreadError as error:
            problems[finding] = str(error).rstrip(".")
        else:
            masks[finding] = Mask.of_array(found.marked)
            cautions[finding] = (*found.cautions, *_large(found.marked))
    return _Masks(masks, problems, cautions)


def _large(marked: npt.NDArray[np.bool_]) -> Iterator[Caution]:
    share = marked.mean()
    if share > _LARGEST_PART:
        clause = f"covers {share:.0%} of the image; it may mark what is not the finding"
        yield Caution("mask_area", clause)


def _images(
    file: ImageFile, found: FileFacts, masks: _Masks, view: View | None
) -> tuple[DatasetImage, ...]:
    if len(found.headers) < 2:
        header = found.headers[0] if found.headers else None
        return (_image(file, file.key, found, header, masks, view),)
    why = "its image has several frames, so it is not used"
    unused = dict.fromkeys({*masks.read, *masks.problems}, why)
    masks = _Masks({}, unused, {})
    return tuple(
        _image(file, f"{file.key}#{n}", found, header, masks, view)
        for n, header in enumerate(found.headers, start=1)
    )


def _image(
    file: ImageFile,
    key: str,
    found: FileFacts,
    header: ImageHeader | None,
    masks: _Masks,
    view: View | None,
) -> DatasetImage:
    patient = patient_key(_patient_id(header), file.key)
    geometry = _geometry(header, masks)
    size = geometry.size
    fitting = {name: m for name, m in masks.read.items() if m.size == size}
    return DatasetImage(
        key=key,
        patient=patient,
        study=study_key(header, patient),
        view=_view(file.key, header, view),
        ref=header.ref if header else ImageRef(file.path),
        geometry=geometry,
        sha256=found.sha256,
        masks={name: m for name, m in fitting.items() if not m.is_empty},
        zero_masks=frozenset(name for name, m in fitting.items() if m.is_empty),
        defects=_defects(header, masks, size),
    )


def _patient_id(header: ImageHeader | None) -> str:
    return header.patient_key if header and header.modality else ""


def _geometry(header: ImageHeader | None, masks: _Masks) -> ImageGeometry:
    if header:
        return header.geometry
    sizes = (mask.size for mask in masks.read.values())
    return ImageGeometry(next(sizes, SizePx(0, 0)))


def _view(key: str, header: ImageHeader | None, view: View | None) -> View:
    if header and header.view is not View.UNKNOWN:
        return header.view
    named = named_view(key)
    return named if named is not View.UNKNOWN else view or View.UNKNOWN


def _defects(header: ImageHeader | None, masks: _Masks, size: SizePx) -> dict[str, str]:
    defects = dict.fromkeys(masks.problems, "mask_unreadable")
    defects |= {name: "mask_size" for name, m in masks.read.items() if m.size != size}
    if header is None:
        defects["*"] = "unreadable"
    return defects


def _notices(
    images: tuple[DatasetImage, ...], found: FileFacts, masks: _Masks
) -> Iterator[Notice]:
    first = images[0]
    if found.problem:
        yield Notice("unreadable", first.key, found.problem)
    elif first.view is View.UNKNOWN:
        text = "Neither the file nor its name says the view; choose one on import."
        yield Notice("unknown_view", first.key, text)
    elif named_view(first.key) not in {View.UNKNOWN, first.view}:
        text = f"Its name and its View Position disagree; {first.view} is used."
        yield Notice("view_disagrees", first.key, text)
    if masks.read:
        yield from turned_notices(first.key, next(iter(found.headers), None))
    for name, why in sorted(masks.problems.items()):
        text = f"The mask of {name} cannot be used: {why}."
        yield Notice("mask_unreadable", first.key, text)
    for name, mask in sorted(masks.read.items()):
        if first.defects.get(name) == "mask_size":
            yield Notice("mask_size", first.key, _size_text(name, mask.size, first))
        for caution in masks.cautions[name]:
            text = f"The mask of {name} {caution.clause}."
            yield Notice(caution.kind, first.key, text)


def _size_text(name: str, size: SizePx, image: DatasetImage) -> str:
    return (
        f"The mask of {name} is {size.rows} × {size.columns}, but the image is "
        f"{image.size.rows} × {image.size.columns}; it is not used."
    )
