"""Signatures of documents that leave the store, by a key that stays in it.

The key is random, made with the store, and in no file but the store's own and its
backups. A signature shows that this store, or a copy of it, wrote exactly this
document; who has no key can neither make one nor check it (HMAC, RFC 2104).
"""

import hashlib
import hmac
import json
from collections.abc import Mapping

from viewer.domain.errors import StoreError
from viewer.store.database import Store


def canonical(document: Mapping[str, object]) -> bytes:
    """Return the bytes that are signed and hashed: sorted keys, without whitespace."""
    text = json.dumps(
        document, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    return text.encode()


def signature_of(store: Store, document: Mapping[str, object]) -> str:
    """Return the signature of a document of JSON values, in hexadecimal."""
    return hmac.new(_key(store), canonical(document), hashlib.sha256).hexdigest()


def is_signed(store: Store, document: Mapping[str, object], signature: str) -> bool:
    """Tell whether this store, or a copy of it, signed exactly this document."""
    # As bytes: text that is not ASCII would raise.
    return hmac.compare_digest(
        signature_of(store, document).encode(), signature.encode(errors="replace")
    )


def key_sha256(store: Store) -> str:
    """Return the hash of the key, which tells whether it is still the same.

    It is "" for a store whose key was removed.
    """
    rows = _keys(store)
    return hashlib.sha256(rows[0]).hexdigest() if rows else ""


def _key(store: Store) -> bytes:
    rows = _keys(store)
    if not rows:
        raise StoreError(
            "The store's key for signing sessions and certificates is missing.",
            "Restore a backup of it.",
        )
    return rows[0]


def _keys(store: Store) -> list[bytes]:
    # With its number, so that a change of any column makes another key.
    return [str(r[0]).encode() for r in store.rows("SELECT id || key FROM signing_key")]
