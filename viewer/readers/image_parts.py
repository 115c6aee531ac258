"""The files that an image is made of."""

from pathlib import Path

from viewer.readers.isolation import isolated
from viewer.readers.pixels import FileKind, file_kind
from viewer.readers.refusal import refusing
from viewer.readers.side_files import volume_parts


@isolated
def files_of_image(path: Path) -> tuple[Path, ...]:
    """Return the files whose bytes an image's pixels come from.

    Raises
    ------
    UnreadableInputError
        If one of them may not be read.
    """
    kind = file_kind(path)
    with refusing(path):
        if kind is FileKind.VOLUME:
            return volume_parts(path)
        if kind is FileKind.SLIDE:
            from viewer.readers.slide import slide_parts

            return slide_parts(path)
    return (path,)
