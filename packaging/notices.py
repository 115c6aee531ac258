"""What a frozen folder holds of others: their licences and a bill of materials.

Every file that PyInstaller takes is traced to the distribution, the interpreter or the
system package that it is from. The table (LICENCES.md), the texts (licences/) and the
bill of materials (sbom.cdx.json, CycloneDX 1.6) name these and nothing else. A package
that may be used under the GPL alone, or whose licence nobody has looked at, ends the
build.
"""

import csv
import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from system_licences import SYSTEM_LICENCES

OURS = "overread"
LICENCES = Path(__file__).parent / "licences"
_TEXT = re.compile(r"(?i)^(licen[cs]e|copying|notice|copyright|authors|patents)")
_TERM = re.compile(r"\(([^()]*)\)")
_LESSER = re.compile(r"(?i)lesser|lgpl")
_GPL = re.compile(r"(?i)gpl|general public")


@dataclass(frozen=True)
class Component:
    """Something of others: what it is, under which licence, and where that stands."""

    name: str
    version: str
    licence: str
    purl: str
    texts: tuple[Path, ...] = ()


def may_be_distributed(licence: str) -> bool:
    """Tell whether a licence, an SPDX expression or in words, leaves a way but the GPL.

    AND binds closer than OR; what is granted WITH an exception, as by the runtime
    libraries of GCC, is taken for what the exception makes of it.
    """
    while group := _TERM.search(licence):
        held = "held" if may_be_distributed(group[1]) else "GPL"
        licence = licence[: group.start()] + held + licence[group.end() :]
    return bool(licence.strip()) and any(
        all(_term_is_free(term) for term in choice.split(" AND "))
        for choice in licence.split(" OR ")
    )


def _term_is_free(term: str) -> bool:
    if " WITH " in term or "exception" in term:
        return True
    return _LESSER.search(term) is not None or _GPL.search(term) is None


def licence_of(metadata: importlib.metadata.PackageMetadata) -> str:
    """Return the licence that a distribution states: its expression, else its words."""
    fields = {
        name: metadata.get(name) or "" for name in ("License-Expression", "License")
    }
    if fields["License-Expression"]:
        return str(fields["License-Expression"])
    classifiers = metadata.get_all("Classifier") or []
    named = [c.split(" :: ")[-1] for c in classifiers if c.startswith("License :: ")]
    stated = str(fields["License"]).strip()
    short = "\n" not in stated and 2 < len(stated) < 200 and stated != "LICENSE"
    return stated if short else " AND ".join(named)


def components(sources: Iterable[Path]) -> list[Component]:
    """Return what the files are from, each once, in order of name.

    Raises
    ------
    SystemExit
        If a file is from nowhere that is known.
    """
    owners = _owners()
    distributions, elsewhere = set(), set()
    for path in {source.resolve() for source in sources}:
        owner = owners.get(str(path))
        if owner is not None:
            distributions.add(owner)
        elif not path.is_relative_to(LICENCES.parents[1]):
            elsewhere.add(path)
    found = [_of_distribution(name) for name in distributions - {OURS}]
    return sorted([*found, *_of_system(elsewhere)], key=lambda c: c.name.lower())


def _owners() -> dict[str, str]:
    """Return for every installed file the name of its distribution."""
    owners: dict[str, str] = {}
    for distribution in importlib.metadata.distributions():
        name = distribution.name  # parsed anew whenever it is asked for
        root = Path(str(distribution.locate_file(""))).resolve()
        record = (distribution.read_text("RECORD") or "").splitlines()
        for file, *_ in csv.reader(record):
            owners[os.path.normpath(root / file)] = name
    return owners


def _of_distribution(name: str) -> Component:
    distribution = importlib.metadata.distribution(name)
    version = distribution.version
    texts = tuple(
        Path(str(distribution.locate_file(file))).resolve()
        for file in distribution.files or ()
        if _TEXT.match(file.name) and file.suffix not in {".py", ".pyc"}
    )
    purl = f"pkg:pypi/{name.lower().replace('_', '-')}@{version}"
    licence = licence_of(distribution.metadata)
    if "LGPL-3.0-only" in licence and not texts:
        texts = tuple(sorted(LICENCES.glob("*.txt")))
    return Component(name, version, licence, purl, texts)


def _of_system(paths: Iterable[Path]) -> Iterator[Component]:
    """Yield Python, where its files are among them, and the system's packages."""
    base = Path(sys.base_prefix).resolve()
    system = {path for path in paths if not path.is_relative_to(base)}
    text = base / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    version = platform.python_version()
    yield Component(
        "CPython", version, "PSF-2.0", f"pkg:generic/cpython@{version}",
        tuple(p for p in (text / "LICENSE.txt", base / "LICENSE.txt") if p.exists()),
    )  # fmt: skip
    for package in sorted({_system_package(path) for path in system}):
        yield _of_system_package(package)


def _system_package(path: Path) -> str:
    """Return the Debian package that a library of the system is from."""
    names = {path, Path(str(path).removeprefix("/usr"))}
    for name in names:
        found = subprocess.run(
            ["dpkg-query", "--search", str(name)],  # noqa: S607 - as the bootstrap does
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if found.returncode == 0:
            return found.stdout.partition(":")[0]
    sys.exit(f"notices: {path} is of no package that is known; leave it out.")


def _of_system_package(package: str) -> Component:
    version = subprocess.run(
        ["dpkg-query", "--show", "--showformat=${Version}", package],  # noqa: S607
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    licence = SYSTEM_LICENCES.get(package.removesuffix("t64"), "")
    text = Path("/usr/share/doc") / package / "copyright"
    purl = f"pkg:deb/debian/{package}@{version}"
    return Component(package, version, licence, purl, (text,) if text.exists() else ())


def check(found: Iterable[Component]) -> None:
    """End the build where a component may not be distributed.

    Raises
    ------
    SystemExit
        With one line for each such component.
    """
    complaints = [
        f"notices: {c.name} {c.version} is under {c.licence or 'no known licence'}:"
        " replace it, leave it out, or name its licence in system_licences.py."
        for c in found
        if not may_be_distributed(c.licence)
    ]
    if complaints:
        sys.exit("\n".join(complaints))


def table(found: Iterable[Component]) -> str:
    """Return the table of licences as Markdown."""
    rows = [f"| {c.name} | {c.version} | {c.licence} | {_where(c)} |" for c in found]
    head = "| package | version | licence | its text |\n|---|---|---|---|\n"
    about = (
        "What this folder holds of others. Overread's own licence is in LICENSE.\n\n"
    )
    return f"# Licences\n\n{about}{head}" + "\n".join(rows) + "\n"


def _where(component: Component) -> str:
    return f"licences/{component.name}" if component.texts else "none in its package"


def bill_of_materials(found: Iterable[Component]) -> dict[str, object]:
    """Return the components as CycloneDX 1.6."""
    version = importlib.metadata.version(OURS)
    ours = {
        "type": "application", "bom-ref": OURS, "name": OURS, "version": version,
        "purl": f"pkg:pypi/{OURS}@{version}",
        "licenses": [{"expression": "Apache-2.0"}],
    }  # fmt: skip
    parts = [
        {
            "type": "library", "bom-ref": c.purl, "name": c.name, "version": c.version,
            "purl": c.purl, "licenses": [{"license": {"name": c.licence}}],
        }
        for c in found
    ]  # fmt: skip
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": uuid.uuid4().urn,
        "version": 1,
        "metadata": {
            "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
            "component": ours,
        },
        "components": parts,
        "dependencies": [{"ref": OURS, "dependsOn": [p["bom-ref"] for p in parts]}],
    }


def write(sources: Iterable[Path], folder: Path) -> None:
    """Check what the files are from, and write table, texts and bill into a folder."""
    found = components(sources)
    check(found)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(LICENCES.parents[1] / "LICENSE", folder / "LICENSE")
    (folder / "LICENCES.md").write_text(table(found), encoding="utf-8")
    bill = json.dumps(bill_of_materials(found), indent=1)
    (folder / "sbom.cdx.json").write_text(bill + "\n", encoding="utf-8")
    for component in found:
        _copy_texts(component, folder / "licences" / component.name)


def _copy_texts(component: Component, folder: Path) -> None:
    for number, text in enumerate(component.texts):
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / text.name
        shutil.copy(
            text, target if not target.exists() else folder / f"{number}-{text.name}"
        )
