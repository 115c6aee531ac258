"""The card of a network: what it is, what it is shown, and what it tells (TOML).

::

    name = "densenet121-chexpert"
    layer = "features"             # whose output Grad-CAM looks at

    [network]                      # one of:
    exported = "net.pt2"           #   torch.export
    torchscript = "net.pt"         #   returning (scores, maps); then no layer
    factory = "torchvision.models:densenet121"    # a callable of an installed package
    weights = "net.safetensors"    # with factory: safetensors, or a plain state dict
    entry = "state_dict"           # with weights: the entry of the file that holds them
    prefix = "module."             # with weights: what every name there begins with
    [network.arguments]            # with factory: its keyword arguments
    num_classes = 10

    [input]
    side = 320                     # rows and columns
    channels = 3                   # 1, or 3 equal ones
    range = [0.0, 1.0]             # what black and white become
    mean = [0.485, 0.456, 0.406]   # then subtracted
    std = [0.229, 0.224, 0.225]    # then divided by
    fit = "stretch"                # or crop_resize, resize_crop, letterbox

    [classes]                      # finding = number of the score, from 0
    "Pleural Effusion" = 9
"""

import functools
import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from viewer.domain.documents import read_toml
from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.domain.finding_names import own_word
from viewer.domain.plain import NotNegative, made
from viewer.imaging.resample import FitMode
from viewer.models.file_hash import file_sha256, unreadable_file

_KINDS: Final = ("exported", "torchscript", "factory")
_FACTORY: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_LARGEST_SIDE: Final = 4096


@dataclass(frozen=True)
class NetworkSource:
    """How to create a network: ``kind`` is exported, torchscript or factory.

    ``file`` is the network's or, for a factory, the weights' file; ``factory`` is a
    ``module:callable`` that is called with ``arguments``.
    """

    kind: str
    file: Path
    factory: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    entry: str = ""
    prefix: str = ""


@dataclass(frozen=True)
class NetworkInput:
    """A network's input: ``side`` × ``side`` numbers in 1 or 3 channels."""

    side: int
    channels: int
    low: float
    high: float
    mean: tuple[float, ...]
    std: tuple[float, ...]
    fit: FitMode


@dataclass(frozen=True)
class Card:
    """A network's card; ``classes`` maps each finding's plain name to an index."""

    name: str
    layer: str
    source: NetworkSource
    input: NetworkInput
    classes: Mapping[str, int]
    sha256: str

    @functools.cached_property
    def revision(self) -> str:
        """The SHA-256 of the card, and of the file beside it."""
        return f"{self.sha256}+{file_sha256(self.source.file)}"

    def score_of(self, finding: str) -> int | None:
        """Return the index of a finding's score, None if it was not learned."""
        word = own_word(finding, self.classes)
        return None if word is None else self.classes[word]


def plain(finding: str) -> str:
    """Return a finding's name in lower case, with single blanks."""
    return " ".join(finding.casefold().replace("_", " ").split())


def unlearned(settings: Mapping[str, object], finding: str) -> WrongUseError | None:
    """Return the error of a network whose card does not list a finding, else None.

    A card that cannot be read raises as `read_card` does.
    """
    card = read_card(Path(str(settings["card"])))
    if card.score_of(finding) is not None:
        return None
    return WrongUseError(*not_learned(card, finding))


def not_learned(card: Card, finding: str) -> tuple[str, str]:
    """Return the two sentences of the error for a finding not learned."""
    return (
        f"The network '{card.name}' was not trained on '{finding}'.",
        f"Choose one of its findings: {', '.join(card.classes)}.",
    )


def read_card(path: Path) -> Card:
    """Return the card in a TOML file.

    Raises
    ------
    UnreadableInputError
        If there is no such file, or it is not TOML.
    WrongUseError
        If an entry is missing or invalid.
    """
    try:
        data = path.read_bytes()
        table = read_toml(data.decode("utf-8"))
    except OSError as error:
        raise unreadable_file(path, error) from error
    except ValueError as error:
        raise UnreadableInputError(
            f"The network's card '{path.name}' is not TOML.", f"Correct it: {error}."
        ) from error
    card = made(_Card, table, where=path.name)
    return Card(
        name=card.name,
        layer=card.layer,
        source=card.network.source(path.parent),
        input=card.input.checked(),
        classes={plain(finding): number for finding, number in card.classes.items()},
        sha256=hashlib.sha256(data).hexdigest(),
    )


@dataclass(frozen=True)
class _Network:
    """The table [network]."""

    exported: str = ""
    torchscript: str = ""
    factory: str = ""
    weights: str = ""
    entry: str = ""
    prefix: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len([kind for kind in _KINDS if getattr(self, kind)]) != 1:
            raise ValueError(f"name exactly one of {', '.join(_KINDS)}")
        if self.factory and not _FACTORY.fullmatch(self.factory):
            raise ValueError("write the factory as module:callable")
        if self.factory and not self.weights:
            raise ValueError("a factory needs weights")

    def source(self, folder: Path) -> NetworkSource:
        """Return where the network comes from; its file must be below a folder."""
        if not self.factory:
            kind = "exported" if self.exported else "torchscript"
            return NetworkSource(kind, folder / (self.exported or self.torchscript))
        return NetworkSource(
            "factory",
            folder / self.weights,
            self.factory,
            self.arguments,
            self.entry,
            self.prefix,
        )


@dataclass(frozen=True)
class _Input:
    """The table [input]."""

    side: int
    channels: Literal[1, 3] = 1
    range: tuple[float, float] = (0.0, 1.0)
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    fit: FitMode = FitMode.STRETCH

    def __post_init__(self) -> None:
        if not 1 <= self.side <= _LARGEST_SIDE:
            raise ValueError(f"side must be from 1 to {_LARGEST_SIDE}")
        if {len(self.mean), len(self.std)} - {0, self.channels}:
            raise ValueError(f"mean and std need {self.channels} numbers each")
        if not all(map(math.isfinite, (*self.range, *self.mean, *self.std))):
            raise ValueError("range, mean and std must be finite")
        if min(self.std, default=1) <= 0:
            raise ValueError("std must be above 0")

    def checked(self) -> NetworkInput:
        """Return it with the default mean and standard deviation filled in."""
        mean = self.mean or (0.0,) * self.channels
        std = self.std or (1.0,) * self.channels
        return NetworkInput(self.side, self.channels, *self.range, mean, std, self.fit)


@dataclass(frozen=True)
class _Card:
    """The whole table."""

    name: str
    network: _Network
    input: _Input
    classes: Mapping[str, NotNegative]
    layer: str = ""

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError("the name is empty")
        if not self.classes:
            raise ValueError("every class needs the number of its score")
        if self.network.torchscript and self.layer:
            raise ValueError(
                "it names a layer, but layers of TorchScript cannot be read; let the "
                "network return (scores, maps) and leave layer out"
            )
        if not self.network.torchscript and not self.layer.strip():
            raise ValueError("name the layer to compute maps from")
