"""Commands about what may leave this machine: allow, audit, review and key."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viewer.cli.shared import json_option, store_option
from viewer.domain.errors import WrongUseError
from viewer.domain.escapes import one_line
from viewer.domain.geometry import BoxPx
from viewer.domain.privacy import ReviewDecision
from viewer.printing import echo, print_json, print_rows
from viewer.settings import read_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viewer.domain.exchange import ModelProfile
    from viewer.store.database import Store


@click.command()
@click.argument("host", required=False)
@click.option(
    "--for", "dataset", metavar="DATASET|any", help="Data set whose images may be sent."
)
@click.option(
    "--unencrypted",
    is_flag=True,
    help="Allow an http address, although its traffic can be read in transit.",
)
@click.option("--withdraw", is_flag=True, help="Withdraw the consent.")
@click.option("--list", "show", is_flag=True, help="List what is allowed.")
@store_option
@json_option
def allow(
    host: str | None,
    dataset: str | None,
    store: Path | None,
    *,
    unencrypted: bool,
    withdraw: bool,
    show: bool,
    as_json: bool,
) -> None:
    """Allow sending a data set's images to HOST, or withdraw that consent.

    HOST is a name or an address such as https://api.example.org:8443; the consent is
    for this scheme, host and port. Without a scheme it is https.

    A freshly written PNG and the prompt are sent: no header, no file name.
    """
    from viewer.services.privacy.decisions import consent_rows
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        if not show:
            _decide(opened, host, dataset, unencrypted=unencrypted, withdraw=withdraw)
        rows = consent_rows(opened)
    if as_json:
        print_json(rows)
    elif rows:
        print_rows(rows, ("endpoint", "for", "given_at"))
    else:
        echo("Local only: nothing may leave this machine.")


def _decide(
    store: "Store",
    host: str | None,
    dataset: str | None,
    *,
    unencrypted: bool,
    withdraw: bool,
) -> None:
    from viewer.services.privacy import decisions

    if host is None:
        raise WrongUseError("No host is named.", "Name one, or use --list.")
    if withdraw:
        if not decisions.withdraw(store, host, dataset):
            raise WrongUseError(
                f"There is no consent for {host}.",
                "List consents with overread allow --list.",
            )
    elif dataset is None:
        raise WrongUseError("No data set is named.", "Use --for DATASET, or --for any.")
    else:
        decisions.allow(store, host, dataset, unencrypted=unencrypted)


@click.command()
@store_option
@json_option
def audit(store: Path | None, *, as_json: bool) -> None:
    """List everything that left this machine, and who allowed it when."""
    from viewer.services.privacy.decisions import audit as audit_of
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        found = audit_of(opened)
    if as_json:
        print_json(found)
        return
    columns = ("sent_at", "endpoint", "body_sha256", "consent", "run", "model")
    rows = found["departures"]
    if rows:
        print_rows(rows, columns)
    else:
        echo("Nothing has left this machine.")


class _Box(click.ParamType[BoxPx]):
    """A click parameter type: ``X0,Y0,X1,Y1`` in native pixels."""

    name = "X0,Y0,X1,Y1"

    def convert(
        self,
        value: str,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> BoxPx:
        """Return the box; fail with a usage error for anything else."""
        try:
            x0, y0, x1, y1 = (float(part) for part in value.split(","))
        except ValueError:
            self.fail(f"'{value}' is not a box.", param, ctx)
        # Written so that NaN, which float() reads, is refused too.
        if not (x0 < x1 and y0 < y1):
            self.fail(f"'{value}' is an empty box.", param, ctx)
        return BoxPx(x0, y0, x1, y1)


@click.command()
@click.argument("name", metavar="DATASET|IMAGE")
@click.option("--clean", is_flag=True, help="Nothing in the pixels names a person.")
@click.option("--block", is_flag=True, help="The image may not leave.")
@click.option(
    "--black",
    "boxes",
    type=_Box(),
    multiple=True,
    help="Black this box out before sending.",
)
@click.option(
    "--black-found",
    is_flag=True,
    help="For images without a decision: black out the text that was found.",
)
@click.option("--words", is_flag=True, help="Review the text of its cases, not pixels.")
@click.option("--item", "items", multiple=True, help="Only this case.")
@store_option
@json_option
def review(
    name: str,
    boxes: tuple[BoxPx, ...],
    items: tuple[str, ...],
    store: Path | None,
    *,
    clean: bool,
    block: bool,
    black_found: bool,
    words: bool,
    as_json: bool,
) -> None:
    """Find text that identifies a person in pixels or words; decide what may be sent.

    Without a decision, list the images with the places found, or the cases with the
    words found.
    """
    from viewer.services.privacy import decisions
    from viewer.store.database import open_store

    if clean + block + black_found + bool(boxes) > 1:
        raise WrongUseError("More than one decision is given.", "Give only one.")
    if words:
        if black_found or boxes:
            raise WrongUseError(
                "Text cannot be blacked out.", "Use --clean or --block."
            )
        decided = _decision(clean=clean, block=block) if clean or block else None
        _review_words(name, items, decided, store, as_json=as_json)
        return
    with open_store(read_settings(store).store) as opened:
        images = decisions.images_named(opened, name)
        if black_found:
            decisions.black_out_found(opened, images.values())
        elif clean or block or boxes:
            decided = _decision(clean=clean, block=block)
            decisions.decide(opened, images.values(), decided, boxes)
        rows = decisions.review_rows(opened, images)
    if as_json:
        print_json(rows)
    else:
        print_rows(rows, ("image", "frame", "decision", "reason", "boxes"))


def _review_words(
    name: str,
    items: tuple[str, ...],
    decision: ReviewDecision | None,
    store: Path | None,
    *,
    as_json: bool,
) -> None:
    from viewer.services.privacy.word_review import decide_words, word_rows
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        if decision is not None:
            decide_words(opened, name, decision, items)
        rows = word_rows(opened, name, items)
    if as_json:
        print_json(rows)
    elif rows:
        print_rows(rows, ("item", "decision", "found", "words"))
    else:
        echo("No text was found that seems to identify a person.")


def _decision(*, clean: bool, block: bool) -> ReviewDecision:
    if clean:
        return ReviewDecision.CLEAN
    return ReviewDecision.BLOCKED if block else ReviewDecision.BLACKED_OUT


def ask_for_keys(profiles: "Sequence[ModelProfile]") -> None:
    """Let the user type keys that are stored nowhere, for this command only."""
    from viewer.services.privacy.decisions import missing_keys, remember_key

    if sys.stdin.isatty():
        for name in missing_keys(profiles):
            remember_key(
                name, click.prompt(one_line(f"Key {name}"), hide_input=True, err=True)
            )


@click.group()
def key() -> None:
    """Store the API keys of endpoints in this computer's keyring."""


@key.command("set")
@click.argument("name")
def set_command(name: str) -> None:
    """Store the key that a profile calls NAME, typed or read from standard input."""
    from viewer.services.privacy.decisions import set_key

    if sys.stdin.isatty():
        value = click.prompt(one_line(f"Key {name}"), hide_input=True)
    else:
        value = sys.stdin.readline()
    set_key(name, value)
    echo(f"The keyring holds {name}.")


@key.command()
@click.argument("name")
def forget(name: str) -> None:
    """Remove the key NAME from the keyring."""
    from viewer.services.privacy.decisions import forget_key

    forget_key(name)
    echo(f"The keyring no longer holds {name}.")


@key.command()
@click.argument("name")
def where(name: str) -> None:
    """Say where the key NAME was found, without showing it."""
    from viewer.services.privacy.decisions import key_place

    echo(key_place(name) or "nowhere")
