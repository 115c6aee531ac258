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
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from viewer.domain.documents import read_toml
from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.imaging.resample import FitMode
from viewer.models.file_hash import file_sha256, unreadable_file

_FILE_KINDS: Final = ("exported", "torchscript")
_TOP: Final = frozenset({"name", "layer", "network", "input", "classes"})
_NETWORK: Final = frozenset(
    {*_FILE_KINDS, "factory", "weights", "entry", "prefix", "arguments"}
)
_INPUT: Final = frozenset({"side", "channels", "range", "mean", "std", "fit"})
_LARGEST_SIDE: Final = 4096


@dataclass(frozen=True)
class NetworkSource:
    """Where a network comes from: ``kind`` is exported, torchscript or factory.

    ``file`` is the network's or, of a factory, the weights' file; ``factory`` a
    ``module:callable`` that ``arguments`` are given to.
    """

    kind: str
    file: Path
    factory: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    entry: str = ""
    prefix: str = ""


@dataclass(frozen=True)
class NetworkInput:
    """What a network is shown: ``side`` × ``side`` numbers of 1 or 3 channels."""

    side: int
    channels: int
    low: float
    high: float
    mean: tuple[float, ...]
    std: tuple[float, ...]
    fit: FitMode


@dataclass(frozen=True)
class Card:
    """A network's card; ``classes`` gives each finding's score by its plain name."""

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
        """Return the number of a finding's score, None where it was not learned."""
        return self.classes.get(plain(finding))


def plain(finding: str) -> str:
    """Return a finding's name in small letters, with single blanks."""
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
    """Return the two sentences about a finding that a network cannot be asked about."""
    return (
        f"The network '{card.name}' did not learn '{finding}'.",
        f"It knows {', '.join(card.classes)}.",
    )


def read_card(path: Path) -> Card:
    """Return the card in a TOML file.

    Raises
    ------
    UnreadableInputError
        Where there is no such file, or it is not TOML.
    WrongUseError
        Where something is missing in it or cannot be.
    """
    try:
        data = path.read_bytes()
        table = read_toml(data.decode("utf-8"))
    except OSError as error:
        raise unreadable_file(path, error) from error
    except ValueError as error:
        raise UnreadableInputError(
            f"The network's card '{path.name}' is not TOML.", f"Mend it: {error}."
        ) from error
    return _Reader(path).card(table, hashlib.sha256(data).hexdigest())


class _Reader:
    """Reads one card; each refusal names the file and the key."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def card(self, table: Mapping[str, Any], sha256: str) -> Card:
        """Return the card that a whole table holds."""
        self._check_keys("", table, _TOP)
        source = self._source(self._table(table, "network"))
        return Card(
            name=self._text("name", table.get("name")),
            layer=self._layer(source, table.get("layer", "")),
            source=source,
            input=self._input(self._table(table, "input")),
            classes=self._classes(self._table(table, "classes")),
            sha256=sha256,
        )

    def _source(self, network: Mapping[str, Any]) -> NetworkSource:
        self._check_keys("network.", network, _NETWORK)
        named = [k for k in (*_FILE_KINDS, "factory") if k in network]
        if len(named) != 1:
            raise self._wrong(
                "names not exactly one of exported, torchscript and factory in "
                "[network]"
            )
        kind = named[0]
        if kind != "factory":
            return NetworkSource(kind, self._file(kind, network[kind]))
        return NetworkSource(
            kind,
            self._file("weights", network.get("weights")),
            self._factory(network["factory"]),
            self._table(network, "arguments") if "arguments" in network else {},
            str(network.get("entry", "")),
            str(network.get("prefix", "")),
        )

    def _input(self, table: Mapping[str, Any]) -> NetworkInput:
        self._check_keys("input.", table, _INPUT)
        side, channels = table.get("side", 0), table.get("channels", 1)
        if not _is_whole(side) or not 1 <= side <= _LARGEST_SIDE:
            raise self._wrong(f"needs input.side from 1 to {_LARGEST_SIDE}")
        if channels not in (1, 3):
            raise self._wrong("needs input.channels 1 or 3")
        low, high = self._numbers("range", table.get("range", [0.0, 1.0]), 2)
        mean = self._numbers("mean", table.get("mean", [0.0] * channels), channels)
        std = self._numbers("std", table.get("std", [1.0] * channels), channels)
        if min(std) <= 0:
            raise self._wrong("needs input.std above 0")
        return NetworkInput(side, channels, low, high, mean, std, self._fit(table))

    def _fit(self, table: Mapping[str, Any]) -> FitMode:
        named = table.get("fit", FitMode.STRETCH.value)
        if named not in [mode.value for mode in FitMode]:
            raise self._wrong(f"needs input.fit one of {', '.join(FitMode)}")
        return FitMode(named)

    def _classes(self, table: Mapping[str, Any]) -> Mapping[str, int]:
        if not table or not all(_is_whole(n) and n >= 0 for n in table.values()):
            raise self._wrong(
                "needs in [classes] each finding with the number of its score"
            )
        return {plain(finding): int(number) for finding, number in table.items()}

    def _layer(self, source: NetworkSource, layer: object) -> str:
        if source.kind == "torchscript":
            if layer:
                raise self._wrong(
                    "names a layer of TorchScript, into which nobody can look; let "
                    "the network return (scores, maps) and leave layer out"
                )
            return ""
        return self._text("layer", layer)

    def _factory(self, factory: object) -> str:
        named = self._text("network.factory", factory)
        if not all(part.isidentifier() for part in named.replace(":", ".").split(".")):
            raise self._wrong("needs network.factory written as module:callable")
        if named.count(":") != 1:
            raise self._wrong("needs network.factory written as module:callable")
        return named

    def _file(self, key: str, name: object) -> Path:
        return self._path.parent / self._text(f"network.{key}", name)

    def _text(self, key: str, value: object) -> str:
        if not isinstance(value, str) or not value.strip():
            raise self._wrong(f"does not say its {key}")
        return value

    def _table(self, table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        found = table.get(key)
        if not isinstance(found, dict):
            raise self._wrong(f"has no [{key}]")
        return found

    def _numbers(self, key: str, value: object, count: int) -> tuple[float, ...]:
        numbers = value if isinstance(value, list) else []
        good = [v for v in numbers if _is_number(v)]
        if len(good) != count or len(numbers) != count:
            raise self._wrong(f"needs in input.{key} {count} numbers")
        return tuple(float(v) for v in good)

    def _check_keys(
        self, where: str, table: Mapping[str, Any], known: frozenset[str]
    ) -> None:
        for key in table:
            if key not in known:
                raise self._wrong(f"has an unknown key {where}{key}")

    def _wrong(self, what: str) -> WrongUseError:
        return WrongUseError(
            f"The network's card '{self._path.name}' {what}.",
            "A card holds name, layer, [network], [input] with its side, and [classes] "
            "with each finding's number.",
        )


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value)  # type: ignore[arg-type]
