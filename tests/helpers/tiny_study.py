"""A folder of small radiograph-like images with masks, and runs on it."""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from viewer.domain.exchange import ModelProfile
from viewer.domain.run import Event, RunSpec
from viewer.services.configuring.study_file import make_spec
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.running.coordinator import BatchOptions
from viewer.services.running.plan_run import plan_run
from viewer.services.running.run_batch import run_batch
from viewer.store.database import Store

D4 = ModelProfile("says-d4", "scripted", {"answer": "D4"})
UNIFORM = ModelProfile("uniform", "uniform")


def write_images(folder: Path, n: int, finding: str = "Edema") -> Path:
    """Write ``n`` PNG images of 120 × 100 with one mask each; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(7)
    for i in range(n):
        pixels = (rng.random((120, 100)) * 80 + 60).astype(np.uint8)
        row, column = (int(v) for v in rng.integers(15, 60, 2))
        mask = np.zeros((120, 100), np.uint8)
        mask[row : row + 30, column : column + 30] = 255
        pixels[mask > 0] += 90
        name = f"patient{i:05d}_frontal"
        Image.fromarray(pixels).save(folder / f"{name}.png")
        Image.fromarray(mask).save(folder / f"{name}.{finding}.png")
    return folder


def server_profile(base_url: str, **settings: object) -> ModelProfile:
    """Return the profile of a scripted or real server on this machine."""
    patient = {"timeout_s": 3600.0}  # a busy machine's reply is late, not missing
    values = {"base_url": base_url, "model": "tiny-vlm", "temperature": 0.0}
    values |= patient | settings
    return ModelProfile("my-server", "openai_api", values)


def a_spec(
    models: Sequence[ModelProfile] = (D4,),
    *,
    dataset: str = "tiny",
    repeats: int = 1,
    params: Mapping[str, object] | None = None,
) -> RunSpec:
    """Return the settings of a run at 8 × 8 over the tiny data set."""
    return make_spec(
        study="grid_localization",
        dataset=dataset,
        preset="gosai2025",
        seed=0,
        repeats=repeats,
        models=models,
        overrides=params or {"grids": [8]},
    )


def planned(store: Store, folder: Path, spec: RunSpec, n: int = 4) -> int:
    """Write and import images, plan the run and return its id."""
    import_dataset(store, "folder", write_images(folder, n), spec.dataset)
    return plan_run(store, spec)


def finish(
    store: Store,
    run: int,
    options: BatchOptions | None = None,
    cancel: threading.Event | None = None,
) -> list[Event]:
    """Drain a batch and return its events."""
    return list(
        run_batch(store, run, options or BatchOptions(), cancel or threading.Event())
    )
