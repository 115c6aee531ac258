"""Preview of a data set before it is registered: contents and problems.

It is read once; registering stores what was previewed.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Final

from viewer.domain.box_reference import readers_of
from viewer.domain.case import Dataset, Notice, View
from viewer.domain.counting import counted
from viewer.domain.errors import CancelledError, WrongUseError
from viewer.domain.item import check_items
from viewer.services.trials.grades import grades_of

Progress = Callable[[int, int], None]
_SHOWN_OF_A_KIND: Final = 8


@dataclass(frozen=True, slots=True)
class FindingCount:
    """How many images have a finding, are labelled without, and can be scored."""

    finding: str
    positive: int
    negative: int
    referenced: int


@dataclass(frozen=True, slots=True)
class ItemCount:
    """The number of items of a kind, "" if they have none."""

    kind: str
    items: int


@dataclass(frozen=True, slots=True)
class NoticeCount:
    """Notices of one kind: how many, and the first as a sentence with its subject."""

    kind: str
    count: int
    first: str


@dataclass(frozen=True)
class ImportPreview:
    """A data set as it would be registered, and what the user should know first."""

    dataset: Dataset
    patients: int
    readers: tuple[str, ...]
    findings: tuple[FindingCount, ...]
    notices: tuple[NoticeCount, ...]
    items: tuple[ItemCount, ...] = ()

    @property
    def references(self) -> int:
        """The number of image-finding pairs that can be scored."""
        return sum(count.referenced for count in self.findings)

    @property
    def sentence(self) -> str:
        """Images, patients, items, references and readers in one line."""
        data = self.dataset
        parts = [
            counted(len(data.images), "image"),
            counted(self.patients, "patient"),
        ]
        if data.items:
            parts.append(counted(len(data.items), "item"))
        if self.references or not data.items:
            parts.append(counted(self.references, "reference"))
        if self.readers:
            parts.append(counted(len(self.readers), "reader"))
        return f"{', '.join(parts)}, {counted(len(data.notices), 'notice')}"


@dataclass(frozen=True, slots=True)
class FormatShown:
    """A data-set format: its display name and description."""

    title: str
    summary: str


def formats_shown() -> Mapping[str, FormatShown]:
    """Return the data-set formats by the names that the command line takes."""
    from viewer.readers.datasets.catalog import formats

    return {
        name: FormatShown(fmt.title or name, fmt.summary)
        for name, fmt in formats().items()
    }


def formats_found(root: Path) -> tuple[str, ...]:
    """Return the formats that a folder or file looks like, most specific first."""
    from viewer.readers.datasets.catalog import formats_of

    return formats_of(root)


def format_of(root: Path) -> str:
    """Return the format of a folder or file; raises if several match."""
    found = formats_found(root)
    telling = [name for name in found if name != "folder"] or list(found)
    if len(telling) == 1:
        return telling[0]
    what = (
        f"looks like {' and '.join(telling)}" if telling else "is not in a known format"
    )
    raise WrongUseError(
        f"'{root.name}' {what}.",
        "Name the format: overread import FORMAT PATH.",
    )


def name_of(root: Path) -> str:
    """Return the default name of a data set: its folder's or file's."""
    return root.stem if root.is_file() else root.name


def preview(
    format_name: str,
    root: Path,
    name: str,
    view: View | None = None,
    progress: Progress | None = None,
    stop: Event | None = None,
) -> ImportPreview:
    """Read a data set without registering it.

    ``progress`` is called with the number of files read and in total; once ``stop`` is
    set, CancelledError is raised. A folder without images raises, as do duplicate item
    names and items with a missing image.
    """
    from viewer.readers.datasets.catalog import read_dataset

    def report(done: int, every: int) -> None:
        if stop is not None and stop.is_set():
            raise CancelledError("The import was stopped.", "Nothing was registered.")
        if progress is not None:
            progress(done, every)

    dataset = read_dataset(format_name, root.absolute(), name, view, report)
    if not dataset.images and not dataset.items:
        raise WrongUseError(
            f"'{root.name}' contains no image that Overread can open.",
            "Name the folder that holds the images.",
        )
    check_items(dataset.items, (image.key for image in dataset.images))
    return previewed(dataset)


def previewed(dataset: Dataset) -> ImportPreview:
    """Summarise the contents of a data set."""
    kinds = Counter(item.kind for item in dataset.items)
    return ImportPreview(
        dataset=dataset,
        patients=len(
            {image.patient for image in dataset.images}
            | {item.patient for item in dataset.items}
        ),
        readers=_readers(dataset),
        findings=_findings(dataset),
        notices=(*notice_counts(dataset.notices), *unread_grades(dataset)),
        items=tuple(ItemCount(*each) for each in kinds.most_common()),
    )


def register(
    store: Path, seen: ImportPreview, name: str, *, restricted: bool | None = None
) -> None:
    """Register a previewed data set under a name; raises if that has other content."""
    from dataclasses import replace

    from viewer.store import cases
    from viewer.store.database import open_store

    with open_store(store) as opened:
        dataset = replace(seen.dataset, name=name)
        cases.add_dataset(opened, dataset, restricted=restricted)


def _readers(dataset: Dataset) -> tuple[str, ...]:
    names = {
        reader
        for image in dataset.images
        for reader in (*image.readers, *readers_of(image.boxes))
    }
    return tuple(sorted(names - {""}))


def _findings(dataset: Dataset) -> tuple[FindingCount, ...]:
    positive, negative, referenced = Counter[str](), Counter[str](), Counter[str]()
    for image in dataset.images:
        usable = set() if "*" in image.defects else {*image.masks, *image.boxes}
        present = {name for name, is_so in image.labels.items() if is_so}
        referenced.update(usable)
        positive.update(usable | present)
        negative.update(set(image.labels) - present - usable)
    names = sorted({*positive, *negative})
    return tuple(
        FindingCount(name, positive[name], negative[name], referenced[name])
        for name in names
    )


def unread_grades(dataset: Dataset) -> tuple[NoticeCount, ...]:
    """Return the problem of a file of readers' grades, none if it can be read.

    It is no notice of the data set, since the file may change at any time.
    """
    problem = grades_of(dataset).problem
    text = f"{problem} No grade counts until that is corrected."
    return (NoticeCount("grades_unreadable", 1, text),) if problem else ()


def notice_lines(dataset: str, notices: Sequence[Notice]) -> Iterator[str]:
    """Yield a data set's notices as lines, the first few of each kind with a count."""
    by_kind: dict[str, list[Notice]] = {}
    for notice in notices:
        by_kind.setdefault(notice.kind, []).append(notice)
    for alike in by_kind.values():
        yield from (one.sentence for one in alike[:_SHOWN_OF_A_KIND])
        more = len(alike) - _SHOWN_OF_A_KIND
        if more > 0:
            listed = f"overread cases {dataset} lists all"
            yield f"... and {more:,} more like these; {listed}."


def notice_counts(notices: Sequence[Notice]) -> tuple[NoticeCount, ...]:
    """Return the kinds of notices, the most frequent first."""
    counts = Counter(notice.kind for notice in notices)
    first = {notice.kind: notice for notice in reversed(notices)}
    return tuple(
        NoticeCount(kind, n, first[kind].sentence) for kind, n in counts.most_common()
    )
