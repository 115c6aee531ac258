"""CheXlocalize's mask files: ``{image: {task: {"size": [h, w], "counts": RLE}}}``.

Layout: E000-01.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from json import JSONDecodeError
from pathlib import Path

from viewer.domain import rle
from viewer.domain.documents import read_json
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.domain.reference import Mask
from viewer.readers.datasets.findings import display_name
from viewer.readers.files.text_files import bounded_text


@dataclass(frozen=True)
class MaskSet:
    """One image's masks by display name.

    ``masks`` have at least one pixel, ``zero`` none; ``broken`` maps a name to the
    reason why its code cannot be read, as a sentence.
    """

    masks: Mapping[str, Mask] = field(default_factory=dict)
    zero: Mapping[str, Mask] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)

    @property
    def size(self) -> SizePx | None:
        """The image size that the masks state; None without a mask."""
        sizes = [mask.size for mask in (*self.masks.values(), *self.zero.values())]
        return sizes[0] if sizes else None


def read_json_object(path: Path) -> Mapping[str, object]:
    """Read a file with one JSON object; anything else raises with its position."""
    try:
        content = read_json(bounded_text(path))
    except JSONDecodeError as error:
        raise UnreadableInputError(
            f"'{path.name}' is not complete JSON: {error.msg} at line {error.lineno}, "
            f"column {error.colno}.",
            "It may be cut short; copy or download it again.",
        ) from error
    except (OSError, ValueError) as error:
        raise UnreadableInputError(
            f"'{path.name}' cannot be read as JSON text.", "Copy or download it again."
        ) from error
    if not isinstance(content, dict):
        raise UnreadableInputError(
            f"'{path.name}' contains no JSON object of images.",
            'It should begin {"patient…": {"Cardiomegaly": {"size": …}}}.',
        )
    return content


def read_mask_file(path: Path) -> Mapping[str, MaskSet]:
    """Return each image's masks; a broken mask is kept with its reason.

    An entry that is not an object of tasks is one broken mask named ``*``.
    """
    return {key: _mask_set(entry) for key, entry in read_json_object(path).items()}


def read_mask(entry: object) -> tuple[Mask, bool]:
    """Parse ``{"size": [h, w], "counts": RLE}``; return also whether a pixel is set.

    ``counts`` is a string of COCO's compressed RLE, or a list of its runs; invalid
    codes raise ``UnreadableInputError``.
    """
    size, counts = _size_of(entry), _counts_of(entry)
    runs = rle.decode_runs(counts)
    if any(run < 0 for run in runs):
        raise _broken("its run-length code has a negative run")
    if sum(runs) != size.rows * size.columns:
        raise _broken(
            f"its runs cover {sum(runs)} pixels, but its size says {size.rows} × "
            f"{size.columns}"
        )
    return Mask(size, counts), any(runs[1::2])


def _mask_set(entry: object) -> MaskSet:
    if not isinstance(entry, dict):
        return MaskSet(broken={"*": "its entry contains no masks by finding"})
    masks: dict[str, Mask] = {}
    zero: dict[str, Mask] = {}
    broken: dict[str, str] = {}
    for written, coded in entry.items():
        name = display_name(written)
        try:
            mask, has_pixels = read_mask(coded)
        except UnreadableInputError as error:
            broken[name] = error.what
        else:
            (masks if has_pixels else zero)[name] = mask
    return MaskSet(masks, zero, broken)


def _size_of(entry: object) -> SizePx:
    size = entry.get("size") if isinstance(entry, dict) else None
    if not isinstance(size, list) or len(size) != 2:
        raise _broken("it has no size [height, width]")
    if not all(type(n) is int and n > 0 for n in size):
        raise _broken(f"its size {size} is not two positive whole numbers")
    return SizePx(size[0], size[1])


def _counts_of(entry: object) -> str:
    counts = entry.get("counts") if isinstance(entry, dict) else None
    if isinstance(counts, str):
        return counts
    if isinstance(counts, list) and all(type(n) is int for n in counts):
        return rle.encode_runs(counts)
    raise _broken("it has no run-length code")


def _broken(why: str) -> UnreadableInputError:
    return UnreadableInputError(
        f"A mask cannot be read: {why}.",
        "Use COCO compressed RLE whose runs add up to height × width.",
    )
