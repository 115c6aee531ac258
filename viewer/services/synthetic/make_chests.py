"""Write a collection of synthetic radiographs with boxes and anatomy masks."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from viewer.domain.geometry import SizePx
from viewer.services.synthetic.folder import Collection, begin, write_each
from viewer.services.synthetic.make_phantom import LARGEST, SMALLEST, PhantomSummary
from viewer.services.synthetic.phantom.patient import make_patient
from viewer.services.synthetic.write_chests import (
    WrittenChest,
    write_chest,
    write_chests_truth,
)

_KIND: Final = Collection(
    "synthetic radiographs with anatomies; no such persons exist",
    "patients",
    "a radiograph",
    SMALLEST,
    LARGEST,
)


def make_chests(
    out: Path,
    n: int,
    seed: int,
    size: SizePx,
    progress: Callable[[int, int], None],
) -> PhantomSummary:
    """Write ``n`` frontal radiographs; the same arguments give the same bytes.

    The folder is imported as ``vindr``.

    Parameters
    ----------
    out : Path
        An empty or new folder, or one of the same collection, which is completed.
    n : int
        Number of patients, each with one radiograph.
    seed : int
        Seed of the collection; a patient does not depend on ``n``.
    size : SizePx
        Rows and columns of every radiograph.
    progress : callable
        Called with (patients done, n) from this thread.

    Returns
    -------
    PhantomSummary
        Its positives count the radiographs with each finding.

    Raises
    ------
    WrongUseError
        If a number is out of range, or the folder has other contents or is not
        writable.
    """
    begin(_KIND, out, n, seed, size)
    chests = write_each(partial(_write_one, out, seed, size), n, progress)
    write_chests_truth(out, chests)
    counts = Counter(finding for chest in chests for finding in chest.boxes)
    return PhantomSummary(out, n, n, dict(counts))


def _write_one(out: Path, seed: int, size: SizePx, index: int) -> WrittenChest:
    return write_chest(out, make_patient(seed, index), size)
