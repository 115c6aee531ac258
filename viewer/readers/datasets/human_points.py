"""CheXlocalize's human points: where other radiologists pointed (Saporta et al. 2022).

``hb_salient_pt_{val,test}.json`` is ``{image id: {task: [[x, y], …]}}`` in native
pixels; a reader may have given several points (E000-01, E000-23).
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import PointPx
from viewer.readers.datasets.chexpert_layout import find_layout
from viewer.readers.datasets.findings import display_name
from viewer.readers.datasets.segmentations import read_json_object

HumanPoints = Mapping[str, Mapping[str, tuple[PointPx, ...]]]
"""By image id and finding's display name."""
_PAIR = 2


def human_points_below(root: Path) -> HumanPoints:
    """Return the points of every such file below a folder, {} if there is none.

    A folder that is missing or is not CheXlocalize has none; a damaged file raises
    ``UnreadableInputError``.
    """
    if not root.is_dir():
        return {}
    found: dict[str, Mapping[str, tuple[PointPx, ...]]] = {}
    for path in _files_below(root, root.stat().st_mtime_ns):
        found |= read_human_points(path)
    return found


@lru_cache(maxsize=4)
def _files_below(root: Path, _changed: int) -> tuple[Path, ...]:
    """Search a folder, which may be large, only once while it is unchanged."""
    try:
        return find_layout(root).human_points
    except UnreadableInputError:
        return ()


def read_human_points(path: Path) -> HumanPoints:
    """Return the points of one file; an invalid point raises, naming its image."""
    return {
        image: _tasks(tasks, image, path)
        for image, tasks in read_json_object(path).items()
    }


def _tasks(tasks: object, image: str, path: Path) -> Mapping[str, tuple[PointPx, ...]]:
    if not isinstance(tasks, dict):
        raise _damaged(image, path)
    return {
        display_name(str(task)): tuple(_point(p, image, path) for p in _listed(points))
        for task, points in tasks.items()
    }


def _listed(points: object) -> Sequence[object]:
    """Return a list of points; a single one may come without a list around it."""
    if not isinstance(points, list):
        return (points,)
    is_one = len(points) == 2 and not any(isinstance(p, list) for p in points)
    return (points,) if is_one else points


def _point(value: object, image: str, path: Path) -> PointPx:
    pair = value if isinstance(value, list) else []
    numbers = [float(part) for part in pair if _is_number(part)]
    if len(numbers) != len(pair) or len(pair) != _PAIR:
        raise _damaged(image, path)
    return PointPx(numbers[0], numbers[1])


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _damaged(image: str, path: Path) -> UnreadableInputError:
    return UnreadableInputError(
        f"'{path.name}' contains something other than points for {image}.",
        'It should say {"patient…": {"Edema": [[120, 240]]}}.',
    )
