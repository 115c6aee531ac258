"""Stores with a run to be reviewed: one without image files, one that only misses."""

import atexit
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

from tests.helpers.tiny_study import a_spec, plan_and_finish
from viewer.domain.answer import CellAnswer, Status
from viewer.domain.answer_json import answer_as_json
from viewer.domain.case import Dataset, DatasetImage, ImageRef, View
from viewer.domain.exchange import ModelProfile, RawReply, ReplyKind, Usage
from viewer.domain.geometry import SizePx
from viewer.domain.grid import Cell
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.domain.result import Outcome, Score
from viewer.domain.run import RunSpec
from viewer.services.importing.import_dataset import import_dataset
from viewer.store import cases, runs, trials
from viewer.store.database import Store, open_store
from viewer.store.reply_rows import ReplyRecord
from viewer.store.runs import StoredTrial
from viewer.studies.catalog import PLACING, places_of, study_named

SIZE = SizePx(80, 80)
MODELS = ("secret-model-a", "secret-model-b")
FINDINGS = ("Edema", "Pneumothorax")


def _mask(rows: slice, columns: slice) -> Mask:
    array = np.zeros((SIZE.rows, SIZE.columns), dtype=bool)
    array[rows, columns] = True
    return Mask.of_array(array)


def images(
    n: int, *, laterals: int = 1, findings: Sequence[str] = FINDINGS
) -> tuple[DatasetImage, ...]:
    """Return ``n`` frontal images and some lateral ones, every finding on each.

    The reference is cell A1 of 8 × 8; the lungs are the upper half, left and right of
    mediastinum and spine.
    """
    return tuple(
        DatasetImage(
            key=f"patient{i}_{view}",
            patient=f"patient{i}",
            study=f"patient{i}_study",
            view=view,
            ref=ImageRef(Path(f"patient{i}_{view}.png")),
            geometry=ImageGeometry(SIZE),
            sha256=f"{i:064x}",
            labels=dict.fromkeys(findings, True),
            masks={name: _mask(slice(0, 10), slice(0, 10)) for name in findings},
            anatomy={
                "right lung": _mask(slice(0, 40), slice(0, 38)),
                "left lung": _mask(slice(0, 40), slice(42, 80)),
                "heart": _mask(slice(40, 60), slice(30, 60)),
                "mediastinum": _mask(slice(0, 60), slice(37, 43)),
                "spine": _mask(slice(0, 80), slice(38, 42)),
            },
        )
        for i, view in [
            *((i, View.FRONTAL) for i in range(n)),
            *((i, View.LATERAL) for i in range(laterals)),
        ]
    )


def dataset(n: int, **kinds: object) -> Dataset:
    """Return a data set of :func:`images`."""
    made = images(n, **kinds)  # type: ignore[arg-type]
    return Dataset("reviewed", "folder", Path("nowhere"), made, (), "d" * 64)


def spec(models: Sequence[str] = MODELS, **overrides: object) -> RunSpec:
    """Return the settings of a run of scripted models at 8 × 8, both views."""
    return a_spec(
        [ModelProfile(m, "scripted", {"answer": "D4"}) for m in models],
        dataset="reviewed",
        params={"grids": ["8"], "views": ["frontal", "lateral"], **overrides},
    )


def reviewed_run(
    path: Path,
    n: int,
    *,
    cells: Mapping[str, Cell] | None = None,
    settled: int | None = None,
    absent: str = "",
    **kinds: object,
) -> int:
    """Keep a run in which each model names one cell everywhere; return its id.

    Only the first ``settled`` trials are answered, where that is said. ``absent`` is a
    finding that is labelled absent everywhere, and asked about all the same.
    """
    with open_store(path) as store:
        held = dataset(n, **kinds)
        asked = spec()
        if absent:
            held = _without(held, absent)
            asked = spec(absent_findings=True)
        plan = study_named(PLACING).plan(held, asked)
        run = runs.create_run(
            store,
            asked,
            cases.add_dataset(store, held),
            plan,
            study_version="1",
            scorer_version="1",
            plan_sha256="a" * 64,
        )
        pending = runs.trials_in(store, run, [Status.PENDING])[:settled]
        _answer_all(store, pending, asked, held, cells or {})
    return run


def _without(held: Dataset, finding: str) -> Dataset:
    """Return a data set whose images are labelled not to have a finding."""
    every = (replace(o, labels={**o.labels, finding: False}) for o in held.images)
    return replace(held, images=tuple(every))


def _answer_all(
    store: Store,
    pending: Sequence[StoredTrial],
    asked: RunSpec,
    held: Dataset,
    cells: Mapping[str, Cell],
) -> None:
    places = places_of(asked.study, asked.preset, asked.params)
    by_key = {image.key: image for image in held.images}
    with store.transaction():
        for one in pending:
            trial = one.trial
            answer = CellAnswer(cells.get(trial.model, Cell(3, 3)), "exact")
            image = by_key[trial.image]
            mask = image.masks.get(trial.finding)
            reference = (
                None
                if mask is None
                else places.reference(mask, image.geometry, trial.condition)
            )
            score = places.score(answer, reference, trial.condition)
            _settle(store, one.id, answer, score)


def _settle(store: Store, trial: int, answer: CellAnswer, score: Score) -> None:
    sha256 = f"{trial:064x}"
    request = trials.RequestRecord(sha256, {"messages": []}, "p", {}, {})
    trials.keep_requests(store, [request])
    attempt = trials.begin_attempt(store, trial, sha256)
    raw = RawReply(ReplyKind.PLAIN, b'{"text": "D4", "note": ""}')
    record = ReplyRecord(raw, Usage(), None, "", reusable=True)
    reply = trials.keep_reply(store, attempt, sha256, record)
    kept = trials.TrialReply(raw, id=reply, request_sha256=sha256)
    verdict = trials.Verdict(score, "1", answer_as_json(answer), "1", (kept,))
    trials.settle(store, [(trial, verdict)])
    assert score.outcome in {None, *Outcome}


DATASET = "misses"
FINDING = "Edema"
CORNERS = ("H1", "H8")
"""What the models answer; no reference reaches so far."""


def missed_run(store: Path, n: int) -> int:
    """Keep a run of two models on ``n`` images of 120 × 100; return its id.

    The reference is a square in the upper half; both answers lie at the foot. It is
    made once in a process, with its images, and copied.
    """
    made, run = _missed_run(n)
    shutil.copy(made, store)
    return run


@cache
def _missed_run(n: int) -> tuple[Path, int]:
    home = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    folder, store = home / "images", home / "s.sqlite"
    write_images(folder, n)
    models = [
        ModelProfile(name, "scripted", {"answer": answer})
        for name, answer in zip(MODELS, CORNERS, strict=True)
    ]
    with open_store(store) as opened:
        import_dataset(opened, "folder", folder, DATASET)
        return store, plan_and_finish(opened, a_spec(models, dataset=DATASET))


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
