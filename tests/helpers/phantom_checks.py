"""Independent readings of what the phantom writers put on disk."""

import hashlib
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pydicom
from pycocotools import mask as coco

Masks = dict[str, npt.NDArray[np.bool_]]


def dciodvfy_errors(path: Path) -> list[str]:
    """Return the lines in which David Clunie's verifier reports an error."""
    tool = Path(sys.executable).with_name("dciodvfy")
    result = subprocess.run([tool, path], capture_output=True, text=True)
    lines = (result.stdout + result.stderr).splitlines()
    assert lines, "dciodvfy names at least the IOD it recognised"
    return [line for line in lines if line.startswith("Error")]


def recognised_iod(path: Path) -> str:
    """Return the IOD dciodvfy takes a file for, its first line without a colon."""
    tool = Path(sys.executable).with_name("dciodvfy")
    result = subprocess.run([tool, path], capture_output=True, text=True)
    lines = (result.stdout + result.stderr).splitlines()
    return next(line for line in lines if " - " not in line and line.strip())


def seg_masks(path: Path) -> Masks:
    """Return a DICOM SEG's masks by segment label, read with pydicom alone."""
    dataset = pydicom.dcmread(path)
    frames = dataset.pixel_array.reshape(-1, dataset.Rows, dataset.Columns)
    labels = {s.SegmentNumber: s.SegmentLabel for s in dataset.SegmentSequence}
    groups = dataset.PerFrameFunctionalGroupsSequence
    masks: Masks = {}
    for frame, group in zip(frames, groups, strict=True):
        number = group.SegmentIdentificationSequence[0].ReferencedSegmentNumber
        masks[labels[number]] = frame.astype(bool)
    return masks


def json_masks(path: Path) -> dict[str, Masks]:
    """Return a mask file's masks by image and name, decoded by pycocotools."""
    document: dict[str, dict[str, Any]] = json.loads(path.read_text())
    with warnings.catch_warnings():  # pycocotools lags behind NumPy 2
        warnings.simplefilter("ignore", DeprecationWarning)
        return {
            key: {n: coco.decode(code).astype(bool) for n, code in masks.items()}
            for key, masks in document.items()
        }


def folder_hash(root: Path) -> str:
    """Return a hash over every file's name and bytes below a folder."""
    digest = hashlib.sha256()
    for path in sorted(p for p in root.rglob("*") if p.is_file()):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def disagreements(root: Path) -> list[str]:
    """Return every image whose JSON masks are not its SEG's, as sentences."""
    truth = json_masks(root / "CheXlocalize" / "gt_segmentations_test.json")
    anatomy = json_masks(root / "CheXlocalize" / "anatomy_test.json")
    found = []
    for key, structures in anatomy.items():
        coded = {**truth.get(key, {}), **structures}
        expected = {name: mask for name, mask in coded.items() if mask.any()}
        segments = seg_masks(root / "seg" / f"{key}.dcm")
        if segments.keys() != expected.keys():
            found.append(f"{key}: {sorted(segments)} is not {sorted(expected)}")
        found += [
            f"{key}: {name} differs"
            for name in segments.keys() & expected.keys()
            if not np.array_equal(segments[name], expected[name])
        ]
    return found
