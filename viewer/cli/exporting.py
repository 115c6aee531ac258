"""Commands that give results away and hold what was given: export, verify."""

from pathlib import Path

import click

from viewer.cli.shared import store_option
from viewer.domain.counting import counted
from viewer.printing import echo
from viewer.settings import read_settings
from viewer.terminal import run_number


@click.group()
def export() -> None:
    """Write a run in a form that others can use."""


@export.command()
@click.argument("run_name", metavar="RUN")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True)
@store_option
def bundle(run_name: str, out: Path, store: Path | None) -> None:
    """Write a run as one zip file that anybody can verify.

    Patients, images, items and readers go by pseudonyms. No pixel goes along, and of a
    question its options only; replies do word for word. Whoever has the file needs
    nothing but Python: python verify.py FILE.zip
    """
    from viewer.services.exporting.export_bundle import export_bundle
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        path = export_bundle(opened, run_number(run_name, opened), out)
    echo(path, "Without pixels; patients and images go by pseudonyms.")


@export.command()
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True)
def verifier(out: Path) -> None:
    """Write verify.py, for those who trust no copy that lies in a bundle."""
    from viewer.writers.files import write_atomically
    from viewer.writers.verify_script import verify_script

    write_atomically(out, verify_script())
    echo(str(out))


@export.command()
@click.argument("run_name", metavar="RUN")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True)
@store_option
def questions(run_name: str, out: Path, store: Path | None) -> None:
    """Write the multiple-choice questions that a run made, or too few models guess.

    RUN made questions of images with their captions, or asked several models without
    the images. As data.json beside the images of its data set the file can be imported.
    """
    from viewer.services.exporting.keep_questions import Made, keep_questions
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        found = keep_questions(opened, run_number(run_name, opened), out)
    if isinstance(found, Made):
        made = counted(found.questions, "question")
        echo(f"{made} of {found.images} of {found.shown} images in {out}")
        return
    echo(
        f"{found.kept} of {counted(found.asked, 'question')} kept in {out}; "
        f"{counted(found.threshold, 'model')} or more guess {found.guessable}, and of "
        f"{found.not_told} too few answered to tell."
    )


@export.command()
@click.argument("run_name", metavar="RUN")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True)
@store_option
def tasks(run_name: str, out: Path, store: Path | None) -> None:
    """Write the tasks that a run proposed, the best of each study, to be edited.

    A data set's folder takes the file as tasks.json.
    """
    from viewer.services.exporting.export_tasks import export_tasks
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        n = export_tasks(opened, run_number(run_name, opened), out)
    echo(f"{counted(n, 'task')} in {out}")


@click.command()
@click.argument("path", metavar="BUNDLE", type=click.Path(path_type=Path))
def verify(path: Path) -> int:
    """Hold a bundle's bytes against their hashes and work its tables out again.

    Exit codes: 0 it holds, 1 it does not, 2 the file is no bundle, 3 a study of another
    package judges or counts in a way that is not known here.
    """
    from viewer.writers.verify.main import verify_file

    return verify_file(path, echo)
