"""Decisions about endpoints, keys and data sets, and their audit."""

import getpass
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from viewer.domain.case import ImageRef
from viewer.domain.errors import MissingDependencyError, WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import BoxPx
from viewer.domain.plain import plain
from viewer.domain.privacy import (
    DEIDENTIFICATION,
    Consent,
    Departure,
    PixelReview,
    ReviewDecision,
    pixels_sha256,
)
from viewer.models import keys
from viewer.models.endpoint import Endpoint, endpoint_at
from viewer.readers.pixels import load_pixels
from viewer.services.commands import PixelLook
from viewer.services.privacy.burned_in import pixels_to_review
from viewer.store import cases, consents
from viewer.store.database import Store, open_store

ANY: Final = "any"
"""What a command line says for every data set."""
_HOST: Final = re.compile(r"[\w.-]+(:\d+)?|\[[0-9a-fA-F:.]+\](:\d+)?")
PURPOSE: Final = "questions about its images"


def endpoint_named(host: str) -> Endpoint:
    """Return the server that the user typed: host, host:port or a URL.

    Without a scheme it is https, without a port the scheme's default.
    """
    written = host if "://" in host else f"https://{host}"
    parts = urlsplit(written.strip())
    if not _HOST.fullmatch(parts.netloc):
        raise WrongUseError(
            f"'{host}' is not the address of a server.",
            "Write it like https://api.example.org or api.example.org:8443.",
        )
    return endpoint_at(f"{parts.scheme}://{parts.netloc}", "host")


def allow(
    store: Store,
    host: str,
    dataset: str,
    purpose: str = PURPOSE,
    *,
    unencrypted: bool = False,
) -> Consent:
    """Store consent to send images of a data set, or of any, to an endpoint.

    Raises
    ------
    PrivacyError
        If an administrator's policy lets nothing go there.
    WrongUseError
        For a remote http address without ``unencrypted``, an https address with it, or
        a restricted data set.
    """
    endpoint, named = endpoint_named(host), _dataset(dataset)
    endpoint.check_policy()
    _check_encryption(endpoint, unencrypted=unencrypted)
    if named is not None and named in consents.restricted_files(store).values():
        raise WrongUseError(
            f"'{named}' is restricted: its images may not leave this machine.",
            "If its licence allows it after all, import it again with --unrestricted.",
        )
    number = consents.add_consent(
        store, endpoint.origin, named, purpose, granted=True, given_by=person()
    )
    return next(c for c in consents.consents(store) if c.id == number)


def _check_encryption(endpoint: Endpoint, *, unencrypted: bool) -> None:
    if endpoint.is_readable and not unencrypted:
        raise WrongUseError(
            f"What is sent to {endpoint.origin} is not encrypted: anyone on the way "
            "can read it.",
            "Use its https address, or --unencrypted to allow that.",
        )
    if unencrypted and endpoint.scheme == "https":
        raise WrongUseError(
            f"{endpoint.origin} is encrypted.",
            "Remove --unencrypted, or use an address that begins with http://.",
        )


def withdraw(store: Store, host: str, dataset: str | None = None) -> int:
    """Withdraw consents for an endpoint; return how many were valid.

    ``dataset`` None withdraws all of that endpoint's.
    """
    origin = endpoint_named(host).origin
    standing = [
        c
        for c in consents.standing_consents(store)
        if c.endpoint == origin and (dataset is None or c.dataset == _dataset(dataset))
    ]
    for consent in standing:
        consents.add_consent(
            store,
            origin,
            consent.dataset,
            consent.purpose,
            granted=False,
            given_by=person(),
        )
    return len(standing)


def person() -> str:
    """Return the name of the user of this machine, "" if there is none."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return ""  # an account that the system has no name for


def _dataset(named: str) -> str | None:
    return None if named == ANY else named


def consent_rows(store: Store) -> list[dict[str, object]]:
    """Return the valid consents as plain rows."""
    return [_consent_row(c) for c in consents.standing_consents(store)]


def _consent_row(consent: Consent) -> dict[str, object]:
    return {
        "id": consent.id,
        "endpoint": consent.endpoint,
        "for": consent.dataset or ANY,
        "purpose": consent.purpose,
        "given_at": consent.given_at,
        "given_by": consent.given_by,
    }


def audit(store: Store) -> dict[str, list[dict[str, object]]]:
    """Return every decision about endpoints and everything sent, oldest first."""
    return {
        "consents": [
            {**_consent_row(c), "decision": "granted" if c.granted else "withdrawn"}
            for c in consents.consents(store)
        ],
        "departures": [_departure_row(d) for d in consents.departures(store)],
    }


def _departure_row(departure: Departure) -> dict[str, object]:
    return {
        "id": departure.id,
        "sent_at": departure.sent_at,
        "endpoint": departure.endpoint,
        "body_sha256": departure.body_sha256,
        "consent": departure.consent,
        "run": departure.run,
        "item": departure.item,
        "model": departure.model,
        "deidentification": method_codes(departure.deidentified),
    }


def method_codes(codes: Iterable[str]) -> list[dict[str, str]]:
    """Return items of De-identification Method Code Sequence (PS3.3 C.7.1.1)."""
    return [
        {"value": code, "scheme": "DCM", "meaning": DEIDENTIFICATION[code]}
        for code in codes
    ]


def restrict(store: Store, dataset: str, *, restricted: bool) -> None:
    """Set whether a data set's licence keeps its images on this machine."""
    consents.set_restricted(store, dataset, restricted=restricted)


def restrict_dataset(store: Path, dataset: str, *, restricted: bool) -> None:
    """Call :func:`restrict` for the store at a path."""
    with open_store(store) as opened:
        restrict(opened, dataset, restricted=restricted)


def restricted_datasets(store: Path) -> frozenset[str]:
    """Return the names of the data sets whose images stay on this machine."""
    with open_store(store) as opened:
        return consents.restricted_datasets(opened)


def restricted_by(store: Path, ref: ImageRef) -> str:
    """Return the restricted data set that contains an image, "" for none.

    The file's content decides, so that a copy under another name is recognised.
    """
    with open_store(store) as opened:
        files = consents.restricted_files(opened)
    if not files:
        return ""
    with ref.path.open("rb") as file:
        return files.get(hashlib.file_digest(file, "sha256").hexdigest(), "")


def review_rows(
    store: Store, images: Mapping[str, ImageRef]
) -> list[dict[str, object]]:
    """Return the evidence of text in the pixels of images, and the decisions."""
    return [
        _review_row(name, ref, pixels_to_review(store.path, ref))
        for name, ref in images.items()
    ]


def _review_row(name: str, ref: ImageRef, found: PixelLook) -> dict[str, object]:
    return {
        "image": name,
        "frame": ref.frame,
        "decision": found.decision,
        "reason": found.reason,
        "boxes": plain(found.proposed),
    }


def images_named(store: Store, name: str) -> Mapping[str, ImageRef]:
    """Return the images of a registered data set, or of a file, by their names.

    Those of a data set are the names that its list of cases has.
    """
    path = Path(name)
    if path.is_file():
        return {path.name: ImageRef(path.absolute(), 0)}
    return {image.key: image.ref for image in cases.dataset_named(store, name).images}


def decide(
    store: Store,
    refs: Iterable[ImageRef],
    decision: ReviewDecision,
    boxes: Sequence[BoxPx] = (),
) -> None:
    """Store one decision about the pixels of images; ``boxes`` are blacked out."""
    for ref in refs:
        sha256 = pixels_sha256(load_pixels(ref))
        consents.add_review(store, PixelReview(sha256, decision, tuple(boxes)))


def black_out_found(store: Store, refs: Iterable[ImageRef]) -> None:
    """Black out what the finder found in images without a decision.

    Without the text finder this raises MissingDependencyError.
    """
    for ref in refs:
        found = pixels_to_review(store.path, ref)
        if found.missing:
            raise MissingDependencyError(found.missing)
        if not found.decision:
            consents.add_review(store, found.decided(found.proposed))


def set_key(name: str, key: str) -> None:
    """Store a key under a name in this computer's keyring."""
    keys.store_key(name, key)


def missing_keys(profiles: Sequence[ModelProfile]) -> tuple[str, ...]:
    """Return the keys that some models need and that are not found anywhere."""
    named = (str(p.settings.get("api_key_env") or "") for p in profiles)
    return tuple(n for n in dict.fromkeys(named) if n and not keys.key_named(n))


def remember_key(name: str, key: str) -> None:
    """Keep a key under a name in memory until this program ends, and in no file."""
    keys.remember_key(name, key)


def forget_key(name: str) -> None:
    """Remove the key of a name from the keyring; raise if it has none."""
    if not keys.forget_key(name):
        in_environment = keys.key_place(name) is keys.KeyPlace.ENVIRONMENT
        raise WrongUseError(
            f"No keyring of this computer has a key {name}, so none was removed.",
            f"It is in the environment: unset the variable {name}."
            if in_environment
            else f"overread key where {name} says where a key was found.",
        )


def key_place(name: str) -> str:
    """Return where a key is found: environment, keyring, or "" if nowhere."""
    return keys.key_place(name).value
