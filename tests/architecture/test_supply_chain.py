"""The lock holds all that pyproject.toml asks for, and what may be distributed."""

import importlib.metadata
import importlib.util
import itertools
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.conftest import PACKAGING, loaded_script

ROOT = Path(__file__).parents[2]
LOCK = sorted((PACKAGING / "lock").glob("*.txt"))
WITH_READER = ("ocr", "pathology", "pacs", "datasets")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
SYSTEMS = (("linux", "Linux"), ("darwin", "Darwin"), ("win32", "Windows"))
HASHED = re.compile(r" \\\n    --hash=sha256:[0-9a-f]{64}")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def blocks(path: Path) -> list[str]:
    """Return each requirement of a file with its hashes."""
    lines = path.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#"))
    return re.findall(r"^\S.*(?:\n +.*)*", text, re.MULTILINE)


def pinned(part: str) -> list[Requirement]:
    """Return what is pinned for a part, that of the reader included."""
    files = {part, "reader"} if part != "build" else {part}
    return [
        Requirement(block.partition(" \\\n")[0])
        for path in LOCK
        if path.stem in files
        for block in blocks(path)
    ]


def environments() -> Iterator[dict[str, str]]:
    """Yield what markers see on every Python and system that the lock is for."""
    for python, (platform, system) in itertools.product(PYTHONS, SYSTEMS):
        yield {
            **{name: str(value) for name, value in default_environment().items()},
            "python_version": python,
            "python_full_version": f"{python}.1",
            "sys_platform": platform,
            "platform_system": system,
            "extra": "",
        }


def wanted() -> list[tuple[str, str]]:
    """Return each requirement of the project with the part of the lock that has it."""
    of_extra = PROJECT["project"]["optional-dependencies"]
    return [
        *(("build", line) for line in PROJECT["build-system"]["requires"]),
        *(("reader", line) for line in PROJECT["project"]["dependencies"]),
        *(
            ("reader" if extra in WITH_READER else extra, line)
            for extra, lines in of_extra.items()
            for line in lines
            if not line.startswith("torch")
        ),
    ]


@pytest.mark.parametrize(("part", "line"), wanted())
def test_that_each_dependency_is_pinned_at_a_version_that_it_allows(
    part: str, line: str
) -> None:
    requirement = Requirement(line)
    pins = [
        pin
        for pin in pinned(part)
        if canonicalize_name(pin.name) == canonicalize_name(requirement.name)
    ]
    for environment in environments():
        if requirement.marker and not requirement.marker.evaluate(environment):
            continue
        versions = [
            next(iter(pin.specifier)).version
            for pin in pins
            if pin.marker is None or pin.marker.evaluate(environment)
        ]
        assert len(set(versions)) == 1, environment
        assert requirement.specifier.contains(versions[0])


@pytest.mark.parametrize("path", LOCK, ids=lambda path: path.stem)
def test_that_every_pin_has_a_hash_and_nothing_else(path: Path) -> None:
    for block in blocks(path):
        head, *_ = block.partition(" \\\n")
        assert re.match(r"[\w.-]+==[\w.]+( ; .+)?$", head)
        assert HASHED.sub("", block) == head
        assert HASHED.search(block)


def test_that_no_two_parts_pin_different_versions() -> None:
    for environment in environments():
        versions: dict[str, set[str]] = {}
        for path in LOCK:
            for block in blocks(path):
                pin = Requirement(block.partition(" \\\n")[0])
                if pin.marker is None or pin.marker.evaluate(environment):
                    versions.setdefault(pin.name, set()).add(str(pin.specifier))
        assert {n: v for n, v in versions.items() if len(v) > 1} == {}


def test_that_the_lock_names_no_index_and_leaves_torch_to_the_bootstrap() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in LOCK)
    unwanted = re.compile(
        r"://|index-url|find-links|^(torch|nvidia|triton)", re.MULTILINE
    )
    assert not unwanted.search(text)
    (torch,) = (
        line
        for line in PROJECT["project"]["optional-dependencies"]["local"]
        if line.startswith("torch")
    )
    bootstrap = (PACKAGING / "bootstrap").read_text(encoding="utf-8")
    assert f'TORCH="{torch}"' in bootstrap


@pytest.fixture(scope="module")
def notices() -> Iterator[ModuleType]:
    """Return the script that writes licences and the bill of materials."""
    sys.path.insert(0, str(PACKAGING))
    with loaded_script("notices") as module:
        yield module
    sys.path.remove(str(PACKAGING))


@pytest.mark.parametrize(
    ("licence", "free"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("GNU General Public License v3 (GPLv3)", False),
        ("AGPL-3.0-or-later", False),
        ("LGPL-3.0-only OR GPL-2.0-only OR GPL-3.0-only", True),
        ("MIT AND GPL-2.0-only", False),
        ("MIT AND (BSD-3-Clause OR GPL-2.0-only)", True),
        ("GPL-2.0-only OR MIT AND GPL-3.0-only", False),
        ("GPL-3.0-or-later WITH GCC-exception-3.1", True),
        ("GNU Lesser General Public License v2 (LGPLv2)", True),
        ("", False),
    ],
)
def test_that_only_the_gpl_alone_stands_in_the_way(
    notices: ModuleType, licence: str, *, free: bool
) -> None:
    assert notices.may_be_distributed(licence) is free


def of_readers() -> Iterator[importlib.metadata.Distribution]:
    """Yield what is installed of all that people run."""
    for part in ("reader", "gguf", "local", "cluster"):
        for pin in pinned(part):
            try:
                yield importlib.metadata.distribution(pin.name)
            except importlib.metadata.PackageNotFoundError:
                continue


def test_that_nothing_people_run_is_under_the_gpl_alone(notices: ModuleType) -> None:
    found = {d.name: notices.licence_of(d.metadata) for d in of_readers()}
    assert len(found) > 80
    held = {
        n: text for n, text in found.items() if not notices.may_be_distributed(text)
    }
    assert held == {}


def test_that_our_own_licence_is_whole_and_stated() -> None:
    assert PROJECT["project"]["license"] == "Apache-2.0"
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert text.strip().startswith("Apache License")
    assert "END OF TERMS AND CONDITIONS" in text


def test_that_the_bill_names_what_the_files_are_from(
    notices: ModuleType, tmp_path: Path
) -> None:
    import click
    import numpy as np

    sources = [Path(str(module.__file__)) for module in (click, np, json)]
    notices.write([*sources, ROOT / "viewer" / "app.py"], tmp_path / "notices")
    bill = json.loads((tmp_path / "notices" / "sbom.cdx.json").read_text("utf-8"))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", bill["serialNumber"])
    parts = {part["name"]: part for part in bill["components"]}
    assert set(parts) == {"CPython", "click", "numpy"}
    assert parts["click"]["version"] == importlib.metadata.version("click")
    assert all(
        {"type", "name", "bom-ref", "purl", "licenses"} <= set(p)
        for p in parts.values()
    )
    (ours,) = bill["dependencies"]
    assert set(ours["dependsOn"]) == {part["bom-ref"] for part in parts.values()}
    table = (tmp_path / "notices" / "LICENCES.md").read_text("utf-8")
    assert "| click | " in table
    assert list((tmp_path / "notices" / "licences" / "click").iterdir())
    assert (tmp_path / "notices" / "LICENSE").exists()


def test_that_the_build_ends_where_a_package_is_under_the_gpl(
    notices: ModuleType,
) -> None:
    component = notices.Component("readline", "8", "GPL-3.0-or-later", "pkg:deb/r@8")
    with pytest.raises(SystemExit, match=r"readline 8 is under GPL-3\.0-or-later"):
        notices.check([component])
