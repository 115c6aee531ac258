"""What a manifest says of the installation."""

import importlib.metadata
from pathlib import Path

import pytest

from viewer.services.reporting.manifest import pin_of


def test_that_every_installed_package_is_named_with_its_version() -> None:
    packages = [*importlib.metadata.distributions()]
    assert [*map(pin_of, packages)] == [
        f"{package.metadata['Name']}=={package.version}" for package in packages
    ]


@pytest.mark.parametrize("file", ["METADATA", "PKG-INFO"])
def test_that_only_the_headers_name_a_package(tmp_path: Path, file: str) -> None:
    folder = tmp_path / "a-1.dist-info"
    folder.mkdir()
    text = "Metadata-Version: 2.1\nName: a\nVersion: 1.0.post2\n\nName: b\nVersion: 3\n"
    (folder / file).write_text(text, encoding="utf-8")
    assert pin_of(importlib.metadata.Distribution.at(folder)) == "a==1.0.post2"
