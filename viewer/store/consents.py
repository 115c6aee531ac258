"""Consents, transmissions, pixel reviews, and notes on a run's models."""

import json
from collections.abc import Iterable, Mapping
from typing import Final

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx
from viewer.domain.plain import made, plain
from viewer.domain.privacy import Consent, Departure, PixelReview, ReviewDecision
from viewer.store.database import Row, Store, utc_now

_CONSENTS: Final = (
    "SELECT c.*, d.name AS dataset FROM consent c"
    " LEFT JOIN dataset d ON d.id = c.dataset_id"
)


def add_consent(
    store: Store,
    endpoint: str,
    dataset: str | None,
    purpose: str,
    *,
    granted: bool,
    given_by: str = "",
) -> int:
    """Record a decision about an endpoint; the latest one applies.

    ``dataset`` None means any data set. An unknown one raises WrongUseError.
    ``given_by`` names the user, "" if unknown.
    """
    decision = "granted" if granted else "withdrawn"
    dataset_id = None if dataset is None else _dataset_id(store, dataset)
    with store.transaction():
        return store.execute(
            "INSERT INTO consent"
            " (endpoint, dataset_id, purpose, decision, given_at, given_by)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (endpoint, dataset_id, purpose, decision, utc_now(), given_by),
        )


def _dataset_id(store: Store, name: str) -> int:
    rows = store.rows("SELECT id FROM dataset WHERE name = ?", (name,))
    if not rows:
        raise WrongUseError(
            f"No data set is named '{name}'.",
            "Register it with overread import, or use --for any.",
        )
    return int(rows[0]["id"])


def consents(store: Store) -> tuple[Consent, ...]:
    """Return every decision ever recorded, oldest first."""
    return tuple(map(_consent, store.rows(f"{_CONSENTS} ORDER BY c.id")))


def standing_consents(store: Store, dataset: str | None = None) -> tuple[Consent, ...]:
    """Return the valid consents, one for each endpoint.

    With a ``dataset``, those that allow sending its images: given for it or for any,
    where a decision about the data set itself goes before one about any. Without one,
    the latest decision about each pair of endpoint and data set, if it was granted.
    """
    last: dict[tuple[str, str | None], Consent] = {}
    for consent in consents(store):
        last[consent.endpoint, consent.dataset] = consent
    if dataset is None:
        return tuple(c for c in last.values() if c.granted)
    of_any = {e: c for (e, name), c in last.items() if name is None}
    own = {e: c for (e, name), c in last.items() if name == dataset}
    return tuple(c for c in (of_any | own).values() if c.granted)


def _consent(row: Row) -> Consent:
    return Consent(
        id=row["id"],
        endpoint=row["endpoint"],
        dataset=row["dataset"],
        purpose=row["purpose"],
        granted=row["decision"] == "granted",
        given_at=row["given_at"],
        given_by=row["given_by"],
    )


def decided_until(store: Store) -> tuple[object, ...]:
    """Return a stamp that changes with every decision about sending."""
    (row,) = store.rows(
        "SELECT (SELECT max(id) FROM consent), (SELECT max(id) FROM pixel_review),"
        " (SELECT group_concat(id) FROM dataset WHERE restricted = 1)"
    )
    return tuple(row)


def note_departure(
    store: Store,
    attempt: int | None,
    endpoint: str,
    body_sha256: str,
    consent: int,
    deidentified: Iterable[str] = (),
) -> int:
    """Insert, inside a transaction, that a request is about to be sent.

    ``deidentified`` has codes of DEIDENTIFICATION, none without a patient's image.
    """
    return store.execute(
        "INSERT INTO departure"
        " (attempt_id, endpoint, body_sha256, consent_id, sent_at, deidentified)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (attempt, endpoint, body_sha256, consent, utc_now(), " ".join(deidentified)),
    )


def departures(store: Store) -> tuple[Departure, ...]:
    """Return every request sent to a remote endpoint, oldest first."""
    rows = store.rows(
        "SELECT p.*, t.run_id, t.item, t.model FROM departure p"
        " LEFT JOIN attempt a ON a.id = p.attempt_id"
        " LEFT JOIN trial t ON t.id = a.trial_id ORDER BY p.id"
    )
    return tuple(
        Departure(
            id=row["id"],
            endpoint=row["endpoint"],
            body_sha256=row["body_sha256"],
            consent=row["consent_id"],
            sent_at=row["sent_at"],
            run=row["run_id"],
            item=row["item"],
            model=row["model"],
            deidentified=tuple(row["deidentified"].split()),
        )
        for row in rows
    )


def deidentified_of_run(store: Store, run: int) -> tuple[tuple[str, ...], ...]:
    """Return the distinct ways in which images sent by a run were de-identified."""
    rows = store.rows(
        "SELECT DISTINCT p.deidentified AS codes FROM departure p"
        " JOIN attempt a ON a.id = p.attempt_id JOIN trial t ON t.id = a.trial_id"
        " WHERE t.run_id = ? ORDER BY codes",
        (run,),
    )
    return tuple(tuple(row["codes"].split()) for row in rows)


def set_restricted(store: Store, dataset: str, *, restricted: bool) -> None:
    """Set whether a data set's licence keeps it from remote endpoints."""
    dataset_id = _dataset_id(store, dataset)
    with store.transaction():
        store.execute(
            "UPDATE dataset SET restricted = ? WHERE id = ?",
            (int(restricted), dataset_id),
        )


def is_registered(store: Store, dataset: str) -> bool:
    """Tell whether a person registered a data set of this name."""
    rows = store.rows("SELECT 1 FROM dataset WHERE name = ? AND adhoc = 0", (dataset,))
    return bool(rows)


def restricted_datasets(store: Store) -> frozenset[str]:
    """Return the names of the data sets whose images stay on this machine."""
    rows = store.rows("SELECT name FROM dataset WHERE restricted = 1")
    return frozenset(row["name"] for row in rows)


def restricted_files(store: Store) -> Mapping[str, str]:
    """Return the restricted data set of each image, by the SHA-256 of its file.

    An image in a restricted data set must stay here under any other name too.
    """
    rows = store.rows(
        "SELECT i.sha256, d.name FROM image i JOIN dataset d ON d.id = i.dataset_id"
        " WHERE d.restricted = 1 AND i.sha256 <> ''"
    )
    return {row["sha256"]: row["name"] for row in rows}


def add_review(store: Store, review: PixelReview) -> None:
    """Store a decision about an image's pixels; the latest one applies."""
    add_reviews(store, (review,))


def add_reviews(store: Store, reviews: Iterable[PixelReview]) -> None:
    """Store several decisions, all of them or none."""
    with store.transaction():
        store.execute_many(
            "INSERT INTO pixel_review (image_sha256, boxes, decision, reviewed_at)"
            " VALUES (?, ?, ?, ?)",
            [
                (
                    review.image_sha256,
                    json.dumps(plain(review.boxes)),
                    review.decision.value,
                    review.reviewed_at or utc_now(),
                )
                for review in reviews
            ],
        )


def reviews(store: Store) -> Mapping[str, PixelReview]:
    """Return the valid decision for each reviewed image, by its hash."""
    rows = store.rows("SELECT * FROM pixel_review ORDER BY id")
    return {row["image_sha256"]: _review(row) for row in rows}


def _review(row: Row) -> PixelReview:
    return PixelReview(
        image_sha256=row["image_sha256"],
        decision=ReviewDecision(row["decision"]),
        boxes=made(
            tuple[BoxPx, ...], json.loads(row["boxes"]), where="the stored decision"
        ),
        reviewed_at=row["reviewed_at"],
    )


def add_notes(store: Store, run: int, notes: Iterable[tuple[str, str, str]]) -> None:
    """Store notes on a run's models, each once: (model, kind, text)."""
    now = utc_now()
    with store.transaction():
        store.execute_many(
            "INSERT INTO run_note (run_id, model, kind, text, at)"
            " SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS (SELECT 1 FROM run_note"
            " WHERE run_id = ?1 AND model = ?2 AND kind = ?3 AND text = ?4)",
            [(run, *note, now) for note in notes],
        )
