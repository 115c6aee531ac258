"""The command line: the same services as the window, without it.

Exit codes: 0 success, 1 trials failed at the provider or are still pending, 2 wrong use
or unreadable input. Errors are one line on standard error: what is wrong and how to fix
it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import click

import viewer
from viewer.cli.shared import DONE, UNFINISHED, LazyGroup, say
from viewer.domain.errors import OverreadError, StoreBusyError, StoreLostError
from viewer.printing import prepare_streams
from viewer.settings import read_settings
from viewer.terminal import (
    NO_WINDOW,
    WindowParts,
    crash_sentence,
    wait_for_other_writers,
)

_COMMANDS: Final[Mapping[str, str]] = {
    "open": "opening.open_command",
    "demo": "opening.demo",
    "phantom": "images.phantom",
    "import": "images.import_command",
    "cases": "images.cases",
    "questions": "questions.questions",
    "import-saliency": "saliency.import_saliency",
    "import-points": "saliency.import_points",
    "import-predictions": "predictions.import_predictions",
    "import-replies": "written_replies.import_replies",
    "segment": "segmenting.segment",
    "init": "studies.init",
    "prompts": "studies.prompts",
    "run": "running.run",
    "report": "running.report",
    "rescore": "running.rescore",
    "reindex": "results_index.reindex",
    "pack": "packs.pack",
    "runs": "running.runs",
    "resume": "running.resume",
    "cancel": "running.cancel",
    "rescue": "running.rescue",
    "compare": "comparing.compare",
    "declare": "comparing.declare",
    "export": "exporting.export",
    "verify": "exporting.verify",
    "ask": "asking.ask",
    "models": "asking.models",
    "probe": "asking.probe",
    "calibrate": "asking.calibrate",
    "parse": "replies.parse",
    "published": "published.published",
    "readings": "readings.readings",
    "open-session": "sealed.open_session",
    "allow": "privacy.allow",
    "audit": "privacy.audit",
    "review": "privacy.review",
    "key": "privacy.key",
    "backup": "housekeeping.backup",
    "restore": "housekeeping.restore",
    "compact": "housekeeping.compact",
    "delete": "housekeeping.delete",
    "doctor": "machine.doctor",
    "worker": "machine.worker",
}

_WINDOWS: Final = ("open", "demo")
"""Commands that open a window, which says that the store is busy and does not wait."""


def run_command_line(arguments: Sequence[str], window: WindowParts = NO_WINDOW) -> int:
    """Run one command and return its exit code; users never see a traceback.

    Without a window, commands that would open it say so.
    """
    prepare_streams()
    try:
        result = overread.main(
            list(arguments), "overread", standalone_mode=False, obj=window
        )
    except (StoreLostError, StoreBusyError) as error:
        return say(str(error), UNFINISHED)
    except OverreadError as error:
        return say(str(error))
    except (click.exceptions.Abort, KeyboardInterrupt):
        return say("Stopped.", UNFINISHED)
    except click.ClickException as error:
        return say(f"{error.format_message()} See overread --help.")
    except BrokenPipeError:
        return UNFINISHED
    except UnicodeEncodeError:
        return say(
            "A name holds bytes that are not UTF-8. Rename the file, or write the name "
            "in UTF-8."
        )
    except MemoryError:
        return say("There is not enough memory for this; use a smaller input.")
    except Exception as error:  # noqa: BLE001 - a person never sees a traceback
        return say(crash_sentence(error, read_settings().home))
    return result if isinstance(result, int) else DONE


class _Verbs(LazyGroup):
    """The commands; without a command, the named files are opened in the window."""

    lazy = _COMMANDS

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Treat words that name files as arguments of the hidden command ``open``."""
        if args and not args[0].startswith("-") and args[0] not in _COMMANDS:
            if not Path(args[0]).exists():
                raise click.UsageError(
                    f"'{args[0]}' is neither a command nor an existing file."
                )
            args = ["open", *args]
        if args[:1] == ["--new-window"]:
            args = ["open", *args]
        return super().parse_args(context, args or ["open"])


@click.group(cls=_Verbs, invoke_without_command=True)
@click.version_option(viewer.__version__, prog_name="overread")
@click.pass_context
def overread(context: click.Context) -> None:
    """Read medical images together with models, and measure the models.

    overread [PATH ...] opens the window, with these files or folders; a window that is
    open already shows them, unless --new-window asks for another.
    """
    if context.invoked_subcommand not in _WINDOWS:
        wait_for_other_writers()
