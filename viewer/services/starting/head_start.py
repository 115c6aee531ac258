"""Start preparing the first image before the window is imported.

Nothing here imports Qt, nor what only a decoding process needs.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from viewer.domain.case import ImageRef
from viewer.domain.errors import WrongUseError
from viewer.domain.plain import made
from viewer.services.synthetic.demo_process import DemoProcess, demo_folder
from viewer.services.viewing.decoder_limits import read_limits
from viewer.services.viewing.decoding import ProcessDecoder
from viewer.settings import Settings

if TYPE_CHECKING:
    import subprocess

_LAYOUT: Final = "window.json"


@dataclass(frozen=True, eq=False)
class HeadStart:
    """Work in progress: decoding, and making the demo collection if requested."""

    decoder: ProcessDecoder
    demo: DemoProcess | None

    def end(self) -> None:
        """Stop any work in progress, when the window closes."""
        self.decoder.close()
        if self.demo is not None:
            self.demo.end()


def begin(
    paths: Sequence[Path],
    settings: Settings,
    running: "subprocess.Popen[bytes] | None" = None,
    *,
    demo: bool,
) -> HeadStart:
    """Start decoding the first image if it is known, otherwise only a process for it.

    The process may be ``running`` already.
    """
    decoder = ProcessDecoder(read_limits(), running)
    first = first_image(paths, settings.home, demo=demo)
    if first is not None:
        decoder.expect(first)
    else:
        decoder.start()
    return HeadStart(decoder, DemoProcess(settings) if demo else None)


def first_image(paths: Sequence[Path], home: Path, *, demo: bool) -> ImageRef | None:
    """Return the image to show first, None if it has to be searched for."""
    if demo:
        ref = ImageRef(demo_folder(home) / "radiograph" / "RG1.dcm")
    elif paths:
        ref = ImageRef(paths[0])
    else:
        ref = _image_left(home)
    return ref if ref.path.is_file() else None


def _image_left(home: Path) -> ImageRef:
    """Return the image that was shown when the window was last closed."""
    try:
        text = (home / _LAYOUT).read_text(encoding="utf-8")
        return made(ImageRef, json.loads(text)["image"], where="the layout")
    except (OSError, ValueError, KeyError, TypeError, WrongUseError):
        return ImageRef(Path())  # as the window does with what it cannot read
