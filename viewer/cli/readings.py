"""The commands about readers: readings, and export readings."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from viewer.cli.shared import DONE, UNFINISHED, json_option, say, store_option
from viewer.domain.counting import counted
from viewer.printing import echo, print_json, print_rows
from viewer.settings import read_settings
from viewer.terminal import run_number

if TYPE_CHECKING:
    from viewer.domain.reading import SessionSummary
    from viewer.services.readings.agreeing import PairAgreement
    from viewer.services.readings.reviewing import ErrorCounts

_ESTIMATED = ("partial", "position", "anatomy", "unsure")


@click.command()
@click.option("--run", "run_name", help="Readers' verdicts on a run's misses.")
@click.option("--session", type=int, help="Progress of a session.")
@click.option(
    "--enter", is_flag=True, help="With --session: store its answers as a run."
)
@click.option(
    "--withdraw",
    metavar="REASON",
    help="With --session: purge its reader's name and answers; cannot be undone.",
)
@click.option(
    "--plan",
    "half_width",
    type=click.FloatRange(0, min_open=True),
    metavar="HALF_WIDTH",
    help="With --session: readers and cases for a mean known to ± HALF_WIDTH.",
)
@click.option(
    "--check", is_flag=True, help="Check whether anybody changed what was stored."
)
@click.option(
    "--certificate",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="With --session: write its certificate, and a page of it; with --check: "
    "check one.",
)
@store_option
@json_option
def readings(
    run_name: str | None,
    session: int | None,
    withdraw: str | None,
    half_width: float | None,
    certificate: Path | None,
    store: Path | None,
    *,
    enter: bool,
    check: bool,
    as_json: bool,
) -> int:
    """List readers' sessions; show results and progress, and check integrity.

    --enter turns the answers of a reader study into a run whose model is the reader;
    repeated, it adds what was locked since.
    """
    chosen = sum((run_name is not None, session is not None, check))
    if chosen > 1:
        raise click.UsageError("Choose one of --run, --session and --check.")
    acts = (
        enter,
        withdraw is not None,
        half_width is not None,
        certificate is not None,
    )
    if sum(acts) > 1:
        raise click.UsageError(
            "Choose one of --enter, --withdraw, --plan and --certificate."
        )
    path = read_settings(store).store
    if check and not any(acts[:3]):
        checked = _check(path, as_json=as_json)
        return max(checked, _check_certificate(path, certificate))
    if session is None and any(acts):
        raise click.UsageError("Name a session with --session.")
    if run_name is not None:
        return _results(path, run_name, as_json=as_json)
    if session is None:
        return _sessions(path, as_json=as_json)
    if certificate is not None:
        return _certify(path, session, certificate)
    if withdraw is not None:
        return _withdraw(path, session, withdraw, as_json=as_json)
    if half_width is not None:
        return _plans(path, session, half_width, as_json=as_json)
    return (_enter if enter else _progress)(path, session, as_json=as_json)


@click.command("readings")
@click.argument("session", type=int)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@store_option
@json_option
def export_readings(
    session: int, out: Path, store: Path | None, *, as_json: bool
) -> None:
    """Write the locked readings of all readers of a session's work to a folder.

    readings.csv has one row per case; a reader study also gets study.imrmc for iMRMC
    and study.xlsx for RJafroc.
    """
    from viewer.services.readings.mrmc import doubts
    from viewer.services.readings.mrmc import export_readings as write

    path = read_settings(store).store
    files = [str(file) for file in write(path, session, out)]
    for one in _open_sessions(path, session):
        say(f"{one.reader} has locked {one.done} of {one.planned} cases so far.")
    for sentence in doubts(path, session):
        say(sentence)
    if as_json:
        print_json(files)
    else:
        echo(*files)


@click.command("telemetry")
@click.option("--session", type=int, required=True)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True)
@click.option(
    "--dwell",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Also write for how many seconds each pixel was in sight, as .npy files.",
)
@store_option
@json_option
def export_telemetry(
    session: int, out: Path, dwell: Path | None, store: Path | None, *, as_json: bool
) -> None:
    """Write what was on screen in a session, and for how long, as a CSV file.

    It was recorded if the session asked for it and its reader agreed.
    """
    from viewer.domain.reading import SessionId
    from viewer.services.readings.telemetry import export_telemetry as write
    from viewer.services.readings.telemetry import write_dwell_maps

    path, number = read_settings(store).store, SessionId(session)
    written = write(path, number, out)
    maps = write_dwell_maps(path, number, dwell) if dwell else ()
    if written.problem:
        say(written.problem)
    if as_json:
        print_json(
            {"file": str(out), "rows": written.rows, "maps": list(map(str, maps))}
        )
    else:
        echo(f"{counted(written.rows, 'row')} in {out}", *maps)


def _open_sessions(store: Path, session: int) -> "list[SessionSummary]":
    """Return the sessions of the same work that are not finished."""
    from viewer.services.readings.opening import sessions

    every = sessions(store)
    works = {one.work for one in every if one.id == session}
    mine = [one for one in every[::-1] if one.work in works and not one.withdrawn]
    return [one for one in mine if one.done < one.planned]


def _sessions(store: Path, *, as_json: bool) -> int:
    from viewer.services.readings.opening import sessions

    rows = [_session_row(one) for one in sessions(store)]
    if as_json:
        print_json(rows)
    else:
        _show(rows)
    return DONE


def _session_row(one: "SessionSummary") -> dict[str, object]:
    return {
        "session": one.id,
        "kind": one.kind.value,
        "reader": one.reader,
        "run": one.run,
        "dataset": one.dataset,
        "form": one.form.name,
        "title": one.form.title,
        "planned": one.planned,
        "done": one.done,
        "unresolved": one.unresolved,
        "seed": one.seed,
        "opened_at": one.opened_at,
    }


def _progress(store: Path, session: int, *, as_json: bool) -> int:
    from viewer.domain.reading import SessionId
    from viewer.services.readings.opening import session as summary
    from viewer.services.readings.progress import progress
    from viewer.services.readings.result_rows import result_rows

    number = SessionId(session)
    told = progress(store, number)
    row = _session_row(summary(store, number)) | {
        "left": told.left,
        "median_s": told.median_s,
        "left_s": told.left_s,
    }
    tables = result_rows(store, session)
    if as_json:
        print_json({**row, **tables})
        return DONE
    for table in ([row], *tables.values()):
        if table:
            _show(table)
            echo("")
    return DONE


def _plans(store: Path, session: int, half_width: float, *, as_json: bool) -> int:
    from math import inf

    from viewer.services.readings.rating_agreement import rating_plans

    rows: list[dict[str, object]] = [
        {
            "question": one.question,
            "pilot": f"{one.readers} readers, {one.cases} cases",
            "sd_of_cases": round(one.of.cases**0.5, 3),
            "sd_of_readers": round(one.of.readers**0.5, 3),
            "sd_of_rest": round(one.of.rest**0.5, 3),
            **{
                f"cases_for_{plan.readers}": None if plan.cases == inf else plan.cases
                for plan in one.plans
            },
        }
        for one in rating_plans(store, session, half_width)
    ]
    if as_json:
        print_json(rows)
    elif rows:
        _show(rows)
    else:
        say("Two readers must have rated the same two cases on a scale first.")
    return DONE if rows else UNFINISHED


def _results(store: Path, run_name: str, *, as_json: bool) -> int:
    from viewer.services.readings.agreeing import agreement
    from viewer.services.readings.reviewing import review_results
    from viewer.store.database import open_store

    with open_store(store) as opened:
        run = run_number(run_name, opened)
    counts = [_count_row(one) for one in review_results(store, run)]
    pairs = [_pair_row(pair) for pair in agreement(store, run)]
    if as_json:
        print_json({"misses": counts, "agreement": pairs})
        return DONE
    _show(counts)
    if pairs:
        echo("")
        _show(pairs)
    return DONE


def _count_row(one: "ErrorCounts") -> dict[str, object]:
    row: dict[str, object] = {
        "model": one.model,
        "finding": one.finding,
        "condition": one.condition,
        "views": "+".join(one.views),
        "misses": one.misses,
        "reviewed": one.reviewed,
        "disputed": one.disputed,
    }
    for kind in _ESTIMATED:
        estimate = one.estimate(kind)
        row[kind] = one.found[kind]
        row[f"{kind}_estimate"] = estimate.count if estimate else None
        row[f"{kind}_low"] = estimate.low if estimate else None
        row[f"{kind}_high"] = estimate.high if estimate else None
    return row


def _pair_row(pair: "PairAgreement") -> dict[str, object]:
    from viewer.services.readings.result_rows import with_ends

    return {
        "first": pair.first,
        "second": pair.second,
        "cases": pair.cases,
        **with_ends("kappa", pair.kappa),
        **with_ends("ac1", pair.ac1),
        **with_ends("percent", pair.percent),
        "method": pair.kappa.method,
        "reason": pair.kappa.reason,
    }


def _enter(store: Path, session: int, *, as_json: bool) -> int:
    from viewer.domain.reading import SessionId
    from viewer.services.readings.entering import enter as enter_session

    entered = enter_session(store, SessionId(session))
    if as_json:
        print_json({"run": entered.run, "added": entered.added})
    else:
        echo(f"{counted(entered.added, 'answer')} added to run {entered.run}")
    return DONE


def _withdraw(store: Path, session: int, reason: str, *, as_json: bool) -> int:
    from viewer.domain.reading import SessionId
    from viewer.services.readings.recording import withdraw

    gone = withdraw(store, SessionId(session), reason)
    if as_json:
        print_json({"purged": gone})
    else:
        echo(f"{counted(gone, 'row')} of session {session} purged")
    return DONE


def _check(store: Path, *, as_json: bool) -> int:
    from viewer.store.database import open_store
    from viewer.store.reading_audit import check_audit

    with open_store(store) as opened:
        checked = check_audit(opened)
    if as_json:
        print_json(
            {
                "intact": checked.intact,
                "events": checked.events,
                "head": checked.head,
                "problems": checked.problems,
            }
        )
    elif checked.intact:
        echo(f"{checked.events} events, all intact; the last is {checked.head}")
    for problem in checked.problems:
        say(problem)
    return DONE if checked.intact else UNFINISHED


def _certify(store: Path, session: int, file: Path) -> int:
    from viewer.domain.reading import SessionId
    from viewer.services.readings.certificate import certify

    echo(*certify(store, SessionId(session), file))
    return DONE


def _check_certificate(store: Path, file: Path | None) -> int:
    from viewer.services.readings.certificate import check_certificate

    if file is None:
        return DONE
    problems = check_certificate(store, file)
    for problem in problems:
        say(problem)
    if not problems:
        say(f"{file.name} agrees with the store.")
    return UNFINISHED if problems else DONE


def _show(rows: Sequence[dict[str, Any]]) -> None:
    print_rows(rows, tuple(rows[0]) if rows else ())
