"""What a session carries to another machine and back, and how a change of it shows.

The seal names the session and the hashes of its cases and files, signed by the store
it comes from. The answers come back with the seal, in a chain of hashes that begins
with its signature: no answer can be changed, moved, left out or taken into another
session without breaking it. The chain has no key, as its maker could not keep one from
the person whose answers they are.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final, Self

from viewer.domain.errors import WrongUseError
from viewer.domain.form_values import values_as_json, values_of_json
from viewer.domain.reading import Act, Consent
from viewer.domain.telemetry import Look
from viewer.store import reading_audit
from viewer.store.database import Store
from viewer.store.readings import NewReading
from viewer.store.signing import canonical, is_signed, signature_of

FORMAT: Final = 2
SESSION, ANSWERS = "overread session", "overread answers"
"""What the two kinds of files say they are."""
AGAIN: Final = "Send for the file again."


@dataclass(frozen=True)
class Signed:
    """A document that a store signs: all of it but the signature."""

    signature: str = field(default="", kw_only=True)

    def signed(self, store: Store) -> Self:
        """Return the document with the signature of a store."""
        return replace(self, signature=signature_of(store, self._signed_part()))

    def is_by(self, store: Store) -> bool:
        """Tell whether a store, or a copy of it, made exactly this document."""
        return is_signed(store, self._signed_part(), self.signature)

    def _signed_part(self) -> dict[str, Any]:
        document = asdict(self)
        del document["signature"]
        return document


@dataclass(frozen=True)
class Seal(Signed):
    """What identifies a sealed session.

    ``store`` is the name of the store it comes from and ``session`` its number there,
    ``plan_hmac`` the keyed hash of its cases and form there. ``content_sha256`` is that
    of the files in the sealed file, ``program`` the version that wrote it.
    ``sealed_at`` is UTC, ISO 8601; ``signature`` is by the store's key, over everything
    else.

    A session whose cases show something new after a lock travels in parts, a stage in
    each: ``part`` counts them from 1, and ``goes_on`` says that another one follows.
    ``acts`` actions were merged before this one was sealed, the last of which has the
    hash ``head``, "" without any.
    """

    format: int
    program: str
    study: str
    study_version: str
    store: str
    session: int
    reader: str
    form: str
    form_version: str
    plan_hmac: str
    content_sha256: str
    sealed_at: str
    part: int
    goes_on: bool
    acts: int
    head: str

    @property
    def words(self) -> str:
        """What it is of, in words."""
        is_part = self.goes_on or self.part > 1
        of = f"part {self.part} of " if is_part else ""
        return f"{of}session {self.session}"


@dataclass(frozen=True)
class SealedAct:
    """An action as it was stored, and the hash that chains it to the one before.

    ``answers`` is JSON, ``at`` UTC, ISO 8601, ``salt`` what the audit hashes with it.
    """

    position: int
    act: str
    stage: int
    answers: str
    comment: str
    active_ms: int
    salt: str
    at: str
    sha256: str = ""

    def as_new(self) -> NewReading:
        """Return the action as a row to be; ValueError if it is none."""
        values = values_of_json(self.answers)
        same = values_as_json(values) == self.answers
        if not same or min(self.active_ms, self.position) < 0 or not self.salt:
            raise ValueError(asdict(self))
        return NewReading(
            act=Act(self.act),
            stage=self.stage,
            values=values,
            comment=self.comment,
            active_ms=self.active_ms,
            salt=self.salt,
            at=self.at,
        )

    def chained(self, previous: str) -> Self:
        """Return the action as the one that follows a hash."""
        document = asdict(self)
        del document["sha256"]
        link = f"{previous}\n".encode() + canonical(document)
        return replace(self, sha256=hashlib.sha256(link).hexdigest())


@dataclass(frozen=True)
class SealedAnswers:
    """The answers of a sealed session on their way back.

    ``consents`` are what the reader decided on texts, ``looks`` what was recorded of
    the screen. ``head`` is the hash of the last action, or the seal's signature without
    any.
    """

    kind: str
    format: int
    program: str
    seal: Seal
    reader: str
    consents: tuple[Consent, ...]
    acts: tuple[SealedAct, ...]
    looks: tuple[Look, ...]
    written_at: str
    head: str
    sha256: str = ""

    def whole(self) -> Self:
        """Return the answers with the hash of everything else."""
        return replace(self, sha256=sha256_of(_without(asdict(self), "sha256")))


def chained(seal: Seal, acts: Sequence[Mapping[str, Any]]) -> tuple[SealedAct, ...]:
    """Return stored actions as a chain that begins with a seal's signature."""
    previous, chain = seal.signature, []
    for act in acts:
        link = SealedAct(**act).chained(previous)
        previous = link.sha256
        chain.append(link)
    return tuple(chain)


def check_chain(answers: SealedAnswers) -> None:
    """Raise WrongUseError unless the answers are whole and in the order of their times.

    The first action is not before the seal, and the last not after the file was
    written.
    """
    if answers.whole().sha256 != answers.sha256:
        raise WrongUseError("The file was changed after it was written.", AGAIN)
    previous, before = answers.seal.signature, moment(answers.seal.sealed_at)
    for number, act in enumerate(answers.acts, 1):
        if act.chained(previous).sha256 != act.sha256:
            raise WrongUseError(
                f"Action {number} does not follow the one before it: it was changed, "
                "or another was removed.",
                AGAIN,
            )
        if moment(act.at) < before:
            raise WrongUseError(
                f"Action {number} is earlier than what came before it: a clock was "
                "set back.",
                "Its answers cannot be merged; open a new session for the reader.",
            )
        previous, before = act.sha256, moment(act.at)
    if previous != answers.head:
        raise WrongUseError("The last actions of the file are missing.", AGAIN)
    if moment(answers.written_at) < before:
        raise WrongUseError(
            "The file was written before its last action: a clock was set back.",
            "Its answers cannot be merged; open a new session for the reader.",
        )


def plan_hmac(store: Store, session: int) -> str:
    """Return a hash of what a session asks that only its store can compute.

    What is withheld is hashed too, and could be guessed from a hash without a key.
    """
    return signature_of(store, {"plan": reading_audit.plan_sha256(store, session)})


def moment(text: str) -> datetime:
    """Return a time that a file states, in UTC; text that is none raises."""
    try:
        # Times of different zones, and those without one, do not compare as text.
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise WrongUseError(f"The file states the time '{text}'.", AGAIN) from error


def sha256_of(document: Mapping[str, object]) -> str:
    """Return the hash of a document of JSON values."""
    return hashlib.sha256(canonical(document)).hexdigest()


def _without(document: Mapping[str, object], name: str) -> dict[str, object]:
    return {key: value for key, value in document.items() if key != name}
