"""Commands about this machine: doctor and worker."""

from pathlib import Path

import click

from viewer.cli.shared import DONE, UNFINISHED, json_option, say, store_option
from viewer.printing import print_json, print_rows
from viewer.settings import read_settings
from viewer.terminal import WindowParts, print_bench


@click.command()
@click.option("--bench", is_flag=True, help="Measure speeds on this machine.")
@store_option
@json_option
@click.pass_obj
def doctor(
    window: WindowParts, store: Path | None, *, bench: bool, as_json: bool
) -> None:
    """Say what is installed, what is missing and how to get it."""
    from viewer.services.inspecting.listing import doctor_rows

    if bench:
        print_bench(window, as_json=as_json)
        return
    rows = doctor_rows(read_settings(store))
    print_json(rows) if as_json else print_rows(rows, ("what", "state", "mend"))


@click.command()
@store_option
def worker(store: Path | None) -> int:
    """Serve the window over JSON lines; not meant to be typed."""
    from viewer.services.running.stopping import unanswered_sentence
    from viewer.services.worker.worker import run_worker

    unanswered = run_worker(read_settings(store).store)
    return say(unanswered_sentence(unanswered), UNFINISHED) if unanswered else DONE
