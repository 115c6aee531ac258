"""Register a data set in the store."""

from collections.abc import Sequence
from pathlib import Path

from viewer.domain.case import Dataset, View
from viewer.readers.datasets.catalog import read_dataset
from viewer.readers.datasets.merge import merge
from viewer.services.importing.import_preview import Progress, preview
from viewer.store import cases
from viewer.store.database import Store


def import_dataset(
    store: Store,
    format_name: str,
    root: Path,
    name: str,
    view: View | None = None,
    *,
    restricted: bool | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Read a folder and register it under a name; every defect is in its notices.

    ``view`` is used for images whose file does not give one; ``restricted`` is whether
    the licence keeps them on this machine, None for the earlier setting; ``progress``
    is called with the number of files read and in total. Duplicate item names, or items
    with a missing image, raise WrongUseError.
    """
    dataset = preview(format_name, root, name, view, progress).dataset
    cases.add_dataset(store, dataset, restricted=restricted)
    return dataset


def import_merged(
    store: Store, name: str, parts: Sequence[tuple[str, Path]]
) -> Dataset:
    """Read several folders, each (format, path), and register them as one."""
    dataset = merge(
        name, [read_dataset(fmt, path.absolute(), name, None) for fmt, path in parts]
    )
    cases.add_dataset(store, dataset)
    return dataset
