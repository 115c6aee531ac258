"""Distributions of other people as pip would leave them, and questions for them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image

BRINGS: Final = Path(__file__).parent / "outside"
Lines = Mapping[str, Mapping[str, str]]
SIDED: Final[Lines] = {"viewer.studies": {"laterality": "laterality:STUDY"}}


def install(site: Path, package: str, module: str, lines: Lines) -> None:
    """Install a distribution of one module into a folder that is on the path."""
    about = site / f"{package}-2.1.dist-info"
    about.mkdir(parents=True)
    (site / f"{package}.py").write_text(module, encoding="utf-8")
    said = f"Metadata-Version: 2.1\nName: {package}\nVersion: 2.1\n"
    (about / "METADATA").write_text(said, encoding="utf-8")
    groups = (
        "\n".join((f"[{group}]", *(f"{k} = {v}" for k, v in own.items())))
        for group, own in lines.items()
    )
    (about / "entry_points.txt").write_text("\n\n".join(groups), encoding="utf-8")


def bring(site: Path, module: str, lines: Lines) -> None:
    """Install one of the modules beside the tests."""
    install(site, module, (BRINGS / f"{module}.py").read_text(encoding="utf-8"), lines)


def write_sides(folder: Path) -> None:
    """Write four images, each with its question, as PathMMU lays them out."""
    (folder / "images").mkdir(parents=True)
    for number in range(4):
        pixels = np.full((20, 24), 90 + 30 * number, np.uint8)
        Image.fromarray(pixels).save(folder / "images" / f"{number}.png")
    rows = [
        {
            "No": number,
            "img": f"{number}.png",
            "question": "On which side?",
            "options": ["A) left", "B) right"],
            "answer": "A) left" if number < 3 else "B) right",
        }
        for number in range(4)
    ]
    table = {"sides": {"test": rows}}
    (folder / "data.json").write_text(json.dumps(table), encoding="utf-8")
