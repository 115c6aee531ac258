"""A bundle as a zip archive: identical bytes for identical members, with a seal."""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from viewer.writers.verify.archive import MANIFEST, SCHEMA, SEAL, sha256_of_json

_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_DIGITS: Final = 64


def manifest_schema() -> bytes:
    """Return the JSON Schema of a bundle's manifest."""
    return (files("viewer.writers") / "schemas" / SCHEMA).read_bytes()


def bundle_bytes(members: Mapping[str, bytes], manifest: Mapping[str, object]) -> bytes:
    """Return a sealed archive of the members and their manifest.

    The manifest gets the SHA-256 of each member and its own; the archive's comment
    holds that of every byte before it, so that no byte of the file can change unseen.
    """
    listed = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    whole = {**manifest, "files": dict(sorted(listed.items()))}
    whole["manifest_sha256"] = sha256_of_json(whole)
    text = json.dumps(whole, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    return _sealed(_zipped({**members, MANIFEST: text.encode()}))


def _zipped(members: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        # Zeros first: the comment ends the file, and its length lies before it already.
        archive.comment = SEAL + b"0" * _DIGITS
        for name, data in sorted(members.items()):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = 3  # the same on every system
            # Unix permissions; at 0 nobody could read the unpacked file.
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 6)
    return stream.getvalue()


def _sealed(archive: bytes) -> bytes:
    body = archive[: -len(SEAL) - _DIGITS]
    return body + SEAL + hashlib.sha256(body).hexdigest().encode()
