"""The bundle as a file: its seal, its members and their hashes."""

import hashlib
import io
import json
import re
import stat
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PureWindowsPath
from typing import Any

SEAL = b"overread-seal sha256:"
"""How the archive's comment begins; the hash of every byte before it follows."""
MANIFEST, SCHEMA = "manifest.json", "manifest.schema.json"
_TAIL_LENGTH = 200
MOST_BYTES = 2 << 30
"""More is never unpacked: all of it is held in memory."""
MOST_FILES = 100_000


class BundleError(Exception):
    """The input is not a bundle; the message says why."""


@dataclass(frozen=True)
class Bundle:
    """A bundle's members by name, and its manifest."""

    members: Mapping[str, bytes]
    manifest: Mapping[str, Any]

    @property
    def tables(self) -> list[str]:
        """The names of the tables, sorted."""
        found = (n for n in self.members if n.startswith("tables/"))
        return sorted(n.removeprefix("tables/").removesuffix(".csv") for n in found)

    def lines(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the JSON objects of a member with one per line."""
        # As bytes: those of a text would also be split at U+2028, which JSON allows.
        for line in self.members[name].splitlines():
            yield json.loads(line)


def opened(data: bytes) -> tuple[Bundle | None, list[str]]:
    """Return a bundle, None if it cannot be read, and the problems with its bytes.

    Data that never was a bundle raise BundleError.
    """
    wrong = [] if _is_sealed(data) else ["The archive's bytes differ from its seal."]
    try:
        members = dict(_members(data))
    except (
        zipfile.BadZipFile,
        OSError,
        EOFError,
        ValueError,
        NotImplementedError,
    ) as e:
        if not data.startswith(b"PK") and SEAL not in data[-_TAIL_LENGTH:]:
            raise BundleError("The file is not a bundle.") from e
        return None, [*wrong, f"The archive cannot be read: {e}."]
    except Exception as e:  # noqa: BLE001 - zlib's own error has no stable home
        return None, [*wrong, f"The archive cannot be unpacked: {e}."]
    return _with_manifest(members, wrong)


def _with_manifest(
    members: dict[str, bytes], wrong: list[str]
) -> tuple[Bundle | None, list[str]]:
    if MANIFEST not in members:
        return None, [*wrong, f"{MANIFEST} is missing."]
    try:
        manifest = json.loads(members[MANIFEST])
        listed = dict(manifest["files"])
        stated = manifest.pop("manifest_sha256")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None, [*wrong, f"{MANIFEST} cannot be read."]
    if stated != sha256_of_json(manifest):
        wrong.append(f"{MANIFEST} differs from its own hash.")
    for name in sorted({*listed, *members, SCHEMA} - {MANIFEST}):
        if name not in members:
            wrong.append(f"{name} is missing.")
        elif name not in listed:
            wrong.append(f"{name} is not in the manifest.")
        elif hashlib.sha256(members[name]).hexdigest() != listed[name]:
            wrong.append(f"{name} differs from its hash in the manifest.")
    if not wrong:
        schema = json.loads(members[SCHEMA])
        wrong += departures({**manifest, "manifest_sha256": stated}, schema, MANIFEST)
    return Bundle(members, manifest), wrong


def sha256_of_json(value: object) -> str:
    """Return the hash of a JSON value with sorted keys and no whitespace."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _is_sealed(data: bytes) -> bool:
    length = len(SEAL) + 64
    body, seal = data[:-length], data[-length:]
    return seal == SEAL + hashlib.sha256(body).hexdigest().encode()


def _members(data: bytes) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        _check_entries(entries)
        for entry in entries:
            yield entry.filename, archive.read(entry)


def _check_entries(entries: Sequence[zipfile.ZipInfo]) -> None:
    """Refuse entries that leave their folder or fill the memory, before unpacking.

    Of no member more is unpacked than its entry says.
    """
    names = [entry.filename for entry in entries]
    # Windows and macOS would unpack two such names into one file.
    if len({name.casefold() for name in names}) < len(names):
        raise ValueError("a name appears twice in it")
    if len(names) > MOST_FILES:
        raise ValueError(f"it holds more than {MOST_FILES:,} files")
    if sum(entry.file_size for entry in entries) > MOST_BYTES:
        raise ValueError(f"it unpacks to more than {MOST_BYTES >> 20:,} MB")
    for entry in entries:
        if not _stays_inside(entry):
            raise ValueError("a file in it would lie outside its folder")
        if entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise ValueError("a file in it is packed in an unsupported way")


def _stays_inside(entry: zipfile.ZipInfo) -> bool:
    """Tell whether a member is a plain file below its target folder.

    Its name is looked at as it is written: zipfile cuts it at a zero, and turns the
    separators of the system it runs on.
    """
    name = entry.orig_filename
    parts = PureWindowsPath(name).parts
    return (
        bool(parts)
        and not set(parts) & {".", ".."}
        and not set(name) & set("\\:\0")
        and not name.startswith("/")
        and not name.endswith("/")
        and not stat.S_ISLNK(entry.external_attr >> 16)
    )


_KINDS: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}


def departures(value: Any, schema: Mapping[str, Any], at: str) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """Yield a sentence for each way in which a value violates a schema.

    Knows type, const, pattern, minimum, required, properties, additionalProperties and
    items; ``at`` names the place of the value.
    """
    # `is`, because 1 == True: the schema's constants are true and false.
    if "const" in schema and value is not schema["const"]:
        yield f"{at} is not {schema['const']}."
    if "type" in schema and not _is_of(value, schema["type"]):
        yield f"{at} is not of the type {schema['type']}."
        return
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{at} has the wrong form."
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{at} is less than {schema['minimum']}."
    if isinstance(value, dict):
        yield from _members_of(value, schema, at)
    if isinstance(value, list) and "items" in schema:
        for i, part in enumerate(value):
            yield from departures(part, schema["items"], f"{at}[{i}]")


def _members_of(
    value: Mapping[str, Any], schema: Mapping[str, Any], at: str
) -> Iterator[str]:
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{at} has no {name}."
    known, others = schema.get("properties", {}), schema.get("additionalProperties")
    for name, part in value.items():
        if name in known:
            yield from departures(part, known[name], f"{at}.{name}")
        elif others is False:
            yield f"{at} has {name}, which it should not have."
        elif isinstance(others, dict):
            yield from departures(part, others, f"{at}.{name}")


def _is_of(value: object, kinds: str | list[str]) -> bool:
    """Tell whether a value is of one of the types; booleans are not numbers."""
    names = [kinds] if isinstance(kinds, str) else kinds
    if isinstance(value, bool):
        return "boolean" in names
    return any(isinstance(value, _KINDS[name]) for name in names)
