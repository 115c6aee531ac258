"""The contents of the store and this installation, as rows for lists and JSON."""

import importlib.metadata
import importlib.util
import platform
import sys
from collections import Counter
from pathlib import Path
from typing import Final

import viewer
from viewer.domain.answer import Status
from viewer.domain.errors import OverreadError, where_to_get
from viewer.domain.han import HAN_ADVICE
from viewer.domain.plain import plain
from viewer.domain.run import RunSummary
from viewer.domain.study_words import PLACING
from viewer.services.configuring.model_list import ModelLine, model_lines
from viewer.services.inspecting.blocks import count_blocks, log_file
from viewer.services.reporting.grading import score_changed_grades
from viewer.settings import Settings, policy_file, read_policy
from viewer.store import cases, runs
from viewer.store.database import Store, open_store, sqlite_version
from viewer.studies.catalog import study_named, titles
from viewer.writers.han_font import han_font

Row = dict[str, object]


def run_rows(store: Store, *, include_adhoc: bool) -> list[Row]:
    """Return every run, oldest first.

    ``counts`` has the number of trials by status, ``endings`` by how they ended in the
    words of the run's study; ``batch`` says what is in batches of providers.
    """
    score_changed_grades(store)
    return [
        {
            **plain(summary),
            "notes": [str(note) for note in summary.notes],
            "endings": _endings(store, summary),
            "batch": summary.out.words if summary.out else "",
        }
        for summary in runs.run_summaries(store, include_adhoc=include_adhoc)
    ]


def _endings(store: Store, summary: RunSummary) -> dict[str, int]:
    """Return a run's trials by ending; of a study that is missing, by status."""
    known = summary.study in titles()
    words = study_named(summary.study).words if known else PLACING
    endings: Counter[str] = Counter()
    for name, n in summary.counts.items():
        status = Status(name)
        reasons = {"": n}
        if status is Status.EXCLUDED:
            reasons = runs.reason_counts(store, summary.id, status)
        for reason, count in reasons.items():
            endings[words.ending(status, reason)] += count
    return dict(endings)


def dataset_rows(store: Store) -> list[Row]:
    """Return every registered data set, oldest first."""
    return [plain(summary) for summary in cases.dataset_summaries(store)]


def image_rows(store: Store, name: str) -> tuple[list[Row], list[Row]]:
    """Return a data set's images and its notices."""
    dataset = cases.dataset_named(store, name)
    images: list[Row] = [
        {
            "image": image.key,
            "patient": image.patient,
            "view": image.view.value,
            "rows": image.size.rows,
            "columns": image.size.columns,
            "findings": sorted({*image.masks, *image.boxes}),
            "labels": sorted(n for n, positive in image.labels.items() if positive),
            "defects": plain(image.defects),
        }
        for image in dataset.images
    ]
    notices: list[Row] = plain(dataset.notices)
    return images, notices


def item_rows(store: Store, name: str) -> list[Row]:
    """Return a data set's items: patient, kind, and images."""
    return [
        {
            "item": item.key,
            "patient": item.patient,
            "kind": item.kind,
            "images": list(item.images),
            "facts": dict(item.facts),
            "reference": dict(item.reference),
        }
        for item in cases.dataset_named(store, name).items
    ]


def model_rows(settings: Settings) -> list[Row]:
    """Return every known model with its state: what it still needs, if anything."""
    return [_model_row(line) for line in model_lines(settings)]


def _model_row(line: ModelLine) -> Row:
    return {
        "name": line.name,
        "adapter": line.adapter,
        "summary": line.summary,
        "state": line.state,
        "readiness": line.readiness.value,
        "host": line.host,
    }


_PACKAGES: Final = (
    ("pydicom", "pydicom", ""),
    ("imagecodecs", "imagecodecs", ""),
    ("pylibjpeg", "pylibjpeg", ""),
    ("numpy", "numpy", ""),
    ("scipy", "scipy", ""),
    ("pillow", "PIL", ""),
    ("nibabel", "nibabel", ""),
    ("tifffile", "tifffile", ""),
    ("highdicom", "highdicom", ""),
    ("httpx2", "httpx2", ""),
    ("sqlite-utils", "sqlite_utils", ""),
    ("PySide6-Essentials", "PySide6", ""),
    ("torch", "torch", "local"),
    ("transformers", "transformers", "local"),
    ("xllamacpp", "xllamacpp", "gguf"),
    ("openslide-python", "openslide", "pathology"),
    ("wsidicom", "wsidicom", "pathology"),
    ("pyarrow", "pyarrow", "datasets"),
    ("rapidocr", "rapidocr", "ocr"),
)
"""Packages, the module of each, and the extra that brings it."""


def doctor_rows(settings: Settings) -> list[Row]:
    """Return the installed and missing parts, and how to get the missing ones."""
    # Each of these imports all of its kind, which no list of runs or images needs.
    from viewer.models.catalog import broken_adapters
    from viewer.readers.datasets.catalog import broken_formats
    from viewer.results.estimators.catalog import broken_metrics
    from viewer.studies.catalog import broken_studies

    facts: list[tuple[str, str, str]] = [
        ("overread", viewer.__version__, ""),
        ("python", sys.version.split()[0], ""),
        ("system", platform.platform(), ""),
        ("sqlite", sqlite_version(), ""),
        ("store", *_store_state(settings.store)),
        ("models file", _models_state(settings.models_file), ""),
        ("policy", *_policy_state()),
        ("window", *_window_state(settings.home)),
    ]
    facts += [(name, *_package_state(name, *rest)) for name, *rest in _PACKAGES]
    facts.append(("font for Chinese", *_han_state()))
    facts += [
        ("plug-in", "cannot be used", one.why)
        for found in (broken_studies, broken_adapters, broken_formats, broken_metrics)
        for one in found()
    ]
    return [{"what": w, "state": s, "mend": m} for w, s, m in facts]


def _han_state() -> tuple[str, str]:
    """Return the font with Chinese characters, else what to install."""
    font = han_font()
    if font is not None:
        return font.family, ""
    return "none", HAN_ADVICE


def _store_state(path: Path) -> tuple[str, str]:
    if not path.exists():
        return "not made yet", ""
    try:
        with open_store(path) as store:
            n = len(runs.run_summaries(store, include_adhoc=True))
            return f"{n} run(s){'' if store.writable else ', read-only'}", ""
    except OverreadError as error:
        return error.what, error.how


def _policy_state() -> tuple[str, str]:
    """Return what an administrator decided, and whom to ask for a change."""
    policy = read_policy()
    rules = " ".join(policy.rules)
    return (rules, policy.how) if policy_file() else ("none", "")


def _models_state(path: Path) -> str:
    return str(path) if path.exists() else f"none yet; it would be {path}"


def _window_state(home: Path) -> tuple[str, str]:
    """Return how often the window did not answer, and where to read of it."""
    count = count_blocks(home)
    if count is None:
        return "always answered", ""
    return str(count), f"please report {log_file(home)}, which holds no patient data"


def _package_state(name: str, module: str, extra: str) -> tuple[str, str]:
    """Return a package's version; the installed program has some without their own."""
    if importlib.util.find_spec(module) is None:
        return "not installed", where_to_get(f"overread[{extra}]" if extra else name)
    try:
        return importlib.metadata.version(name), ""
    except importlib.metadata.PackageNotFoundError:
        return "installed", ""
