"""Pin every package with its hashes, once for all supported Pythons and systems.

    packaging/lock.py          write packaging/lock/*.txt anew from pyproject.toml
    packaging/lock.py --keep   the same, but every package keeps its version
    packaging/lock.py --check  say for which Python and system a wheel is missing

One resolution covers Python 3.11 to 3.14 on Linux, macOS and Windows by environment
markers. Each file holds what one step of packaging/bootstrap adds; no index is named,
so that any mirror serves. torch and the CUDA libraries that only its default build
needs are left out: the bootstrap chooses the build.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "packaging" / "lock"
READER = ("ocr", "pathology", "pacs", "datasets")
PARTS = {
    "reader": READER,
    "gguf": ("gguf",),
    "local": ("local",),
    "cluster": ("cluster",),
    "dev": ("dev",),
    "dev-local": ("dev-local",),
    "docs": ("docs",),
}
"""The extras whose packages each file adds to those of ``reader``."""
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = (
    "x86_64-manylinux_2_34", "aarch64-manylinux_2_39", "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
)  # fmt: skip
OLDEST_MACOS = "14.0"
_OF_TORCH = re.compile(r"(torch|triton|nvidia-[\w-]+|cuda-[\w-]+)==")
_BLOCK = re.compile(r"^\S.*(?:\n +.*)*", re.MULTILINE)
_HEADER = "# Made by `make lock` from pyproject.toml. Do not edit.\n"


def main() -> int:
    """Write the files, or check them; return the exit status."""
    if sys.argv[1:] == ["--check"]:
        return check()
    LOCK.mkdir(exist_ok=True)
    kept = pinned() if sys.argv[1:] == ["--keep"] else []
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), kept)
    return 0


def pinned() -> list[str]:
    """Return each requirement that the lock pins now, without its hashes."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(LOCK.glob("*.txt")))
    blocks = (block for text in texts for block in _BLOCK.findall(text))
    return [b.partition(" \\\n")[0] for b in blocks if not b.startswith("#")]


def write_files(folder: Path, kept: list[str]) -> None:
    """Resolve in a folder of its own, where uv may leave its file with an index."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = project.replace(
        "[tool.uv]\n", f"[tool.uv]\nconstraint-dependencies = {json.dumps(kept)}\n"
    )
    build = tomllib.loads(project)["build-system"]["requires"]
    groups = f"\n[dependency-groups]\nbuild = {build}\n"
    (folder / "pyproject.toml").write_text(project + groups, encoding="utf-8")
    uv("lock", "--no-sources", folder=folder)
    write("build", exported(folder, "--only-group", "build"))
    reader = exported(folder, *extras(*READER))
    for part, names in PARTS.items():
        blocks = exported(folder, *extras(*names))
        write(part, blocks if part == "reader" else blocks - reader)


def extras(*names: str) -> list[str]:
    """Return uv's arguments for some extras."""
    return [word for name in names for word in ("--extra", name)]


def exported(folder: Path, *arguments: str) -> set[str]:
    """Return the pinned requirements, each a block with its hashes."""
    text = uv(
        "export", "--frozen", "--no-emit-project", "--no-header", "--no-annotate",
        "--no-default-groups", *arguments, folder=folder,
    )  # fmt: skip
    return {block for block in _BLOCK.findall(text) if not _OF_TORCH.match(block)}


def write(part: str, blocks: set[str]) -> None:
    """Write one file of the lock, in order of name."""
    text = _HEADER + "".join(f"{block}\n" for block in sorted(blocks))
    (LOCK / f"{part}.txt").write_text(text, encoding="utf-8")


def check() -> int:
    """Ask uv, for each Python and platform, whether every package has a wheel."""
    complaints = {
        f"Python {python}, {platform}": missing_wheels(python, platform)
        for python in PYTHONS
        for platform in PLATFORMS
    }
    for where, complaint in complaints.items():
        sys.stdout.write(f"{where}: {complaint or 'every wheel is there'}\n")
    return int(any(complaints.values()))


def missing_wheels(python: str, platform: str) -> str:
    """Return what uv says where a wheel is missing, else nothing."""
    files = [f"--requirements={path}" for path in sorted(LOCK.glob("*.txt"))]
    with tempfile.TemporaryDirectory() as folder:
        found = subprocess.run(
            [
                uv_program(), "pip", "install", "--dry-run", "--no-deps",
                "--require-hashes", "--only-binary=:all:", f"--target={folder}",
                f"--python-version={python}", f"--python-platform={platform}", *files,
            ],
            check=False, capture_output=True, text=True,
            env={**os.environ, "MACOSX_DEPLOYMENT_TARGET": OLDEST_MACOS},
        )  # fmt: skip
    return found.stderr.strip() if found.returncode else ""


def uv(*arguments: str, folder: Path) -> str:
    """Run uv in a folder and return what it prints."""
    done = subprocess.run(
        [uv_program(), *arguments], cwd=folder, check=True, stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    return done.stdout


def uv_program() -> str:
    """Return the path of uv, which is one of the developer's tools."""
    from uv import find_uv_bin

    return str(find_uv_bin())


if __name__ == "__main__":
    sys.exit(main())
