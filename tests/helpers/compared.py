"""Pairs of runs whose verdicts differ for one known reason."""

from pathlib import Path

import numpy as np
from PIL import Image

from tests.helpers.tiny_study import D4, UNIFORM, a_spec, finish, planned, write_images
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import RunSpec
from viewer.services.comparing.sides import Side
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.running.plan_run import plan_run
from viewer.store.database import Store

A_CELL = ModelProfile("says-d4", "scripted", {"answer": "D4"})


def two_models(store: Store, folder: Path, repeats: int = 10) -> tuple[Side, Side]:
    """Return two models of one run, one of which answers at random."""
    run = planned(store, folder, a_spec([D4, UNIFORM], repeats=repeats))
    finish(store, run)
    return Side(run, "says-d4"), Side(run, "uniform")


def another_run(store: Store, spec: RunSpec, *, new: bool = False) -> int:
    """Plan and finish a run on data that are registered."""
    run = plan_run(store, spec, new=new)
    finish(store, run)
    return run


def masked_at_d4(folder: Path, n: int = 4) -> Path:
    """Write images whose masks cover most of cell D4 of 8 × 8, and all of F6."""
    write_images(folder, n)
    for path in sorted(folder.glob("*.Edema.png")):
        mask = np.zeros((120, 100), np.uint8)
        mask[47:58, 37:50] = 255
        mask[72:86, 62:76] = 255
        Image.fromarray(mask).save(path)
    return folder


def masked_elsewhere(folder: Path, source: Path) -> Path:
    """Write the same images again with masks far from D4."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.glob("*.png")):
        if path.name.endswith(".Edema.png"):
            mask = np.zeros((120, 100), np.uint8)
            mask[90:105, 60:90] = 255
            Image.fromarray(mask).save(folder / path.name)
        else:
            (folder / path.name).write_bytes(path.read_bytes())
    return folder


def hitting_run(store: Store, folder: Path) -> int:
    """Finish a run in which every answer, D4, is a hit."""
    import_dataset(store, "folder", masked_at_d4(folder), "tiny")
    return another_run(store, a_spec([A_CELL]))
