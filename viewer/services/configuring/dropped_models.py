"""Recognising dropped files as models: their adapter and settings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from viewer.domain.documents import read_json
from viewer.domain.errors import WrongUseError
from viewer.models.gguf_local.header import read_header

_GGUF: Final = ".gguf"
_CARD: Final = ".toml"
_CONFIG: Final = "config.json"
_PROJECTOR: Final = "clip"
_PROJECTOR_NAME: Final = "mmproj"
_SEGMENTER: Final = "sam"


@dataclass(frozen=True)
class DroppedModel:
    """A model to start with: a proposed name and its table of settings."""

    name: str
    table: Mapping[str, object] = field(default_factory=dict)


def dropped_models(paths: Sequence[Path]) -> tuple[DroppedModel, ...]:
    """Return the models in dropped files and folders.

    A folder is a transformers model, or a segmenter if its config.json says so; GGUF
    files are one model and its projector, and a single one adds the projector beside
    it; a TOML file is the card of a network.

    Raises
    ------
    WrongUseError
        For anything else, a projector alone, or several GGUF models at once.
    UnreadableInputError
        If a GGUF file is damaged.
    """
    flat = [found for path in paths for found in _found(path.absolute())]
    ggufs = [path for path in flat if path.suffix.lower() == _GGUF]
    others = tuple(_other(path) for path in flat if path not in ggufs)
    return (*((_gguf(ggufs),) if ggufs else ()), *others)


def projector_beside(model: Path) -> Path | None:
    """Return the only projector, by name, in a GGUF model's folder; else None."""
    beside = [p for p in _ggufs(model.parent) if _PROJECTOR_NAME in p.name.lower()]
    return beside[0] if len(beside) == 1 and beside[0] != model else None


def _found(path: Path) -> Iterable[Path]:
    """Return a path, or the GGUF files of a folder with nothing else to load."""
    if path.is_dir() and not (path / _CONFIG).is_file():
        return _ggufs(path) or (path,)
    return (path,)


def _ggufs(folder: Path) -> list[Path]:
    try:
        return sorted(p for p in folder.iterdir() if p.suffix.lower() == _GGUF)
    except OSError:  # a folder that cannot be read offers nothing; its file is named
        return []


def _gguf(paths: Sequence[Path]) -> DroppedModel:
    eyes = [p for p in paths if read_header(p).architecture == _PROJECTOR]
    models = [p for p in paths if p not in eyes]
    if len(models) != 1 or len(eyes) > 1:
        raise WrongUseError(
            f"These are {len(models)} GGUF models and {len(eyes)} projectors.",
            "Drop one model, with or without its projector.",
        )
    eye = eyes[0] if eyes else projector_beside(models[0])
    table: dict[str, object] = {"adapter": "gguf_local", "model": str(models[0])}
    if eye is not None:
        table["projector"] = str(eye)
    return DroppedModel(models[0].stem, table)


def _other(path: Path) -> DroppedModel:
    if path.is_dir() and (path / _CONFIG).is_file():
        return DroppedModel(path.name, {"adapter": _way(path), "model": str(path)})
    if path.suffix.lower() == _CARD:
        return DroppedModel(path.stem, {"adapter": "cnn_cam", "card": str(path)})
    raise WrongUseError(
        f"'{path.name}' is not a model.",
        "Drop a folder with config.json and weights, a .gguf file, or a network's "
        "card (.toml).",
    )


def _way(folder: Path) -> str:
    """Return the adapter for a folder's config.json."""
    try:
        config = read_json((folder / _CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        config = {}  # the form says what is wrong with the folder
    kind = config.get("model_type") if isinstance(config, dict) else None
    return "segmenter" if kind == _SEGMENTER else "transformers_local"
