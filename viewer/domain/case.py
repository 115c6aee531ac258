"""Cases that a reader opens, and data sets with their references."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from viewer.domain.finding_names import ByFinding, own_word
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.item import Item
from viewer.domain.reference import Mask
from viewer.domain.slide import is_region


class View(StrEnum):
    """The projection of a radiograph, as far as the file says.

    ``OTHER`` is an image without a radiographic projection: CT, MR, ultrasound, slides,
    photographs.
    """

    FRONTAL = "frontal"
    LATERAL = "lateral"
    OTHER = "other"
    UNKNOWN = "unknown"


NAMED_VIEWS: Final = tuple(view.value for view in View if view is not View.UNKNOWN)
"""What the user may state about an image if its header does not."""


class ReadingState(StrEnum):
    """How far a person is with a row of the case list."""

    UNREAD = "unread"
    OPEN = "open"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class ImageRef:
    """A file and one of its frames, from 0; 0 for a single-frame file."""

    path: Path
    frame: int = 0

    @property
    def listed(self) -> "ImageRef":
        """The image in lists that shows it: the whole slide for a region of it."""
        return ImageRef(self.path) if is_region(self.frame) else self


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """An image's metadata, read without decoding its pixels.

    Images with the same ``frame_of_reference`` have positions in one space of the
    patient (PS3.3 C.7.4.1); "" is none. ``body_part`` is Body Part Examined,
    ``patient_name`` such as ``Doe, Jane``, ``birth_date`` as YYYYMMDD.
    """

    ref: ImageRef
    geometry: ImageGeometry
    frames: int
    modality: str
    view: View
    patient_key: str
    study_key: str
    series_key: str
    body_part: str = ""
    view_position: str = ""
    frame_of_reference: str = ""
    patient_name: str = ""
    birth_date: str = ""

    @property
    def size(self) -> SizePx:
        """Rows and columns in pixels."""
        return self.geometry.size


@dataclass(frozen=True, slots=True)
class Series:
    """Images in order: by slice position if the files have one."""

    key: str
    modality: str
    description: str
    images: tuple[ImageHeader, ...]


@dataclass(frozen=True, slots=True)
class Study:
    """The series of one examination; ``date`` as YYYYMMDD, ``time`` as HHMMSS.

    Either may be "", and the time shorter or with a fraction.
    """

    key: str
    date: str
    description: str
    series: tuple[Series, ...]
    time: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One patient's studies, and the names of files that could not be read."""

    patient_key: str
    studies: tuple[Study, ...]
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Notice:
    """Something missing or inconsistent in a data set, listed by name.

    ``kind`` is a stable word such as ``label_without_mask``; ``subject`` an image
    id or a file name inside the data set, "" if it is about all of it; ``text`` one
    sentence.
    """

    kind: str
    subject: str
    text: str

    @property
    def sentence(self) -> str:
        """The text, after its subject if it has one."""
        return f"{self.subject}: {self.text}" if self.subject else self.text


@dataclass(frozen=True, slots=True)
class ReferenceBox:
    """A box in native pixels that a reader drew; ``reader`` is "" if unknown."""

    box: BoxPx
    reader: str = ""


@dataclass(frozen=True)
class DatasetImage:
    """An image of a data set with its references.

    ``key`` is the image's id in the data set, ``sha256`` that of the file's bytes,
    ``labels`` the positive (True) and negative (False) findings, ``masks`` the
    non-empty reference masks and ``zero_masks`` the findings whose mask is present but
    empty. Findings have the data set's names; lookups accept synonyms. ``defects`` maps
    a finding to the reason its mask cannot be used (``mask_size``), or ``*`` to the
    reason the whole image cannot (``unreadable``, ``missing_file``). ``boxes`` are the
    reference boxes of each finding, readers apart, in the order they were listed;
    ``readers`` those who read the image, also where they marked nothing.
    """

    key: str
    patient: str
    study: str
    view: View
    ref: ImageRef
    geometry: ImageGeometry
    sha256: str
    labels: Mapping[str, bool] = field(default_factory=dict)
    masks: Mapping[str, Mask] = field(default_factory=dict)
    zero_masks: frozenset[str] = frozenset()
    anatomy: Mapping[str, Mask] = field(default_factory=dict)
    defects: Mapping[str, str] = field(default_factory=dict)
    boxes: Mapping[str, tuple[ReferenceBox, ...]] = field(default_factory=dict)
    readers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Make the findings' mappings accept synonyms."""
        for name in ("labels", "masks", "defects", "boxes"):
            values = getattr(self, name)
            if not isinstance(values, ByFinding):
                object.__setattr__(self, name, ByFinding(values))

    @property
    def size(self) -> SizePx:
        """Rows and columns in pixels."""
        return self.geometry.size

    def word_for(self, finding: str) -> str:
        """Return the image's word for a finding, or the finding itself without one."""
        there = (*self.masks, *self.boxes, *self.labels, *self.defects)
        return own_word(finding, there) or finding


@dataclass(frozen=True)
class Dataset:
    """A registered collection of images with references.

    ``root_sha256`` names the content: a hash over every image id, file hash, label,
    mask, box and item, independent of where the folder lies. ``split`` is ``val`` or
    ``test``, "" if unknown; it is not part of the content. ``items`` are the questions
    of studies that ask about more than a finding in an image, in the order listed.
    """

    name: str
    format: str
    root: Path
    images: tuple[DatasetImage, ...]
    notices: tuple[Notice, ...]
    root_sha256: str
    split: str = ""
    items: tuple[Item, ...] = ()
