"""Entry points: ``overread``, ``python -m viewer`` and the frozen executable."""

import atexit
import contextlib
import gc
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from viewer.domain.errors import OverreadError
from viewer.private_files import restrict_umask
from viewer.settings import read_settings

if TYPE_CHECKING:
    import subprocess

    from viewer.services.benchmarking.bench import WindowSpeeds
    from viewer.services.benchmarking.samples import Samples


def main() -> None:
    """Run the command line or open the window, then exit with the exit code."""
    _collect_rarely()
    restrict_umask()
    _end_at_interrupt()
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    if word in _PROCESSES:
        _PROCESSES[word](*sys.argv[2:])
        return
    if _is_handed_over(sys.argv[1:]):
        return
    decoder = _early_decoder(sys.argv[1:])
    try:
        code = _run_command_line(decoder)
    finally:
        if decoder is not None:
            decoder.kill()
    _leave(code)


_USUAL_THRESHOLDS: Final = gc.get_threshold()
_COMMAND: Final = re.compile("[a-z-]*")
_COMPLETES: Final = "_OVERREAD_COMPLETE"
"""Set by a shell that wants to complete a command."""
_RARELY: Final = 5_000
"""How many new objects let Python look for cycles; usually it is 700."""


def _collect_rarely() -> None:
    """Spare a start most searches for cycles, of which imports leave few, and the end.

    Its last searches take a fifth of a short command's time, to free what ends anyway.
    """
    gc.set_threshold(_RARELY, *_USUAL_THRESHOLDS[1:])
    atexit.register(gc.freeze)


def _end_at_interrupt() -> None:
    """Let Ctrl+C end an import silently, unless SIGINT is ignored."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _raise_at_interrupt() -> None:
    """Let Ctrl+C raise KeyboardInterrupt again, as the commands expect."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(code: int) -> None:
    """Exit without waiting for threads that still ask: nobody awaits their replies."""
    names = [thread.name for thread in threading.enumerate()]
    if any(name.startswith(("ask", "prepare", "run-")) for name in names):
        from viewer.services.running.stopping import leave_at_once

        leave_at_once(code)
    sys.exit(code)


def _run_command_line(decoder: "subprocess.Popen[bytes] | None") -> int:
    from viewer.cli import run_command_line
    from viewer.cli.shared import say
    from viewer.terminal import WindowParts

    if not _reads_no_file() and (problem := _read_files_elsewhere()):
        return say(problem)
    if decoder is None:
        _raise_at_interrupt()
    window = WindowParts(partial(open_window, decoder=decoder), measure_window)
    return run_command_line(sys.argv[1:], window)


def _reads_no_file() -> bool:
    """Tell whether only a version, a help page or a shell's completion is wanted."""
    return _COMPLETES in os.environ or sys.argv[-1] in {"--version", "--help"}


def _read_files_elsewhere() -> str:
    """Let other processes decode files; return why they cannot, "" if they can."""
    from viewer.domain.errors import OverreadError
    from viewer.services.viewing.decoder_pool import read_files_elsewhere

    try:
        read_files_elsewhere()
    except OverreadError as error:
        return str(error)
    return ""


def _is_handed_over(words: Sequence[str]) -> bool:
    """Tell whether the window that is open took these paths; imports next to nothing.

    A word that could be a command is left to the command line.
    """
    paths = [Path(word) for word in words]
    if words and _COMMAND.fullmatch(words[0]):
        return False
    if not all(path.exists() for path in paths):
        return False
    from viewer.services.starting.running_window import hand_over

    with contextlib.suppress(OverreadError):  # the command line tells of it
        return hand_over(paths, read_settings())
    return False


def _early_decoder(words: Sequence[str]) -> "subprocess.Popen[bytes] | None":
    """Start the process that decodes the first image, if a window will open.

    Its imports run while the command line is imported in this process. By itself it
    reads and shows nothing.
    """
    known = words[0] == "demo" if len(words) == 1 else not words
    if not known and not all(Path(word).exists() for word in words):
        return None
    from viewer.services.viewing.decoder_process import spawn_decoder

    return spawn_decoder()


def _decode() -> None:
    from viewer.services.viewing.decoder_process import serve

    serve()


def _make_demo(home: str, store: str) -> None:
    from viewer.services.synthetic.demo_process import serve

    serve(Path(home), Path(store))


def _rehearse_gguf(*settings: str) -> None:
    from viewer.models.gguf_local.rehearsal import perform

    perform(*settings)


_PROCESSES: Final[Mapping[str, Callable[..., None]]] = {
    "_decoder": _decode,
    "_demo": _make_demo,
    "_rehearse_gguf": _rehearse_gguf,
}
"""Words with which the program runs itself beside itself, importing little."""


def open_window(
    paths: Sequence[Path],
    store: Path | None,
    *,
    demo: bool,
    new_window: bool = False,
    decoder: "subprocess.Popen[bytes] | None" = None,
) -> int:
    """Open the window on files and folders, or on the demo; return the exit code.

    A window that is open already gets the paths, unless ``new_window`` asks for another
    one. ``decoder`` is a decoding process that is already running.

    Raises MissingDependencyError if Qt is not installed, WrongUseError if there is no
    display.
    """
    from viewer.private_files import tighten
    from viewer.services.starting import head_start, running_window

    settings = read_settings(store)
    if not (demo or new_window) and running_window.hand_over(paths, settings):
        return 0
    _need_display()
    gc.set_threshold(*_USUAL_THRESHOLDS)  # by which the window itself collects
    gc.disable()  # until the window is furnished: it saves a tenth of the start
    tightened = tighten(settings.store)
    begun = head_start.begin(paths, settings, decoder, demo=demo)
    listener = running_window.listen(settings)
    try:
        _need_qt()
        from viewer import app

        return app.open_window(paths, settings, begun, tightened, listener)
    finally:
        if listener is not None:
            listener.close()
        gc.enable()
        begun.end()


def measure_window(samples: "Samples") -> "WindowSpeeds":
    """Time the window on sample files; MissingDependencyError without Qt."""
    _need_qt()
    from viewer import app

    return app.measure_window(samples)


def _need_display() -> None:
    from viewer.domain.errors import WrongUseError
    from viewer.services.starting.display import has_display

    if not has_display():
        raise WrongUseError(
            "There is no display to open the window on.",
            "Set DISPLAY, or use the command line: overread --help.",
        )


def _need_qt() -> None:
    from viewer.domain.errors import MissingDependencyError

    try:
        import viewer.ui  # noqa: F401 - first: it changes Qt for later imports
        from viewer import app  # noqa: F401 - only whether it can be loaded
    except ImportError as error:
        raise MissingDependencyError(
            f"The window needs Qt, and {error.name} cannot be loaded.",
            "Install PySide6-Essentials and its system libraries, or use the commands.",
        ) from error


if __name__ == "__main__":
    main()
