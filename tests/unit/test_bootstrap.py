"""What packaging/bootstrap says where something cannot be installed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGING = Path(__file__).parents[2] / "packaging"
TOOLS = (
    "bash", "cat", "cut", "dirname", "grep", "mktemp", "rm", "sha256sum", "tee",
    "uname",
)  # fmt: skip


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a tiny project with the real bootstrap, and only what that calls.

    The tests share it: an environment of the same lock, which takes seconds to make, is
    used again.
    """
    if sys.platform == "win32":
        pytest.skip("the bootstrap is written for bash")
    folder = tmp_path_factory.mktemp("clone")
    (folder / "packaging" / "lock").mkdir(parents=True)
    (folder / "tools").mkdir()
    for name in TOOLS:
        (folder / "tools" / name).symlink_to(shutil.which(name) or "")
    shutil.copy(PACKAGING / "bootstrap", folder / "packaging" / "bootstrap")
    (folder / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    for part in ("build", "reader"):
        (folder / "packaging" / "lock" / f"{part}.txt").touch()
    return folder


def bootstrap(clone: Path, requirement: str, **variables: str) -> str:
    """Return what the bootstrap says of a lock of one line."""
    lock = clone / "packaging" / "lock" / "reader.txt"
    lock.write_text(f"{requirement} --hash=sha256:{'0' * 64}\n", encoding="utf-8")
    done = subprocess.run(
        [str(clone / "packaging" / "bootstrap"), "reader"],
        env={
            "PATH": str(clone / "tools"), "HOME": str(clone),
            "OVERREAD_PYTHON": sys.executable, "PIP_CONFIG_FILE": "/dev/null",
            "PIP_RETRIES": "1", **variables,
        },
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1
    return done.stderr.splitlines()[-1]


def test_that_a_missing_network_is_called_so(clone: Path) -> None:
    said = bootstrap(clone, "click==8.5.1", PIP_INDEX_URL="http://127.0.0.1:9/simple")
    assert "Connect this machine to pypi.org" in said


def test_that_a_missing_wheel_is_not_blamed_on_the_network(
    clone: Path, tmp_path: Path
) -> None:
    index = tmp_path / "index"
    (index / "click").mkdir(parents=True)
    (index / "click" / "index.html").write_text(
        '<a href="click-8.5.1-cp27-cp27m-win32.whl">x</a>', encoding="utf-8"
    )
    said = bootstrap(clone, "click==8.5.1", PIP_INDEX_URL=index.as_uri())
    assert "there is no wheel of click==8.5.1 for Python 3" in said
    assert "OVERREAD_PYTHON" in said


def test_that_a_changed_package_is_refused(clone: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "click-8.5.1-py3-none-any.whl"
    wheel.write_bytes(b"not what was locked")
    said = bootstrap(
        clone, "click==8.5.1", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path)
    )
    assert "not the one that packaging/lock names" in said


def test_that_an_interpreter_that_is_not_there_is_named(clone: Path) -> None:
    said = bootstrap(clone, "click==8.5.1", OVERREAD_PYTHON="python9.9")
    assert said.startswith("bootstrap: python9.9 is not there or too old.")
