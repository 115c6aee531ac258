"""The command line (DESIGN 8): the same services as the window, without it.

Exit codes: 0 done, 1 trials failed at the provider or are still pending, 2 wrong use
or unreadable input. What is printed on standard error is one line of what is wrong
and how to mend it.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

import viewer
from viewer.domain.case import NAMED_VIEWS, ImageRef, View
from viewer.domain.errors import (
    DiskFullError,
    MissingDependencyError,
    OverreadError,
    WrongUseError,
)
from viewer.domain.run import OrphanPolicy
from viewer.settings import Settings, read_settings
from viewer.terminal import (
    NO_WINDOW,
    OpenWindow,
    Progress,
    WindowParts,
    cell_text,
    crash_sentence,
    demo_batch,
    drive,
    print_bench,
    print_json,
    print_rows,
    print_run,
    run_number,
    size_of,
)

if TYPE_CHECKING:
    from viewer.services.run_batch import BatchOptions
    from viewer.store.database import Store

DONE, UNFINISHED, WRONG_USE = 0, 1, 2
_FAILED: Final = ("provider_error", "pending")

_store_option = click.option(
    "--store",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The store's file; default: the user's data folder or OVERREAD_STORE.",
)
_json_option = click.option(
    "--json", "as_json", is_flag=True, help="Only JSON on standard output."
)
_threads_option = click.option(
    "--threads",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    help="Questions in flight.",
)


def run_command_line(arguments: Sequence[str], window: WindowParts = NO_WINDOW) -> int:
    """Run one command and return its exit code; a person never sees a traceback.

    Without a window, what would open it says so.
    """
    try:
        result = overread.main(
            list(arguments), "overread", standalone_mode=False, obj=window
        )
    except OverreadError as error:
        return _say(str(error))
    except (click.exceptions.Abort, KeyboardInterrupt):
        return _say("Stopped.", UNFINISHED)
    except click.ClickException as error:
        return _say(f"{error.format_message()} See overread --help.")
    except BrokenPipeError:
        return UNFINISHED
    except MemoryError:
        return _say("There is not enough memory for this; use a smaller input.")
    except Exception as error:  # noqa: BLE001 - a person never sees a traceback
        return _say(crash_sentence(error, read_settings().home))
    return result if isinstance(result, int) else DONE


def _say(sentence: str, code: int = WRONG_USE) -> int:
    print(" ".join(sentence.split()), file=sys.stderr)  # noqa: T201 - one line
    return code


def _finish(store: "Store", run: int, options: "BatchOptions", *, worker: bool) -> int:
    """Ask what is pending; a disk that fills up leaves the rest pending."""
    try:
        return DONE if drive(store, run, options, worker=worker) else UNFINISHED
    except DiskFullError as error:
        return _say(str(error), UNFINISHED)


class _Verbs(click.Group):
    """The commands; without one, what is named is opened in the window."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Read words that name files as the paths of the hidden command ``open``."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            if not Path(args[0]).exists():
                raise click.UsageError(
                    f"'{args[0]}' is neither a command nor a file here."
                )
            args = ["open", *args]
        return super().parse_args(context, args or ["open"])


@click.group(cls=_Verbs, invoke_without_command=True)
@click.version_option(viewer.__version__, prog_name="overread")
def overread() -> None:
    """Read medical images together with models, and measure them.

    overread [PATH ...] opens the window, with these files or folders.
    """


@overread.command("open", hidden=True)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@_store_option
@click.pass_context
def open_command(
    context: click.Context, paths: tuple[Path, ...], store: Path | None
) -> int:
    """Open the window."""
    return _window(context)(paths, store, demo=False)


def _window(context: click.Context) -> OpenWindow:
    parts: WindowParts = context.obj
    if parts.open is None:
        raise WrongUseError("This program has no window.", "See overread --help.")
    return parts.open


@overread.command()
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--n", type=click.IntRange(1, 100_000), required=True, help="Patients.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option(
    "--size",
    default="2000x2500",
    show_default=True,
    help="Width x height in pixels.",
)
@click.option("--store", expose_value=False, help="Accepted; a phantom needs none.")
@_json_option
def phantom(out: Path, n: int, seed: int, size: str, *, as_json: bool) -> None:
    """Write synthetic chest studies with their truth."""
    from viewer.services.make_phantom import make_phantom

    with Progress("Phantom patients") as progress:
        summary = make_phantom(out, n, seed, size_of(size), progress)
    if as_json:
        print_json({"folder": str(out), "patients": n, "images": summary.images})
    else:
        click.echo(f"{n} patients, {summary.images} images in {out}")


@overread.command("import")
@click.argument("format_name", metavar="FORMAT")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", help="The name to register it under; default: the folder's.")
@click.option(
    "--view",
    type=click.Choice(NAMED_VIEWS),
    help="The view of images that do not say it themselves.",
)
@_store_option
@_json_option
def import_command(
    format_name: str,
    path: Path,
    name: str | None,
    view: str | None,
    store: Path | None,
    *,
    as_json: bool,
) -> None:
    """Register a data set: chexlocalize or folder."""
    from viewer.services.import_dataset import import_dataset
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        dataset = import_dataset(
            opened,
            format_name,
            path,
            name or path.absolute().name,
            View(view) if view else None,
        )
    items = sum(len(image.masks) for image in dataset.images)
    if as_json:
        print_json(
            {
                "name": dataset.name,
                "images": len(dataset.images),
                "items": items,
                "notices": [[n.kind, n.subject, n.text] for n in dataset.notices],
            }
        )
        return
    for n in dataset.notices:
        click.echo(f"{n.subject}: {n.text}", err=True)
    click.echo(
        f"'{dataset.name}': {len(dataset.images)} images, {items} reference masks, "
        f"{len(dataset.notices)} notices"
    )


@overread.command()
@click.argument("study_file", type=click.Path(path_type=Path))
@click.option("--model", "models", multiple=True, help="Instead of the file's models.")
@click.option("--limit", type=click.IntRange(1), help="Only the first K items.")
@click.option("--new", is_flag=True, help="Start another run; replies are reused.")
@click.option("--retry-failed", is_flag=True, help="Ask failed trials again.")
@click.option("--orphans", type=click.Choice([p.value for p in OrphanPolicy]))
@click.option("--worker", is_flag=True, help="Ask in a worker process.")
@_threads_option
@_store_option
@_json_option
def run(
    study_file: Path,
    models: tuple[str, ...],
    limit: int | None,
    orphans: str | None,
    threads: int,
    store: Path | None,
    *,
    new: bool,
    retry_failed: bool,
    worker: bool,
    as_json: bool,
) -> int:
    """Plan and run a study file; an unfinished run goes on by itself."""
    from viewer.services.plan_run import plan_run
    from viewer.services.run_batch import BatchOptions
    from viewer.services.study_file import read_study_file
    from viewer.store.database import open_store

    settings = read_settings(store)
    spec = read_study_file(study_file, settings.models_file, models=models, limit=limit)
    options = BatchOptions(
        concurrency=threads,
        orphans=OrphanPolicy(orphans) if orphans else None,
        retry_failed=retry_failed,
    )
    with open_store(settings.store) as opened:
        number = plan_run(opened, spec, new=new)
        code = _finish(opened, number, options, worker=worker)
        print_run(opened, number, as_json=as_json)
    return code


@overread.command()
@click.argument("run_name", metavar="RUN")
@click.option("--out", type=click.Path(path_type=Path), required=True)
@_store_option
@_json_option
def report(run_name: str, out: Path, store: Path | None, *, as_json: bool) -> None:
    """Write a run's tables, figures, manifest and page."""
    from viewer.services.report_run import write_report
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        files = write_report(opened, run_number(run_name, opened), out)
    if as_json:
        print_json([str(path) for path in files])
    else:
        click.echo("\n".join(str(path) for path in files))


@overread.command()
@click.argument("run_name", metavar="RUN")
@_store_option
@_json_option
def rescore(run_name: str, store: Path | None, *, as_json: bool) -> None:
    """Parse and score a run's kept replies again; no model is asked."""
    from viewer.services.rescore import rescore_run
    from viewer.store.database import open_store

    with (
        open_store(read_settings(store).store) as opened,
        Progress("Replies") as progress,
    ):
        result = rescore_run(opened, run_number(run_name, opened), progress)
    if as_json:
        print_json({"replies": result.replies, "changed": result.changed})
    else:
        click.echo(f"{result.replies} replies read again, {result.changed} changed")


@overread.command()
@click.option("--all", "include_adhoc", is_flag=True, help="Single questions too.")
@_store_option
@_json_option
def runs(store: Path | None, *, include_adhoc: bool, as_json: bool) -> None:
    """List the runs, oldest first."""
    from viewer.services.listing import run_rows
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        rows = run_rows(opened, include_adhoc=include_adhoc)
    if as_json:
        print_json(rows)
    else:
        columns = ("id", "study", "dataset", "models", "status", "n_planned", "counts")
        print_rows(rows, columns)


@overread.command()
@click.argument("name", required=False)
@_store_option
@_json_option
def cases(name: str | None, store: Path | None, *, as_json: bool) -> None:
    """List the data sets, or one data set's images and notices."""
    from viewer.services.listing import dataset_rows, image_rows
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        rows, notices = image_rows(opened, name) if name else (dataset_rows(opened), [])
    if as_json:
        print_json(rows if name is None else {"images": rows, "notices": notices})
        return
    print_rows(rows, list(rows[0]) if rows else [])
    if notices:
        print_rows(notices, ("kind", "subject", "text"))


@overread.command()
@_store_option
@_json_option
def models(store: Path | None, *, as_json: bool) -> None:
    """List the models and what each still needs."""
    from viewer.services.listing import model_rows
    from viewer.services.study_file import known_profiles

    rows = model_rows(known_profiles(read_settings(store).models_file))
    if as_json:
        print_json(rows)
    else:
        print_rows(rows, ("name", "adapter", "state", "summary"))


@overread.command()
@click.option("--bench", is_flag=True, help="Measure speeds on this machine.")
@_store_option
@_json_option
@click.pass_obj
def doctor(
    window: WindowParts, store: Path | None, *, bench: bool, as_json: bool
) -> None:
    """Say what is installed, what is missing and how to get it."""
    from viewer.services.listing import doctor_rows

    if bench:
        print_bench(window, as_json=as_json)
        return
    rows = doctor_rows(read_settings(store))
    print_json(rows) if as_json else print_rows(rows, ("what", "state", "mend"))


@overread.command()
@_store_option
def worker(store: Path | None) -> None:
    """Serve the window over JSON lines; not meant to be typed."""
    from viewer.services.worker import run_worker

    run_worker(read_settings(store).store)


@overread.command()
@click.argument("image", type=click.Path(path_type=Path))
@click.option("--finding", required=True, help="For example 'Pleural Effusion'.")
@click.option("--model", "model_name", default="asymmetry", show_default=True)
@click.option("--grid", default="8", show_default=True, help="8, or 8x10: rows x cols.")
@click.option("--frame", type=click.IntRange(0), default=0, show_default=True)
@click.option("--view", type=click.Choice(NAMED_VIEWS))
@click.option("--out", type=click.Path(path_type=Path), help="Draw the answer here.")
@_store_option
@_json_option
def ask(
    image: Path,
    finding: str,
    model_name: str,
    grid: str,
    frame: int,
    view: str | None,
    out: Path | None,
    store: Path | None,
    *,
    as_json: bool,
) -> int:
    """Ask one question about one image; the answer is kept in the store."""
    from viewer.services.ask import Question, answer_row, write_overlay
    from viewer.services.ask import ask as ask_one
    from viewer.services.study_file import known_profiles, named_profile
    from viewer.store.database import open_store

    settings = read_settings(store)
    question = Question(
        ref=ImageRef(image.absolute(), frame),
        finding=finding,
        profile=named_profile(model_name, known_profiles(settings.models_file)),
        grid=grid,
        view=View(view) if view else View.UNKNOWN,
    )
    with open_store(settings.store) as opened:
        reply = ask_one(opened, question)
    if out is not None:
        write_overlay(reply, out)
    row = answer_row(reply)
    lines = (f"{name}: {cell_text(value)}" for name, value in row.items())
    print_json(row) if as_json else click.echo("\n".join(lines))
    return UNFINISHED if row["status"] in _FAILED else DONE


@overread.command()
@click.option("--prepare", is_flag=True, help="Only make the demo collection.")
@click.option("--batch", is_flag=True, help="Run the demo's batch without the window.")
@_store_option
@click.pass_context
def demo(
    context: click.Context, store: Path | None, *, prepare: bool, batch: bool
) -> int:
    """Open the window on the demo collection; without a display, run its batch."""
    settings = read_settings(store)
    if prepare or batch:
        return _demo_batch(settings, prepare=prepare)
    try:
        return _window(context)((), store, demo=True)
    except (WrongUseError, MissingDependencyError) as error:
        _say(f"{error.what} The demo's batch runs on the command line instead.")
        return _demo_batch(settings, prepare=False)


def _demo_batch(settings: Settings, *, prepare: bool) -> int:
    try:
        return DONE if demo_batch(settings, prepare=prepare) else UNFINISHED
    except DiskFullError as error:
        return _say(str(error), UNFINISHED)
