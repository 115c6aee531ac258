"""A small finished run with odd replies to bundle, and a trial as a bundle keeps it."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tests.helpers.tiny_study import D4, UNIFORM, a_spec, plan_and_finish
from viewer.domain.answer import AnyAnswer, Unparsed
from viewer.domain.answer_json import answer_as_json
from viewer.domain.case import Dataset
from viewer.domain.exchange import ModelProfile
from viewer.readers.datasets.catalog import read_dataset
from viewer.readers.datasets.files import content_sha256
from viewer.store import cases
from viewer.store.database import Store
from viewer.writers.verify.recompute import judged_again
from viewer.writers.verify.trial_check import JudgedFrom

FINDINGS = ("Edema", "Pneumothorax")
CANARIES = ("Zebrafink", "Grauammer")
"""Names of patients, which stand in the files' names and folder."""
_SAID = (
    *("D4", "B3.", '{"cell": "C4"}', "The answer is E5.", "Z9", "", "4D"),
    *("I cannot help with that.", "row D, column 4", "D4 or E5", "c-04", "**F6**"),
)


def bundled_run(store: Store, folder: Path, n: int = 5, **params: object) -> int:
    """Write images of ``n`` patients, ask everything of a run, return its number."""
    items = _write_images(folder / CANARIES[0], n)
    dataset = _labelled(read_dataset("folder", folder / CANARIES[0], "tiny"))
    cases.add_dataset(store, dataset)
    said = {item: _SAID[i % len(_SAID)] for i, item in enumerate(items)}
    denied = {
        f"{image.key}|{finding}": f"There is no {finding.lower()}."
        for image in dataset.images[::2]
        for finding, there in image.labels.items()
        if not there
    }
    answers = folder / "answers.json"
    answers.write_text(json.dumps(said | denied))
    odd = ModelProfile("odd", "scripted", {"answers_file": str(answers)})
    settings = {"grids": [8], "paper_replicates": 60, "replicates": 90, **params}
    settings.setdefault("findings", list(FINDINGS))
    return plan_and_finish(
        store, a_spec([D4, UNIFORM, odd], repeats=2, params=settings)
    )


def _labelled(dataset: Dataset) -> Dataset:
    """Return two images of each patient, labelled with what is there and what not."""
    images = [
        replace(
            image,
            patient=image.key.rpartition("_")[0],
            labels={finding: finding in image.masks for finding in FINDINGS},
        )
        for image in dataset.images
    ]
    return replace(dataset, images=tuple(images), root_sha256=content_sha256(images))


def _write_images(folder: Path, n: int) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(11)
    items = []
    for i in range(2 * n):
        view = ("frontal", "lateral")[i % 2]
        rows, columns = (int(v) for v in rng.integers(80, 150, 2))
        key = f"{CANARIES[1]}{i // 2:03d}_{view}"
        pixels = rng.integers(0, 255, (rows, columns)).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{key}.png")
        for finding in FINDINGS[: 1 + i % 3]:
            mask = np.zeros((rows, columns), np.uint8)
            y, x = (int(v) for v in rng.integers(10, 50, 2))
            mask[y : y + 25, x : x + int(rng.integers(3, 40))] = 255
            Image.fromarray(mask).save(folder / f"{key}.{finding}.png")
            items.append(f"{key}|{finding}")
    return items


def record(
    text: str,
    parsed: AnyAnswer | Unparsed,
    gold: Mapping[str, Any],
    judge: str = "",
    **more: object,
) -> dict[str, Any]:
    """Return a trial of one step, or of two with a judge, as a bundle keeps it."""
    read = {"status": "", "reason": ""}
    if isinstance(parsed, Unparsed):
        read = {"status": str(parsed.status), "reason": parsed.reason}
    said = [("answer", "", text), *([("judge", "judge", judge)] if judge else [])]
    bodies = [json.dumps({"text": t, "note": ""}, sort_keys=True) for _, _, t in said]
    steps = [
        {
            "step": step,
            "role": role,
            "again": 0,
            "model": "m",
            "reply": i,
            "request_sha256": "",
            "reply_sha256": hashlib.sha256(bodies[i].encode()).hexdigest(),
        }
        for i, (step, role, _) in enumerate(said)
    ]
    trial = {
        **dict.fromkeys(("item", "patient", "image", "finding", "view"), "x"),
        "condition": "plain",
        "repeat": 0,
        "model": "m",
        "request_sha256": "",
        "prompt_sha256": "",
        "answer": "",
        "strata": {},
        "listed": {},
        "numbers": [],
        "steps": steps,
        "gold": dict(gold),
        **read,
        "parsed": answer_as_json(parsed),
        **more,
    }
    return {"bodies": bodies, "trial": trial}


def alarms(kept: Mapping[str, Any], findings: Sequence[str] = ()) -> list[str]:
    """Return what the verifier says is wrong with a trial."""
    replies = [
        {"kind": "plain", "length_cap": None, "text": body} for body in kept["bodies"]
    ]
    source = JudgedFrom({"findings": list(findings)}, replies)
    judged_again(source, kept["trial"])
    return source.wrong
