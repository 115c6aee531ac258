"""Where the files of a local model are, and what they tell without loading."""

import functools
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from viewer.domain.documents import read_json
from viewer.domain.errors import WrongUseError
from viewer.models.file_hash import about_the_model, file_sha256
from viewer.models.profiles import HUB_NAME

PATTERNS: Final = ("*.json", "*.jinja", "*.safetensors", "*.model", "*.txt")
"""What a model consists of; pickled weights and code are never fetched nor read."""
ELSEWHERE: Final = ("*/*", "consolidated*")
"""Other forms of the same weights, and what stands in folders of its own."""
_INDEX: Final = "model.safetensors.index.json"
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class ModelFiles:
    """A model's folder, checked to contain what loading needs.

    ``name`` is its name on the hub, else the folder's; ``config`` its config.json;
    ``weights`` its safetensors files.
    """

    name: str
    folder: Path
    config: dict[str, Any]
    weights: tuple[Path, ...]

    @property
    def model_type(self) -> str:
        """The architecture's name, such as ``gemma3``."""
        return str(self.config.get("model_type", ""))

    @functools.cached_property
    def revision(self) -> str:
        """The hub's commit, else a hash of the files."""
        if self.folder.parent.name == "snapshots" and _COMMIT.fullmatch(
            self.folder.name
        ):
            return self.folder.name
        return _hash_of(self.folder)

    @functools.cached_property
    def template_sha256(self) -> str:
        """SHA-256 of the chat template, "none" without one."""
        template = chat_template(self.folder)
        if template is None:
            return "none"
        return hashlib.sha256(template.encode()).hexdigest()


def folder_of(model: str) -> Path | None:
    """Return the folder that a model setting names, None for a name on the hub.

    A name on the hub is never taken for a folder relative to the working directory.
    Anything that is neither raises ``WrongUseError``.
    """
    folder = Path(model).expanduser()
    if folder.is_absolute() and folder.is_dir():
        return folder.resolve()
    if HUB_NAME.fullmatch(model):
        return None
    raise WrongUseError(
        f"There is no model folder '{folder.name}'.",
        "Give a folder that holds config.json and *.safetensors, or a name on the "
        "hub such as google/medgemma-4b-it.",
    )


def model_files(name: str, folder: Path) -> ModelFiles:
    """Return the files of a folder; ``WrongUseError`` if one is missing."""
    config = _json(folder / "config.json")
    if config is None:
        raise WrongUseError(
            f"The folder '{folder.name}' has no readable config.json, so it is not a "
            "transformers model.",
            "Choose the folder that the whole model was downloaded to.",
        )
    return ModelFiles(name, folder, config, _weights(name, folder))


def chat_template(folder: Path) -> str | None:
    """Return the chat template of a folder, from any place where transformers looks."""
    jinja = folder / "chat_template.jinja"
    if jinja.is_file():
        return jinja.read_text(encoding="utf-8")
    named = ("chat_template.json", "processor_config.json", "tokenizer_config.json")
    for file in named:
        template = (_json(folder / file) or {}).get("chat_template")
        if isinstance(template, str):
            return template
    return None


def _weights(name: str, folder: Path) -> tuple[Path, ...]:
    index = _json(folder / _INDEX)
    if index is None:
        whole = folder / "model.safetensors"
        return (whole,) if whole.is_file() else _no_weights(name, folder)
    shards = sorted({str(shard) for shard in index.get("weight_map", {}).values()})
    missing = [shard for shard in shards if not (folder / shard).is_file()]
    if missing or not shards:
        raise WrongUseError(
            f"The model '{name}' lacks {len(missing)} of its {len(shards)} weight "
            f"files{(': ' + missing[0] if missing else '')}.",
            "Download it again.",
        )
    return tuple(folder / shard for shard in shards)


def _no_weights(name: str, folder: Path) -> tuple[Path, ...]:
    pickled = [
        p.name for p in sorted(folder.glob("*.bin")) + sorted(folder.glob("*.pt*"))
    ]
    if pickled:
        raise WrongUseError(
            f"The model '{name}' has weights only as {pickled[0]}, a file type that "
            "can run code when opened.",
            "Choose its safetensors version.",
        )
    raise WrongUseError(
        f"The folder '{folder.name}' has no model.safetensors, so the model has no "
        "weights.",
        "Choose the folder that the whole model was downloaded to.",
    )


def _json(path: Path) -> dict[str, Any] | None:
    try:
        found = read_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _files(folder: Path) -> list[Path]:
    found = {path for pattern in PATTERNS for path in folder.glob(pattern)}
    return sorted(path for path in found if path.is_file())


def _hash_of(folder: Path) -> str:
    """Return a hash over the names and contents of a model's files."""
    whole = hashlib.sha256()
    with about_the_model():
        for path in _files(folder):
            whole.update(f"{path.name}\0{file_sha256(path)}\n".encode())
    return f"sha256:{whole.hexdigest()}"
