"""Commands that export results and verify bundles: export, verify."""

from pathlib import Path
from types import MappingProxyType

import click

from viewer.cli.shared import LazyGroup, store_option
from viewer.domain.counting import counted
from viewer.printing import echo
from viewer.settings import read_settings
from viewer.terminal import run_number


class _Exports(LazyGroup):
    lazy = MappingProxyType(
        {
            "answers": "predictions.export_answers",
            "readings": "readings.export_readings",
            "replies": "written_replies.replies",
            "requests": "written_replies.requests",
            "session": "sealed.export_session",
            "telemetry": "readings.export_telemetry",
        }
    )


@click.group(cls=_Exports)
def export() -> None:
    """Write a run in a form that others can use."""


@export.command()
@click.argument("run_name", metavar="RUN")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True)
@store_option
def bundle(run_name: str, out: Path, store: Path | None) -> None:
    """Write a run as one zip file that anybody can verify.

    Patients, images, items and readers appear under pseudonyms. The bundle has no
    pixels but those of pictures that models returned, and of a question only its
    options; replies are in it word for word. To verify it takes nothing but Python:
    python verify.py FILE.zip
    """
    from viewer.services.exporting.export_bundle import export_bundle
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        path = export_bundle(opened, run_number(run_name, opened), out)
    echo(path, "No image of the data set; patients and images appear under pseudonyms.")


@export.command()
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True)
def verifier(out: Path) -> None:
    """Write verify.py, for those who do not trust the copy inside a bundle."""
    from viewer.writers.files import write_atomically
    from viewer.writers.verify_script import verify_script

    write_atomically(out, verify_script())
    echo(str(out))


@export.command()
@click.argument("run_name", metavar="RUN")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True)
@store_option
def questions(run_name: str, out: Path, store: Path | None) -> None:
    """Write the multiple-choice questions a run made, or those too few models guess.

    RUN made questions from images and their captions, or asked several models without
    the images. To import the file, save it as data.json next to its images.
    """
    from viewer.services.exporting.keep_questions import Made, keep_questions
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        found = keep_questions(opened, run_number(run_name, opened), out)
    if isinstance(found, Made):
        made = counted(found.questions, "question")
        echo(f"{made} about {found.images} of {found.shown} images in {out}")
        return
    echo(
        f"{found.kept} of {counted(found.asked, 'question')} kept in {out}; "
        f"{counted(found.threshold, 'model')} or more guess {found.guessable}, and "
        f"{found.not_told} were answered too rarely to tell."
    )


@export.command()
@click.argument("run_name", metavar="RUN")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True)
@store_option
def tasks(run_name: str, out: Path, store: Path | None) -> None:
    """Write the best tasks a run proposed for each study, to be edited.

    Save the edited file as tasks.json in the data set's folder.
    """
    from viewer.services.exporting.export_tasks import export_tasks
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        n = export_tasks(opened, run_number(run_name, opened), out)
    echo(f"{counted(n, 'task')} in {out}")


@export.command("cases")
@click.argument("run_name", metavar="RUN")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True)
@store_option
def reviewed_cases(run_name: str, out: Path, store: Path | None) -> None:
    """Write the cases that a run prepared of reports, as a person reviewed them.

    The first time writes review.csv into the folder. Fill in its columns: verdict is
    accept, edit or reject, and text replaces what is edited. Then the same command
    writes a folder for each case of which every field has a verdict, to be imported.
    """
    from viewer.services.exporting.export_cases import REVIEW, export_cases
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        found = export_cases(opened, run_number(run_name, opened), out)
    if found.begun:
        echo(
            f"{out / REVIEW}: write accept, edit or reject as each field's verdict, "
            "then run the command again."
        )
        return
    for problem in found.problems:
        echo(problem)
    echo(found.sentence)
    if found.cases:
        echo(f"overread import medsyn {out}")


@export.command()
@click.argument("run_name", metavar="RUN")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True)
@store_option
def shortcuts(run_name: str, out: Path, store: Path | None) -> None:
    """Write which cases are solved from their options alone, and then the revised ones.

    RUN asked MEDSYN's cases with the control options_only. The first time writes
    options.csv into the folder. Fill in its columns: verdict is keep, revise or
    exclude, and new_1 to new_3 replace the distractors of what is revised. Then the
    same command writes the cases that remain, to be imported and asked again.
    """
    from viewer.services.exporting.export_shortcuts import export_shortcuts
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        found = export_shortcuts(opened, run_number(run_name, opened), out)
    for sentence in (found.sentence, *found.problems, found.written_to(out)):
        echo(sentence)
    if found.written:
        echo(f"overread import medsyn {out}")


@click.command()
@click.argument("path", metavar="BUNDLE", type=click.Path(path_type=Path))
def verify(path: Path) -> int:
    """Check a bundle's bytes against their hashes and compute its tables again.

    Exit codes: 0 verified, 1 not verified, 2 the file is not a bundle, 3 it uses a
    study of another package whose scoring is not known here.
    """
    from viewer.writers.verify.main import verify_file

    return verify_file(path, echo)
