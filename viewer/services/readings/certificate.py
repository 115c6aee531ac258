"""The certificate of a session: who read what, when, and by which versions.

It names the end of the audit's chain of hashes at its time, so that nothing before it
can be changed later without being found, and is signed by the store's key.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import viewer
from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.domain.form_json import form_as_json
from viewer.domain.plain import made
from viewer.domain.reading import SessionId
from viewer.services.sessions.ground import Ground, ground_of
from viewer.services.sessions.seal import AGAIN, Signed, plan_hmac, sha256_of
from viewer.services.sessions.standings import standings_of
from viewer.store import reading_audit, readings
from viewer.store.database import Store, open_store, utc_now
from viewer.writers.files import write_atomically
from viewer.writers.html_text import rendered

_KIND: Final = "overread session certificate"
_PAGE: Final = "certificate.html.jinja"
_WORDS: Final = (
    ("Reader", "reader"),
    ("Session", "session"),
    ("What was read", "title"),
    ("Study", "study"),
    ("Version of the study", "study_version"),
    ("Version of its scoring", "scorer_version"),
    ("Form", "form"),
    ("Version of the form", "form_version"),
    ("Program", "program"),
    ("Opened", "opened_at"),
    ("First action", "first_at"),
    ("Last action", "last_at"),
    ("Seed of the draw", "seed"),
    ("Cases", "cases"),
    ("Cases locked", "locked"),
    ("Actions", "acts"),
    ("Certified", "written_at"),
)
_HASHES: Final = (
    ("Cases and questions", "plan_hmac"),
    ("Form", "form_sha256"),
    ("Actions", "acts_sha256"),
    ("Last event of the audit", "head"),
    ("Signature", "signature"),
)


@dataclass(frozen=True)
class Certificate(Signed):
    """What a certificate states; times are UTC, ISO 8601, hashes SHA-256.

    ``plan_hmac`` is the keyed hash of what the session asks, ``events`` the number of
    the audit's last event and ``head`` its hash, ``acts_sha256`` the hash of the
    session's ``acts`` actions. ``seed`` drew the cases and their order. ``merged`` is
    True if they came back from another machine.
    """

    kind: str
    program: str
    store: str
    session: int
    reader: str
    title: str
    study: str
    study_version: str
    scorer_version: str
    form: str
    form_version: str
    form_sha256: str
    plan_hmac: str
    opened_at: str
    first_at: str
    last_at: str
    seed: int
    cases: int
    locked: int
    acts: int
    acts_sha256: str
    merged: bool
    events: int
    head: str
    written_at: str


def certify(store: Path, session: SessionId, path: Path) -> tuple[Path, Path]:
    """Write a session's certificate as JSON, and a page of it beside; return both.

    Raises
    ------
    WrongUseError
        For an unknown session, a withdrawn reader, no answer, or a name that ends in
        .html, which the page gets.
    """
    page = path.with_suffix(".html")
    if page == path:
        raise WrongUseError(
            f"'{path.name}' is the name of the page.", "Name a file such as s3.json."
        )
    with open_store(store) as opened:
        ground = ground_of(opened, session)
        if ground.session.withdrawn:
            raise WrongUseError(f"The reader of session {session} has withdrawn.", "")
        with opened.transaction():
            certificate = _certificate(opened, ground).signed(opened)
            reading_audit.note_event(
                opened,
                "certificate",
                session,
                signed=True,
                signature=certificate.signature,
            )
    text = json.dumps(asdict(certificate), indent=2, ensure_ascii=False)
    write_atomically(path, f"{text}\n".encode())
    write_atomically(page, _page(certificate).encode())
    return path, page


def check_certificate(store: Path, path: Path) -> tuple[str, ...]:
    """Return a sentence for each way in which the store differs from a certificate.

    Actions that were added since are no difference. A file that is no certificate
    raises UnreadableInputError.
    """
    certificate = _read(path)
    with open_store(store) as opened:
        if certificate.store != opened.name:
            return ("The certificate is of a session of another store.",)
        if not certificate.is_by(opened):
            return ("The certificate was changed after it was written.",)
        return tuple(_differences(opened, certificate))


def _certificate(store: Store, ground: Ground) -> Certificate:
    session, form, study = ground.session, ground.form, ground.study
    acts = reading_audit.acts_of(store, session.id)
    if not acts:
        raise WrongUseError(
            f"Nothing in session {session.id} is answered yet.",
            "Answer at least one case first.",
        )
    standings = standings_of(store, ground)
    events, head = reading_audit.head_of(store)
    return Certificate(
        kind=_KIND,
        program=viewer.__version__,
        store=store.name,
        session=session.id,
        reader=session.reader,
        title=form.title,
        study=ground.spec.asked.study,
        study_version=study.version,
        scorer_version=study.scorer_version,
        form=form.name,
        form_version=form.version,
        form_sha256=sha256_of(form_as_json(form)),
        plan_hmac=plan_hmac(store, session.id),
        opened_at=session.opened_at,
        first_at=str(acts[0]["at"]),
        last_at=str(acts[-1]["at"]),
        seed=ground.spec.seed,
        cases=len(standings),
        locked=sum(one.complete for one in standings),
        acts=len(acts),
        acts_sha256=sha256_of({"acts": acts}),
        merged=bool(reading_audit.events_of(store, session.id, "merge")),
        events=events,
        head=head,
        written_at=utc_now(),
    )


def _read(path: Path) -> Certificate:
    try:
        document = json.loads(path.read_bytes())
        found = made(Certificate, document, where=path.name)
    except (OSError, ValueError, RecursionError, WrongUseError) as error:
        raise _no_certificate(path) from error
    if found.kind != _KIND:
        raise _no_certificate(path)
    return found


def _no_certificate(path: Path) -> UnreadableInputError:
    return UnreadableInputError(
        f"{path.name} is not the certificate of a session.",
        f"Name a JSON file that --certificate wrote. {AGAIN}",
    )


def _differences(store: Store, certificate: Certificate) -> Iterator[str]:
    number = SessionId(certificate.session)
    if not reading_audit.is_event(store, certificate.events, certificate.head):
        yield "The audit no longer has the event that the certificate ends with."
    held = {row.id: row for row in readings.session_rows(store)}
    if number not in held:
        yield f"Session {number} was deleted since."
    elif held[number].withdrawn:
        yield f"The reader of session {number} has withdrawn since."
    else:
        yield from _changes(store, certificate)


def _changes(store: Store, certificate: Certificate) -> Iterator[str]:
    number = certificate.session
    if plan_hmac(store, number) != certificate.plan_hmac:
        yield f"The cases of session {number} were changed since."
    acts = reading_audit.acts_of(store, number)[: certificate.acts]
    if sha256_of({"acts": acts}) != certificate.acts_sha256:
        yield f"The answers of session {number} were changed since."
    if readings.session_row(store, number).reader != certificate.reader:
        yield f"The reader of session {number} was changed since."


def _page(certificate: Certificate) -> str:
    facts = asdict(certificate)
    return rendered(
        _PAGE,
        incomplete=False,
        title=f"Certificate of session {certificate.session}",
        elsewhere=certificate.merged,
        facts=[(words, facts[name]) for words, name in _WORDS],
        hashes=[(words, facts[name]) for words, name in _HASHES],
        events=certificate.events,
    )
