"""Records of a bundle as JSON: replies without duplicates, and values line by line."""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from viewer.domain.errors import ProviderError
from viewer.domain.exchange import RawReply
from viewer.models.reading import read_reply
from viewer.results.frame import has_value
from viewer.results.item_columns import Origin, names_of
from viewer.services.reporting.records import reply_text
from viewer.services.trials.pseudonyms import Pseudonyms
from viewer.services.viewing.returned_pictures import returned_pictures
from viewer.store import trials
from viewer.store.database import Store

Record = dict[str, object]


class Replies:
    """The replies of a run without duplicates, numbered from 0 in order of occurrence.

    ``records`` are their raw bytes, ``told`` what they say, ``pictures`` the PNGs that
    came with each.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._numbers: dict[int, int] = {}
        self.records: list[Record] = []
        self.told: list[str] = []
        self.pictures: list[tuple[bytes, ...]] = []

    def number(self, reply: int) -> int:
        """Return the number of a stored reply, by its row id in the store."""
        if reply not in self._numbers:
            raw = trials.reply_with_id(self._store, reply).raw
            self._numbers[reply] = len(self.records)
            self.records.append(_record(raw))
            self.told.append(reply_text(raw))
            self.pictures.append(_pictures(raw))
        return self._numbers[reply]


_PSEUDONYMS: Final = ("item", "patient", "image")
_WORKED_OUT: Final = ("coverage", "outcome")
"""What verify.py computes again from the pixels of a place."""
_AS_THEY_ARE: Final = (
    *(n for n in names_of(Origin.STORED) if n not in (*_PSEUDONYMS, *_WORKED_OUT)),
    "parsed",
)


def trial_record(
    one: Mapping[str, Any], names: Pseudonyms, strata: Iterable[str]
) -> Record:
    """Return a row of records as in a bundle, without names.

    ``strata`` are the names of the item's strata columns.
    """
    return {
        "item": names.item(one["item"], one["image"]),
        "patient": names.patients[one["patient"]],
        "image": names.images[one["image"]],
        **{name: one[name] for name in _AS_THEY_ARE},
        "strata": {name: one[name] for name in strata},
        "listed": {name: _there(one[name]) for name in names_of(Origin.COPIED)},
        "numbers": [list(pair) for pair in trials.numbers_of(one["numbers"])],
    }


def _there(value: object) -> object:
    return value if has_value(value) else None


def _pictures(raw: RawReply) -> tuple[bytes, ...]:
    try:
        return returned_pictures(read_reply(raw)).pngs
    except ProviderError:
        return ()


def sha256_of(raw: RawReply) -> str:
    """Return the hash of a reply's body."""
    return hashlib.sha256(raw.body).hexdigest()


def _record(raw: RawReply) -> Record:
    # Bytes as they came: a body that is no UTF-8 has to keep its hash.
    body: Record = {"base64": base64.b64encode(raw.body).decode()}
    try:
        text = raw.body.decode()
    except UnicodeDecodeError:
        text = None
    if text is not None:
        body = {"text": text}
    return {"kind": str(raw.kind), "length_cap": raw.length_cap, **body}


def json_bytes(value: object) -> bytes:
    """Return a value as one line of JSON with sorted keys."""
    return (json.dumps(value, sort_keys=True, ensure_ascii=False) + "\n").encode()


def json_lines(values: Iterable[Mapping[str, object]]) -> bytes:
    """Return values as JSON, one per line."""
    return b"".join(map(json_bytes, values))
