"""The results of checking models, by their names and settings."""

import hashlib
import json

from viewer.domain.exchange import ModelProfile
from viewer.domain.model_check import ModelCheck
from viewer.domain.plain import made, plain
from viewer.store.database import Store
from viewer.store.signing import canonical


def add_check(store: Store, profile: ModelProfile, found: ModelCheck) -> None:
    """Keep the result of checking a model with the settings of its profile."""
    with store.transaction():
        store.execute(
            "INSERT INTO model_check (model, settings_sha256, at, found)"
            " VALUES (?, ?, ?, ?)",
            (profile.name, _settings_sha256(profile), found.at,
             json.dumps(plain(found))),
        )  # fmt: skip


def latest_check(
    store: Store, profile: ModelProfile, before: str = "9"
) -> ModelCheck | None:
    """Return a model's last check with exactly these settings, None without one.

    ``before`` is a time, UTC, ISO 8601; later checks do not count.
    """
    rows = store.rows(
        "SELECT found FROM model_check WHERE model = ? AND settings_sha256 = ?"
        " AND at < ? ORDER BY at DESC, id DESC LIMIT 1",
        (profile.name, _settings_sha256(profile), before),
    )
    if not rows:
        return None
    return made(ModelCheck, json.loads(rows[0]["found"]), where="a check of a model")


def changed_since(store: Store, found: ModelCheck) -> str:
    """Return what a later run noted of another model, "" for nothing."""
    rows = store.rows(
        "SELECT text FROM run_note WHERE model = ? AND kind = 'model_changed'"
        " AND at > ? ORDER BY id DESC LIMIT 1",
        (found.model, found.at),
    )
    return str(rows[0]["text"]) if rows else ""


def _settings_sha256(profile: ModelProfile) -> str:
    """Return the hash of the adapter and settings, which a check is valid for."""
    kept = {"adapter": profile.adapter, "settings": plain(profile.settings)}
    return hashlib.sha256(canonical(kept)).hexdigest()
