"""The reproducibility manifest: what it takes to repeat a run."""

import hashlib
import importlib.metadata
import os
import platform
import re
import string
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import viewer
from viewer.domain.case import Dataset
from viewer.domain.model_check import ModelCheck
from viewer.domain.plain import plain
from viewer.domain.report import ReportData
from viewer.domain.run import RunSpec, RunSummary
from viewer.imaging.bitmap_font import text_mask
from viewer.models.prices import price_of
from viewer.services.privacy.decisions import method_codes
from viewer.services.trials.request_key import request_key
from viewer.services.trials.run_context import RunContext
from viewer.studies.prompts import HasPrompts

SCHEMA: Final = 1
_HEADERS: Final = re.compile(r"^(Name|Version): *(.*?) *$", re.MULTILINE)


def manifest_of(
    summary: RunSummary,
    context: RunContext,
    data: ReportData,
    ledger: Mapping[str, int],
    deidentified: Sequence[Sequence[str]],
    files: Mapping[str, bytes],
    checks: Sequence[ModelCheck] = (),
) -> dict[str, object]:
    """Return the manifest of a run's report as plain JSON values.

    ``deidentified`` has the codes of how images sent from this machine were
    de-identified; ``files`` are the report's other files by name, whose hashes it
    contains; ``checks`` the last one of each model before the run. Its own hash, over
    everything else in canonical JSON, comes last. It contains no path, no key and
    nothing from a file's header.
    """
    study = context.study
    manifest: dict[str, object] = {
        "schema": SCHEMA,
        "overread": viewer.__version__,
        "source": dict(_source()),
        "machine": _machine(),
        "packages_sha256": _packages_sha256(),
        "run": {
            "id": summary.id,
            "created_at": summary.created_at,
            "plan_sha256": summary.plan_sha256,
            "settings": plain(context.spec),
            "notes": [[n.model, n.kind, n.text] for n in summary.notes],
        },
        "study": {
            "name": study.name,
            "version": study.version,
            "parser_version": study.parser_version,
            "scorer_version": study.scorer_version,
            **_prompts(context),
            **_own_prompts(context),
            **({"grid_font_sha256": _font_sha256()} if study.words.places else {}),
            "metrics": dict(data.metric_definitions),
        },
        "dataset": _dataset(context.dataset, context.spec),
        "status": dict(summary.counts),
        "ledger": dict(ledger),
        "deidentification": [method_codes(codes) for codes in deidentified],
        "prices": _prices(context),
        "model_checks": {found.model: plain(found) for found in checks},
        "incomplete": data.incomplete,
        "files": {name: _sha256(content) for name, content in sorted(files.items())},
    }
    manifest["manifest_sha256"] = request_key(manifest)
    return manifest


def _prompts(context: RunContext) -> Mapping[str, object]:
    """Return the prompt used, or each of several."""
    named = dict.fromkeys(context.prompts())
    prompts = [{"name": n, "sha256": _sha256(text.encode())} for n, text in named]
    return {"prompt": prompts[0]} if len(prompts) == 1 else {"prompts": prompts}


def _own_prompts(context: RunContext) -> Mapping[str, object]:
    """Return the custom prompts that replaced the study's."""
    if not isinstance(context.study, HasPrompts):
        return {}
    own = context.params.prompts.items()
    prompts = [{"name": n, "text": t, "sha256": _sha256(t.encode())} for n, t in own]
    return {"own_prompts": prompts} if prompts else {}


def _prices(context: RunContext) -> dict[str, object]:
    """Return micro-dollars per million tokens of each model that has a price.

    ``date`` is that of the price table, "" for a price that the profile names.
    """
    asked = (*context.spec.models, *context.spec.helpers)
    prices = {profile.name: price_of(profile) for profile in asked}
    return {name: plain(price) for name, price in prices.items() if price}


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _dataset(dataset: Dataset, spec: RunSpec) -> dict[str, object]:
    return {
        "name": spec.dataset,
        "format": dataset.format,
        "root_sha256": dataset.root_sha256,
        "images": {image.key: image.sha256 for image in dataset.images},
        **_items(dataset),
        "notices": [[n.kind, n.subject, n.text] for n in dataset.notices],
    }


def _items(dataset: Dataset) -> dict[str, object]:
    """Return the number of items and a hash over them, if there are any."""
    if not dataset.items:
        return {}
    lines = sorted(item.content for item in dataset.items)
    return {
        "items": len(lines),
        "items_sha256": _sha256("\n".join(lines).encode()),
    }


@cache
def _source() -> Mapping[str, object]:
    """Return the commit of a checkout; "" for an installed copy."""
    folder = Path(__file__).parents[2]
    if not (folder / ".git").exists():
        return {"commit": None, "modified": None}
    return {
        "commit": _git(folder, "rev-parse", "HEAD"),
        "modified": bool(_git(folder, "status", "--porcelain")),
    }


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - fixed words
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - as on the path
            capture_output=True,
            check=True,
            text=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _machine() -> dict[str, object]:
    return {
        "system": platform.platform(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "python": sys.version.split()[0],
    }


@cache
def _packages_sha256() -> str:
    pins = sorted(map(pin_of, importlib.metadata.distributions()))
    return _sha256("\n".join(pins).encode())


def pin_of(package: importlib.metadata.Distribution) -> str:
    """Return a package's name and version, without parsing all that it says of itself.

    Its metadata are a mail with headers, which takes longer than a run's tables.
    """
    written = package.read_text("METADATA") or package.read_text("PKG-INFO") or ""
    said = dict(_HEADERS.findall(written.partition("\n\n")[0]))
    return f"{said.get('Name')}=={said.get('Version')}"


@cache
def _font_sha256() -> str:
    return _sha256(text_mask(string.ascii_uppercase + string.digits, 1).tobytes())
