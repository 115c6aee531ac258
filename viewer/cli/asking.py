"""Commands about models: ask, models, probe and calibrate."""

import threading
from pathlib import Path
from typing import Final

import click

from viewer.cli.privacy import ask_for_keys
from viewer.cli.shared import DONE, UNFINISHED, json_option, say, store_option
from viewer.domain.case import NAMED_VIEWS, ImageRef, View
from viewer.domain.run import ModelLoading
from viewer.printing import cell_text, echo, print_json, print_rows, print_text
from viewer.settings import drain_limit_s, read_settings
from viewer.terminal import Following, LoadLines, Progress

_FAILED: Final = ("provider_error", "pending")


@click.command()
@click.argument("image", type=click.Path(path_type=Path))
@click.option("--finding", required=True, help="For example 'Pleural Effusion'.")
@click.option("--model", "model_name", default="asymmetry", show_default=True)
@click.option("--grid", default="8", show_default=True, help="8, or 8x10: rows x cols.")
@click.option("--frame", type=click.IntRange(0), default=0, show_default=True)
@click.option("--view", type=click.Choice(NAMED_VIEWS))
@click.option(
    "--out", type=click.Path(path_type=Path), help="Save a picture of the answer here."
)
@click.option("--fresh", is_flag=True, help="Ask again though it has a reply.")
@store_option
@json_option
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
    fresh: bool,
    as_json: bool,
) -> int:
    """Ask one question about one image; the answer is kept in the store."""
    from viewer.services.asking.ask import (
        Question,
        answer_row,
        row_in_words,
        write_overlay,
    )
    from viewer.services.asking.ask import ask as ask_one
    from viewer.services.configuring.study_file import known_profiles, named_profile
    from viewer.services.running.batch_estimate import notices_of
    from viewer.services.running.stopping import Stop, StopSignals
    from viewer.store.database import open_store

    settings = read_settings(store)
    question = Question(
        ref=ImageRef(image.absolute(), frame),
        finding=finding,
        profile=named_profile(model_name, known_profiles(settings.models_file)),
        grid=grid,
        view=View(view) if view else View.UNKNOWN,
    )
    ask_for_keys([question.profile])
    stop = Stop()
    with (
        open_store(settings.store) as opened,
        StopSignals(stop, drain_limit_s()),
        Progress("Question") as progress,
    ):
        reply = ask_one(opened, question, Following(progress), stop, fresh=fresh)
    if stop.is_set() and reply.scored.reply_id is None:
        return say("Stopped; what was downloaded so far is kept.", UNFINISHED)
    for sentence in notices_of(reply.context.spec, reply.context.dataset):
        say(sentence)
    if out is not None:
        write_overlay(reply, out)
    row = answer_row(reply)
    values = row_in_words(row).items()
    lines = (f"{name}: {cell_text(value)}" for name, value in values)
    print_json(row) if as_json else echo(*lines)
    return UNFINISHED if row["status"] in _FAILED else DONE


@click.command()
@click.option(
    "--presets",
    is_flag=True,
    help="Print [[model]] tables for the models of published studies instead.",
)
@click.option(
    "--known",
    is_flag=True,
    help="List models in use, with licence, memory and how they write locations.",
)
@click.option(
    "--from", "origin", metavar="NAME", help="Print the [[model]] table of a known one."
)
@click.option(
    "--found", is_flag=True, help="List the models of servers on this computer."
)
@click.option(
    "--get",
    "wanted",
    metavar="NAME",
    help="Download a known model, or owner/model from Hugging Face, or the rest of it.",
)
@store_option
@json_option
def models(
    store: Path | None,
    *,
    presets: bool,
    known: bool,
    origin: str | None,
    found: bool,
    wanted: str | None,
    as_json: bool,
) -> None:
    """List the models and what each still needs before it can be asked."""
    named = (origin is not None) + (wanted is not None)
    if presets + known + found + named > 1:
        raise click.UsageError(
            "Give one of --presets, --known, --from, --found and --get."
        )
    if presets:
        _print_presets(as_json=as_json)
    elif known:
        _print_known(as_json=as_json)
    elif origin is not None:
        _print_table(origin, as_json=as_json)
    elif found:
        _print_found(as_json=as_json)
    elif wanted is not None:
        _download(wanted, as_json=as_json)
    else:
        _print_models(store, as_json=as_json)


def _print_models(store: Path | None, *, as_json: bool) -> None:
    from viewer.services.inspecting.listing import model_rows

    rows = model_rows(read_settings(store))
    columns = ("name", "adapter", "state", "summary")
    print_json(rows) if as_json else print_rows(rows, columns)


def _print_presets(*, as_json: bool) -> None:
    from viewer.services.configuring.model_profiles import preset_tables, presets_text

    print_json(preset_tables()) if as_json else print_text(presets_text())


def _print_known(*, as_json: bool) -> None:
    from viewer.services.configuring.known_cards import (
        COLUMNS,
        known_rows,
        machine_sentence,
    )

    rows = known_rows()
    if as_json:
        print_json(rows)
        return
    print_rows(rows, COLUMNS)
    echo(machine_sentence())
    say("Unknown can be found out: overread calibrate asks a model where marks lie.")


def _print_table(name: str, *, as_json: bool) -> None:
    from viewer.services.configuring.known_cards import known_table, known_text

    print_json(known_table(name)) if as_json else print_text(known_text(name))


def _print_found(*, as_json: bool) -> None:
    from viewer.services.probing.found import COLUMNS, found_rows

    rows = found_rows()
    if as_json:
        print_json(rows)
    elif rows:
        print_rows(rows, COLUMNS)
    else:
        echo("No server of models answers on the usual ports of this computer.")


def _download(name: str, *, as_json: bool) -> None:
    """Say what a model needs, then download what is missing; Ctrl+C pauses."""
    from viewer.services.configuring.model_download import model_download

    model = model_download(name)
    for line in (f"model: {model.offer.model}", *model.lines()):
        echo(line, err=True)
    lines = LoadLines()
    with Progress("Percent") as progress:

        def tell(part: float, what: str) -> None:
            step = ModelLoading(0, name, part, what)
            progress(round(100 * part), 100, step.words)
            lines(step)

        folder = model.fetch(tell, threading.Event())
    print_json({**model.row(), "folder": folder}) if as_json else echo(folder)


@click.command()
@click.argument("name")
@click.option(
    "--study",
    "study_file",
    type=click.Path(path_type=Path),
    help="A study file whose [[model]] tables are known too.",
)
@store_option
@json_option
def probe(
    name: str, study_file: Path | None, store: Path | None, *, as_json: bool
) -> int:
    """Test what a model's endpoint really does, with about a dozen questions."""
    from viewer.services.configuring.study_file import named_profile, profiles_for
    from viewer.services.probing.probe import probe_with_consent
    from viewer.services.probing.rows import report_as_json

    settings = read_settings(store)
    profile = named_profile(name, profiles_for(settings.models_file, study_file))
    report = probe_with_consent(settings.store, profile)
    row = report_as_json(report)
    if as_json:
        print_json(row)
    else:
        print_rows(row["rows"], ("capability", "verdict", "sentence"))
    return DONE if report.is_reachable else UNFINISHED


@click.command()
@click.argument("name")
@click.option(
    "--convention",
    "conventions",
    multiple=True,
    help="Also ask in this convention's words; default: the profile's, or every "
    "convention's.",
)
@store_option
@json_option
def calibrate(
    name: str, conventions: tuple[str, ...], store: Path | None, *, as_json: bool
) -> int:
    """Find out which coordinate convention a model answers in, and how exactly."""
    from viewer.services.calibrating.calibrate import (
        calibrate_with_consent,
        calibration_as_json,
        fit_rows,
        load_first,
    )
    from viewer.services.configuring.study_file import known_profiles, named_profile

    settings = read_settings(store)
    profile = named_profile(name, known_profiles(settings.models_file))
    lines = LoadLines()
    with Progress("Markers") as progress:

        def tell(part: float, what: str) -> None:
            step = ModelLoading(0, name, part, what)
            progress(0, 1, step.words)
            lines(step)

        load_first(profile, tell, threading.Event())
        found = calibrate_with_consent(
            settings.store, profile, wordings=conventions, progress=progress
        )
    if as_json:
        print_json(calibration_as_json(found))
    else:
        if found.fits:
            rows = fit_rows(found)
            print_rows(rows, tuple(rows[0]))
        echo(found.sentence)
    return DONE if found.fits else UNFINISHED
