"""A store with a run whose every answer misses, over images that can be opened."""

import threading
from pathlib import Path

import numpy as np
from PIL import Image

from viewer.domain.exchange import ModelProfile
from viewer.services.configuring.study_file import make_spec
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.running.coordinator import BatchOptions
from viewer.services.running.plan_run import plan_run
from viewer.services.running.run_batch import run_batch
from viewer.store.database import open_store

MODELS = ("secret-model-a", "secret-model-b")
DATASET = "misses"
FINDING = "Edema"
CORNERS = ("H1", "H8")
"""What the models answer; no reference reaches so far."""


def missed_run(store: Path, folder: Path, n: int) -> int:
    """Write ``n`` images of 120 × 100, ask two models of each; return the run's id.

    The reference is a square in the upper half; both answers lie at the foot.
    """
    write_images(folder, n)
    models = [
        ModelProfile(name, "scripted", {"answer": answer})
        for name, answer in zip(MODELS, CORNERS, strict=True)
    ]
    with open_store(store) as opened:
        import_dataset(opened, "folder", folder, DATASET)
        spec = make_spec(
            study="grid_localization",
            dataset=DATASET,
            preset="gosai2025",
            seed=0,
            repeats=1,
            models=models,
            overrides={"grids": [8]},
        )
        run = plan_run(opened, spec)
        list(run_batch(opened, run, BatchOptions(), threading.Event()))
    return run


def write_images(folder: Path, n: int) -> None:
    """Write images with one mask of the finding each, in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(5)
    for i in range(n):
        pixels = (rng.random((120, 100)) * 80 + 60).astype(np.uint8)
        row, column = (int(v) for v in rng.integers(20, 40, 2))
        mask = np.zeros((120, 100), np.uint8)
        mask[row : row + 24, column : column + 24] = 255
        name = f"patient{i:05d}_frontal"
        Image.fromarray(pixels).save(folder / f"{name}.png")
        Image.fromarray(mask).save(folder / f"{name}.{FINDING}.png")
