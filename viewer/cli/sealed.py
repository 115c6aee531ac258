"""Sessions read at another machine: export session, open-session, import session."""

from pathlib import Path

import click

from viewer.cli.shared import json_option, store_option
from viewer.domain.reading import SessionId
from viewer.printing import echo, print_json
from viewer.settings import read_settings


@click.command("session")
@click.argument("session", type=int)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True)
@store_option
@json_option
def export_session(
    session: int, out: Path, store: Path | None, *, as_json: bool
) -> None:
    """Write a reader's session to a file for another machine, or its answers back.

    The file has the images without any header, the order, the questions and what the
    cases show; the truth, names of models and other readers' answers stay here. Of a
    session that came in such a file, write the answers, for overread import session
    where it came from. What a case shows once an answer is locked is not in the file:
    overread import session writes it to another one. The window knows such files by
    the endings .overread-session and .overread-answers.
    """
    from viewer.services.readings.sealed import is_sealed, write_answers
    from viewer.services.readings.sealing import seal_session

    path, number = read_settings(store).store, SessionId(session)
    if is_sealed(path, number):
        written = write_answers(path, number, out)
        facts = {"locked": written.locked, "planned": written.planned}
        words = written.sentence
    else:
        sealed = seal_session(path, number, out)
        facts = {"cases": sealed.cases, "images": sealed.images, "part": sealed.part}
        words = sealed.sentence
    if as_json:
        print_json({"file": str(out), **facts})
    else:
        echo(words)


@click.command("open-session")
@click.argument("file", type=click.Path(path_type=Path))
@store_option
@json_option
def open_session(file: Path, store: Path | None, *, as_json: bool) -> None:
    """Register a session that another store sealed in FILE, to be read in Review."""
    from viewer.services.readings.sealed import open_sealed

    session = open_sealed(read_settings(store), file)
    if as_json:
        print_json({"session": session})
    else:
        echo(f"Session {session}: continue it in Window ▸ Review.")


def import_answers(file: Path, store: Path, *, as_json: bool) -> None:
    """Merge the answers of a sealed session into the session it was sealed from."""
    from viewer.services.readings.merging import merge_answers

    merged = merge_answers(store, file)
    if as_json:
        then = str(merged.then.path) if merged.then else None
        print_json({"session": merged.session, "actions": merged.acts, "then": then})
    else:
        echo(merged.sentence)
