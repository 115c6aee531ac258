"""The commands export requests, export replies and import-replies."""

from pathlib import Path

import click

from viewer.cli.predictions import column_and_field, say_matched, score_import
from viewer.cli.shared import json_option, say, store_option
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import PAPER_MODELS
from viewer.domain.plain import plain
from viewer.models.coordinates.settings import CONVENTION_NAMES
from viewer.printing import echo, print_json
from viewer.settings import read_settings
from viewer.terminal import run_number

_STUDY_FILE = ".toml"


@click.command("requests")
@click.argument("run_or_study", metavar="RUN|STUDY.toml")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True)
@click.option("--model", default="", help="As this model is asked; default: the first.")
@click.option(
    "--next",
    "following",
    is_flag=True,
    help="Only what follows the replies that the run has.",
)
@store_option
@json_option
def requests(
    run_or_study: str,
    out: Path,
    model: str,
    store: Path | None,
    *,
    following: bool,
    as_json: bool,
) -> None:
    """Write the exact questions and images of a study, for other code to answer.

    requests.jsonl has a line per question: item, condition, repeat, step, messages,
    image files, options. Items and images appear under pseudonyms, as in bundles;
    nothing says what is right. import-replies takes the replies. Questions that depend
    on an earlier reply are left out: import what there is, then export with --next.
    """
    from viewer.services.exporting.export_requests import (
        export_run_requests,
        export_study_requests,
    )
    from viewer.store.database import open_store

    settings = read_settings(store)
    with open_store(settings.store) as opened:
        if run_or_study.endswith(_STUDY_FILE):
            file = Path(run_or_study)
            written = export_study_requests(opened, settings, file, out, model)
        else:
            run = run_number(run_or_study, opened)
            written = export_run_requests(opened, run, out, model, following=following)
    if as_json:
        print_json(plain(written))
        return
    echo(written.sentence)
    for notice in written.notices:
        say(notice)


@click.command("replies")
@click.argument("run_name", metavar="RUN")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True)
@click.option("--model", default="", help="Only one of the run's models.")
@store_option
@json_option
def replies(
    run_name: str, out: Path, model: str, store: Path | None, *, as_json: bool
) -> None:
    """Write what a run's models replied to each question, as JSON lines or CSV.

    import-replies reads it back in any store with the same data set: the same replies
    give the same tables. Items appear under pseudonyms, replies word for word.
    """
    from viewer.services.exporting.export_replies import export_replies
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        written = export_replies(opened, run_number(run_name, opened), out, model)
    if as_json:
        print_json(plain(written))
        return
    echo(written.sentence)


def _model_and_paper_model(text: str) -> tuple[str, str]:
    """Split ``model=paper's model``; without a model it is "", the only one."""
    model, _, paper_model = text.rpartition("=")
    if paper_model not in PAPER_MODELS:
        raise WrongUseError(
            f"'{paper_model}' is no model of Gosai 2025.",
            f"Write one of {', '.join(PAPER_MODELS)}, or MODEL=GPT-5 for one of "
            "several models.",
        )
    return model, paper_model


@click.command("import-replies")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
@click.option("--like", metavar="RUN", help="Answer the questions of this run.")
@click.option(
    "--study",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Answer the questions of this study file.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="Name for the model; once for each file if every file is of another model.",
)
@click.option("--model", default="", help="Use only this model of the files.")
@click.option(
    "--map",
    "columns",
    multiple=True,
    metavar="COLUMN=FIELD",
    help="What a column holds: item, condition, repeat, step, role, model, reply, "
    "finish_reason or refusal.",
)
@click.option(
    "--convention",
    default="",
    metavar="NAME",
    help=f"How the model gives places: {', '.join(CONVENTION_NAMES)}, native; default: "
    "cells of the grid.",
)
@click.option(
    "--paper-model",
    "paper_models",
    multiple=True,
    metavar="[MODEL=]NAME",
    help="The model of Gosai 2025 that it counts as in claims and published values: "
    f"{', '.join(PAPER_MODELS)}; of several models that of each, such as "
    "mine=GPT-5.",
)
@click.option("--check", is_flag=True, help="Only report what would be used.")
@store_option
@json_option
def import_replies(
    files: tuple[Path, ...],
    like: str | None,
    study: Path | None,
    names: tuple[str, ...],
    model: str,
    columns: tuple[str, ...],
    convention: str,
    paper_models: tuple[str, ...],
    store: Path | None,
    *,
    check: bool,
    as_json: bool,
) -> int:
    """Score replies of any model to a study's questions like a run.

    FILE is a CSV table or JSON lines with item and reply (and condition, repeat, step,
    role, model where there are several), a log of inspect_ai (.eval, .json), or samples
    of lmms-eval (*_samples_*.jsonl). Items go by their names or by the pseudonyms of
    export requests. What is unknown or answered twice is listed; questions without a
    reply count as failed, with the reason not_recorded.
    """
    from viewer.services.importing.import_replies import (
        RepliesSource,
        match_reply_files,
        plan_replies,
    )
    from viewer.store.database import open_store

    settings = read_settings(store)
    with open_store(settings.store) as opened:
        source = RepliesSource(
            files=files,
            like=None if like is None else run_number(like, opened),
            study=study,
            names=names,
            model=model,
            columns=dict(map(column_and_field, columns)),
            convention=convention,
            paper_models=dict(map(_model_and_paper_model, paper_models)),
        )
        if check:
            return say_matched(match_reply_files(opened, settings, source)[1])
        planned = plan_replies(opened, settings, source)
        return score_import(opened, planned, as_json=as_json)
