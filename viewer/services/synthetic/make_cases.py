"""Write a collection of synthetic cases with several pieces of evidence each."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from viewer.domain.geometry import SizePx
from viewer.services.synthetic.folder import Collection, begin, write_each
from viewer.services.synthetic.make_phantom import PhantomSummary
from viewer.services.synthetic.phantom.evidence_cases import PhantomCase, make_case
from viewer.services.synthetic.write_cases import write_case, write_report

SMALLEST: Final = SizePx(128, 128)
LARGEST: Final = SizePx(2048, 2048)
REPORTS: Final = 4
"""Cases whose reports are written too, at most; the fourth is in Chinese."""
_KIND: Final = Collection(
    "invented cases; no such persons exist",
    "cases",
    "a case's images",
    SMALLEST,
    LARGEST,
)


def make_cases(
    out: Path,
    n: int,
    seed: int,
    size: SizePx,
    progress: Callable[[int, int], None],
) -> PhantomSummary:
    """Write ``n`` cases of a seed; the same arguments give the same bytes.

    Parameters
    ----------
    out : Path
        An empty or new folder, or one of the same collection, which is completed.
    n : int
        Number of cases; every fourth is in Chinese.
    seed : int
        Seed of the collection; a case does not depend on ``n``.
    size : SizePx
        Rows and columns of every image.
    progress : callable
        Called with (cases done, n) from this thread.

    Returns
    -------
    PhantomSummary
        Its positives count the cases by diagnosis.

    Raises
    ------
    WrongUseError
        If a number is out of range, or the folder has other contents or is not
        writable.
    """
    begin(_KIND, out, n, seed, size)
    cases = write_each(partial(_write_one, out, seed, size), n, progress)
    images = sum(len(made.images) for made in cases)
    counts = Counter(made.case.diagnosis for made in cases)
    return PhantomSummary(out, n, images, dict(counts))


def make_cases_and_reports(
    out: Path,
    n: int,
    seed: int,
    size: SizePx,
    progress: Callable[[int, int], None],
) -> PhantomSummary:
    """Write cases as :func:`make_cases` does, and the reports of the first of them."""
    summary = make_cases(out, n, seed, size, progress)
    for index in range(min(n, REPORTS)):
        write_report(out, make_case(seed, index, size), size)
    return summary


def _write_one(out: Path, seed: int, size: SizePx, index: int) -> PhantomCase:
    made = make_case(seed, index, size)
    write_case(out, made, size)
    return made
