"""Images that are made for readers' cases, such as the edited ones of a run.

They are drawn when a session is opened, of the images as models get them, with their
black bars. Each is a freshly written PNG in the data folder. They are registered so
that no list of data sets offers them, and deleted with the sessions that show them.
"""

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Final

from viewer.domain.case import Dataset, DatasetImage, ImageRef, View
from viewer.domain.errors import CancelledError
from viewer.domain.image import Raster
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reading import Exhibit
from viewer.domain.run import RunSpec
from viewer.imaging.png import encode_png
from viewer.services.privacy.gate import open_gate
from viewer.services.trials.run_context import RunContext
from viewer.settings import read_settings
from viewer.store import cases
from viewer.store.cases import MADE
from viewer.store.database import Store
from viewer.studies.reading_tasks import ReadingCase
from viewer.writers.files import write_atomically

_FOLDER: Final = "sessions"
"""Where images of sessions lie, below the data folder."""
Progress = Callable[[int, int], object]
"""Is told which image of how many is drawn."""


@dataclass(frozen=True)
class WithImages:
    """Cases that show images made for them, and the name these are registered under."""

    cases: tuple[ReadingCase, ...]
    name: str = ""


def with_made_images(
    store: Store,
    of: tuple[RunSpec, Dataset],
    work: str,
    shown: Sequence[ReadingCase],
    progress: Progress | None = None,
    stop: Event | None = None,
) -> WithImages:
    """Draw the images that cases want of a run, and register them.

    ``work`` is what sessions with the same cases have in common: they share the images.
    An image of the data set that cannot be read raises, and so does ``stop`` once it is
    set (CancelledError); nothing that was drawn until then is kept.
    """
    if not any(one.made for one in shown):
        return WithImages(tuple(shown))
    spec, dataset = of
    context = RunContext(spec, dataset, open_gate(store, dataset))
    folder = read_settings().home / _FOLDER / _sha256(f"{store.name} {work}".encode())
    with _all_or_nothing(folder):
        found: dict[str, DatasetImage] = {}
        drawn = []
        for number, case in enumerate(shown, 1):
            refuse_stopped(stop)
            if progress is not None:
                progress(number, len(shown))
            if case.made is not None:
                image = _written(folder, case.made.make(context.sources()))
                found[image.key] = image
                case = _showing(case, case.made.title, image.key)  # noqa: PLW2901
            drawn.append(case)
    content = _sha256("\n".join((work, *sorted(found))).encode())
    name = f"made for readers {content[:16]}"
    made = Dataset(name, MADE, folder, tuple(found.values()), (), content)
    cases.add_dataset(store, made, adhoc=True)
    return WithImages(tuple(drawn), name)


def refuse_stopped(stop: Event | None) -> None:
    """Raise CancelledError once ``stop`` is set."""
    if stop is not None and stop.is_set():
        raise CancelledError("Drawing was stopped.", "The session was not opened.")


@contextlib.contextmanager
def _all_or_nothing(folder: Path) -> Iterator[None]:
    """Remove what is written to a folder inside, unless all of it is."""
    before = set(folder.glob("*"))
    try:
        yield
    except BaseException:
        for path in set(folder.glob("*")) - before:
            path.unlink()
        if folder.is_dir() and not before:
            folder.rmdir()
        raise


def _showing(case: ReadingCase, title: str, key: str) -> ReadingCase:
    """Return a case whose own image is the one that was made for it."""
    exhibits = (Exhibit(title, image=key), *case.material.exhibits)
    material = replace(case.material, exhibits=exhibits)
    return replace(case, image=key, material=material, made=None)


def _written(folder: Path, raster: Raster) -> DatasetImage:
    """Write an image; its name and its key tell nothing of what it was made of."""
    png = encode_png(raster)
    sha256 = _sha256(png)
    path = folder / f"{sha256}.png"
    write_atomically(path, png)
    return DatasetImage(
        key=f"made {sha256}",
        patient="",
        study="",
        view=View.UNKNOWN,
        ref=ImageRef(path),
        geometry=ImageGeometry(raster.size),
        sha256=sha256,
    )


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
