"""The program's entry: ``overread``, ``python -m viewer`` and the frozen executable."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from viewer.services.bench import WindowSpeeds
    from viewer.services.bench_samples import Samples

_DECODER: Final = "_decoder"
"""With this alone the program is a decoding process, and imports nothing else."""


def main() -> None:
    """Run the command line, or open the window, and exit with its code."""
    if sys.argv[1:] == [_DECODER]:
        from viewer.services.decoder_process import serve

        serve()
        return
    from viewer.cli import run_command_line
    from viewer.terminal import WindowParts

    sys.exit(run_command_line(sys.argv[1:], WindowParts(open_window, measure_window)))


def open_window(paths: Sequence[Path], store: Path | None, *, demo: bool) -> int:
    """Open the window on files and folders, or on the demo; return the exit code.

    Raises MissingDependencyError where Qt is not installed, WrongUseError where there
    is no display.
    """
    from viewer.settings import read_settings

    _need_qt()
    from viewer import app

    return app.open_window(paths, read_settings(store), demo=demo)


def measure_window(samples: "Samples") -> "WindowSpeeds":
    """Measure the window on sample files; raises where Qt is not installed."""
    _need_qt()
    from viewer import app

    return app.measure_window(samples)


def _need_qt() -> None:
    from viewer.domain.errors import MissingDependencyError

    try:
        import viewer.app  # noqa: F401 - only whether it can be loaded
    except ImportError as error:
        raise MissingDependencyError(
            f"The window needs Qt, and {error.name} cannot be loaded.",
            "Install PySide6-Essentials and its system libraries, or use the commands.",
        ) from error


if __name__ == "__main__":
    main()
