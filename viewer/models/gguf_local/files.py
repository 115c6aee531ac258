"""A GGUF model and its projector: what they are, and whether they match."""

import functools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.models.file_hash import file_sha256
from viewer.models.gguf_local.header import GgufHeader, read_header

_PROJECTOR: Final = "clip"
_PROJECTOR_TYPE: Final = "mmproj"
_PART: Final = re.compile(r"-00001-of-(\d{5})\.gguf\Z")
_CACHE_NUMBER_BYTES: Final = 2


@dataclass(frozen=True)
class GgufModel:
    """The checked files of a model; ``eye`` is its projector, None for text only.

    ``parts`` are the model's files, several if it is split.
    """

    llm: GgufHeader
    eye: GgufHeader | None
    parts: tuple[Path, ...]

    @property
    def name(self) -> str:
        """The name given by its author, else its architecture."""
        return self.llm.text("general.name") or self.llm.architecture

    @functools.cached_property
    def revision(self) -> str:
        """The SHA-256 of the model file, or of each part if it is split."""
        return "+".join(file_sha256(part) for part in self.parts)

    @functools.cached_property
    def projector_sha256(self) -> str:
        """The SHA-256 of the projector, "none" without one."""
        return "none" if self.eye is None else file_sha256(self.eye.path)

    @property
    def weights_bytes(self) -> int:
        """Total size of its files in bytes, which is their size in memory."""
        eye = 0 if self.eye is None else self.eye.size
        return sum(part.stat().st_size for part in self.parts) + eye

    @property
    def width(self) -> int:
        """The dimension of a token's embedding."""
        return self._number("embedding_length")

    def cache_bytes(self, context: int) -> int:
        """Return the size of a key-value cache of ``context`` tokens in half precision.

        An upper bound: models with sliding-window attention need less.
        """
        heads = max(1, self._number("attention.head_count"))
        cached_heads = self._number("attention.head_count_kv") or heads
        head = self.width // heads
        key = self._number("attention.key_length") or head
        value = self._number("attention.value_length") or head
        per_token = self._number("block_count") * cached_heads * (key + value)
        return context * per_token * _CACHE_NUMBER_BYTES

    def _number(self, key: str) -> int:
        return self.llm.number(f"{self.llm.architecture}.{key}")


def open_model(model: Path, projector: Path | None) -> GgufModel:
    """Return a model whose files were checked as far as possible without loading.

    Raises
    ------
    UnreadableInputError
        If a file is not a GGUF file, or is damaged or truncated.
    WrongUseError
        If the files are swapped, or do not match.
    """
    llm = read_header(model)
    if llm.architecture == _PROJECTOR:
        raise WrongUseError(
            f"'{model.name}' is a projector, not a model.",
            "Give it as projector, and the model's own .gguf file as model.",
        )
    if not any(name.startswith("token_embd") for name in llm.tensors):
        raise UnreadableInputError(
            f"'{model.name}' contains no language model.",
            "Choose the .gguf file of a model that answers in text.",
        )
    eye = None if projector is None else _projector(projector)
    opened = GgufModel(llm, eye, _parts(model))
    if eye is not None:
        _check_widths(opened, eye)
    return opened


def _projector(path: Path) -> GgufHeader:
    eye = read_header(path)
    if eye.architecture != _PROJECTOR:
        raise WrongUseError(
            f"'{path.name}' is a model, not a projector.",
            "Give the file whose name usually holds 'mmproj' as projector.",
        )
    if not eye.metadata.get("clip.has_vision_encoder"):
        raise WrongUseError(
            f"The projector '{path.name}' is not for images.",
            "Choose this model's projector for images.",
        )
    return eye


def _check_widths(model: GgufModel, eye: GgufHeader) -> None:
    """Compare the projector's output width with the model's embedding width.

    Old conversions, which do not declare that they are a projector, have CLIP's own
    width here; for them llama.cpp finds a mismatch while loading.
    """
    given = eye.number("clip.vision.projection_dim")
    says = eye.text("general.type") == _PROJECTOR_TYPE
    if says and given and model.width and given != model.width:
        raise WrongUseError(
            f"The projector '{eye.path.name}' does not fit the model "
            f"'{model.llm.path.name}': it produces {given} numbers per token, but the "
            f"model takes {model.width}.",
            "Choose the projector that was published with this model.",
        )


def _parts(model: Path) -> tuple[Path, ...]:
    found = _PART.search(model.name)
    if found is None:
        return (model,)
    stem, count = model.name[: found.start()], int(found[1])
    names = (f"{stem}-{i:05d}-of-{count:05d}.gguf" for i in range(1, count + 1))
    parts = tuple(model.with_name(name) for name in names)
    for part in parts:
        if not part.is_file():
            raise UnreadableInputError(
                f"The model's part '{part.name}' is not next to its first part.",
                f"Put all {count} parts into one folder.",
            )
    return parts
