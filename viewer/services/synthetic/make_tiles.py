"""Write a collection of generated tissue tiles with questions of known answers."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from viewer.domain.geometry import SizePx
from viewer.services.synthetic.folder import Collection, begin, write_each
from viewer.services.synthetic.make_phantom import PhantomSummary
from viewer.services.synthetic.phantom.tissue_questions import Tile, make_tile
from viewer.services.synthetic.write_tiles import write_questions, write_tile

SMALLEST: Final = SizePx(128, 128)
LARGEST: Final = SizePx(2048, 2048)
_KIND: Final = Collection(
    "generated tissue; nobody's", "tiles", "a tile", SMALLEST, LARGEST
)


def make_tiles(
    out: Path,
    n: int,
    seed: int,
    size: SizePx,
    progress: Callable[[int, int], None],
) -> PhantomSummary:
    """Write ``n`` tiles of a seed; the same arguments give the same bytes.

    Parameters
    ----------
    out : Path
        An empty or new folder, or one of the same collection, which is completed.
    n : int
        Number of tiles; 25 cover every subset in every split.
    seed : int
        Seed of the collection; a tile does not depend on ``n``.
    size : SizePx
        Rows and columns of every tile.
    progress : callable
        Called with (tiles done, n) from this thread.

    Returns
    -------
    PhantomSummary
        Its positives count the questions by split.

    Raises
    ------
    WrongUseError
        If a number is out of range, or the folder has other contents or is not
        writable.
    """
    begin(_KIND, out, n, seed, size)
    tiles = write_each(partial(_write_one, out, seed, size), n, progress)
    write_questions(out, tiles)
    counts = Counter(tile.split for tile in tiles for _ in tile.questions)
    return PhantomSummary(out, n, n, dict(counts))


def _write_one(out: Path, seed: int, size: SizePx, index: int) -> Tile:
    tile = make_tile(seed, index, size)
    write_tile(out, tile)
    return tile
