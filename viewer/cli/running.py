"""Commands about runs: run, resume, cancel, report, rescore, runs and rescue."""

from pathlib import Path

import click

from viewer.cli.privacy import ask_for_keys
from viewer.cli.shared import (
    DONE,
    finish,
    json_option,
    say,
    store_option,
    threads_option,
)
from viewer.domain.counting import counted
from viewer.domain.errors import WrongUseError
from viewer.domain.run import OrphanPolicy
from viewer.printing import echo, print_json, print_rows
from viewer.settings import read_settings
from viewer.terminal import Progress, follow, print_run, run_number


@click.command()
@click.argument("study_file", type=click.Path(path_type=Path))
@click.option(
    "--model", "models", multiple=True, help="Use these models instead of the file's."
)
@click.option("--limit", type=click.IntRange(1), help="Only the first K items.")
@click.option("--new", is_flag=True, help="Start a new run; replies are reused.")
@click.option(
    "--fresh",
    is_flag=True,
    help="Ask again what has replies; new ones are kept beside them.",
)
@click.option("--retry-failed", is_flag=True, help="Ask failed trials again.")
@click.option("--orphans", type=click.Choice([p.value for p in OrphanPolicy]))
@click.option(
    "--ceiling",
    type=float,
    help="Spending limit in US dollars; the run pauses before exceeding it.",
)
@click.option("--worker", is_flag=True, help="Ask in a worker process.")
@threads_option
@store_option
@json_option
def run(
    study_file: Path,
    models: tuple[str, ...],
    limit: int | None,
    orphans: str | None,
    ceiling: float | None,
    threads: int | None,
    store: Path | None,
    *,
    new: bool,
    fresh: bool,
    retry_failed: bool,
    worker: bool,
    as_json: bool,
) -> int:
    """Plan and run a study file; an unfinished run is continued."""
    from viewer.services.configuring.study_file import read_study_file
    from viewer.services.running.batch_estimate import notices_of
    from viewer.services.running.batch_options import BatchOptions
    from viewer.services.running.plan_run import plan_run
    from viewer.services.running.prompt_versions import split_notice_of_run
    from viewer.services.running.supported_findings import missing_findings_of_run
    from viewer.store.cases import dataset_named
    from viewer.store.database import open_store

    settings = read_settings(store)
    spec = read_study_file(
        study_file, settings.models_file, models=models, limit=limit, ceiling=ceiling
    )
    options = BatchOptions(
        concurrency=threads or 0,
        orphans=OrphanPolicy(orphans) if orphans else None,
        retry_failed=retry_failed,
    )
    if not worker:  # a process of its own would not know what is typed here
        ask_for_keys((*spec.models, *spec.helpers))
    with open_store(settings.store) as opened:
        for sentence in notices_of(spec, dataset_named(opened, spec.dataset)):
            say(sentence)
        number = plan_run(opened, spec, new=new, fresh=fresh)
        for told in (missing_findings_of_run, split_notice_of_run):
            if sentence := told(opened, number):
                say(sentence)
        code = finish(opened, number, options, worker=worker)
        print_run(opened, number, as_json=as_json)
    return code


@click.command()
@click.argument("run_name", metavar="RUN")
@threads_option
@store_option
@json_option
def resume(
    run_name: str, threads: int | None, store: Path | None, *, as_json: bool
) -> int:
    """Continue a run; answers of a provider's batch are taken in."""
    from viewer.services.running.batch_options import BatchOptions
    from viewer.store.database import open_store
    from viewer.store.runs import run_spec

    with open_store(read_settings(store).store) as opened:
        number = run_number(run_name, opened)
        spec = run_spec(opened, number)
        ask_for_keys((*spec.models, *spec.helpers))
        options = BatchOptions(concurrency=threads or 0)
        code = finish(opened, number, options, worker=False)
        print_run(opened, number, as_json=as_json)
    return code


@click.command()
@click.argument("run_name", metavar="RUN")
@store_option
@json_option
def cancel(run_name: str, store: Path | None, *, as_json: bool) -> int:
    """Cancel a run and its batches at providers; answers they have are kept."""
    from viewer.services.running.run_batch import cancel_run
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        number = run_number(run_name, opened)
        with Progress(f"Run {number}") as progress:
            follow(cancel_run(opened, number), progress)
        print_run(opened, number, as_json=as_json)
    return DONE


@click.command()
@click.argument("run_name", metavar="RUN")
@click.option("--out", type=click.Path(path_type=Path), required=True)
@store_option
@json_option
def report(run_name: str, out: Path, store: Path | None, *, as_json: bool) -> None:
    """Write a run's tables, figures, manifest and page."""
    from viewer.services.reporting.figures import cards_of
    from viewer.services.reporting.report_run import checked_report, write_run_report
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        found = checked_report(opened, run_number(run_name, opened))
        files = write_run_report(opened, found, out, cards_of(opened, found))
    for sentence in found.warnings:
        echo(sentence, err=True)
    if as_json:
        print_json([str(path) for path in files])
    else:
        echo(*files)


@click.command()
@click.argument("run_name", metavar="RUN")
@store_option
@json_option
def rescore(run_name: str, store: Path | None, *, as_json: bool) -> None:
    """Parse and score a run's stored replies again; no model is asked."""
    from viewer.services.reporting.rescore import rescore_run
    from viewer.store.database import open_store

    with (
        open_store(read_settings(store).store) as opened,
        Progress("Replies") as progress,
    ):
        result = rescore_run(opened, run_number(run_name, opened), progress)
    if as_json:
        print_json({"replies": result.replies, "changed": result.changed})
    else:
        echo(f"{result.replies} replies read again, {result.changed} changed")


@click.command()
@click.option("--all", "include_adhoc", is_flag=True, help="Include single questions.")
@store_option
@json_option
def runs(store: Path | None, *, include_adhoc: bool, as_json: bool) -> None:
    """List the runs, oldest first."""
    from viewer.services.inspecting.listing import run_rows
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        rows = run_rows(opened, include_adhoc=include_adhoc)
    if as_json:
        print_json(rows)
    else:
        columns = ("id", "study", "dataset", "models", "status", "n_planned", "endings")
        noted = [c for c in ("batch", "notes") if any(row[c] for row in rows)]
        print_rows(rows, (*columns, *noted))


@click.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--keep-older-copy",
    is_flag=True,
    help="Continue with a store restored from a backup.",
)
@store_option
@json_option
def rescue(
    file: Path | None, store: Path | None, *, keep_older_copy: bool, as_json: bool
) -> None:
    """Recover replies that a lost store could not keep; nothing is paid for twice."""
    from viewer.services.running.rescue import rescue as rescue_replies
    from viewer.store.database import open_store

    if file is None and not keep_older_copy:
        raise WrongUseError(
            "No rescue file is named.",
            "Name the file from the message at the end of the run.",
        )
    with open_store(read_settings(store).store) as opened:
        found = rescue_replies(opened, file)
    if as_json:
        print_json({"replies": found.replies, "new": found.new})
    elif file is not None:
        echo(
            f"{counted(found.replies, 'reply', 'replies')} read, {found.new} added; "
            "the next run uses them instead of asking."
        )
    if found.was_older:
        say("This copy is now the current store; what it lacks is asked again.")
