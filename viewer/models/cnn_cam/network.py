"""Loading of networks without running anybody's code unasked.

Safe: safetensors hold numbers only, and a state dict is read by torch's restricted
unpickler (``weights_only=True``), which creates only tensors and plain containers.
Unsafe: a factory is a callable that the card chooses, TorchScript is a program, and
torch.export's archive may contain pickles; each needs the profile's ``trusted``, which
names exactly this callable, or this file by its SHA-256.
"""

import importlib
import pickle
import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viewer.domain.errors import OverreadError, UnreadableInputError, WrongUseError
from viewer.models.cnn_cam.card import Card, NetworkSource
from viewer.models.file_hash import file_sha256
from viewer.models.loaded import Progress, check_cancelled


@dataclass(frozen=True)
class Network:
    """A loaded network on its device, and its card at that time.

    ``layer`` is the module whose output Grad-CAM uses, None for a network that returns
    (scores, maps) itself.
    """

    module: Any
    layer: Any
    device: str
    card: Card

    @property
    def memory_bytes(self) -> int:
        """Size of its weights and buffers in bytes."""
        tensors = (*self.module.parameters(), *self.module.buffers())
        return sum(t.numel() * t.element_size() for t in tensors)


def check_trusted(source: NetworkSource, trusted: str) -> None:
    """Refuse what could run code and is not declared as trusted.

    Raises
    ------
    WrongUseError
        With the setting that declares it as trusted.
    """
    if source.kind == "factory":
        named, what = source.factory, f"calls {source.factory}"
    else:
        named = file_sha256(source.file)
        what = f"opens '{source.file.name}', which may contain code"
    if trusted.strip().casefold() != named.casefold():
        raise WrongUseError(
            f"The network's card {what}, and is not marked as trusted.",
            f'If you trust it, add trusted = "{named}" to the model\'s settings.',
        )


def load_network(
    card: Card, device: str, progress: Progress, cancelled: threading.Event
) -> Network:
    """Return a card's network, ready to answer.

    Raises
    ------
    OverreadError
        If its files do not match the card; the sentences say why.
    """
    progress(0.1, "loading the network")
    module = _quietly(_loaders()[card.source.kind], card.source)
    check_cancelled(cancelled)
    module = module.to(device)
    if card.source.kind == "factory":
        # A new module is in training mode: dropout, and statistics of the batch.
        module.eval()
    network = Network(module, _layer(module, card), device, card)
    progress(0.8, "trying the network")
    _try_out(network, card)
    check_cancelled(cancelled)
    progress(1.0, "loaded")
    return network


def device_named(setting: str) -> str:
    """Return cpu, cuda or mps; WrongUseError if torch cannot use the one named."""
    import torch

    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if setting == "auto":
        return "cuda" if there["cuda"] else "cpu"
    if not there[setting]:
        raise WrongUseError(
            f"The network is set to run on {setting}, which torch does not find.",
            "Set device to auto or cpu, or install torch for this GPU.",
        )
    return setting


def release_memory() -> None:
    """Release the GPU memory that torch has cached."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def read_weights(source: NetworkSource) -> dict[str, Any]:
    """Return the tensors by name, from safetensors or a plain state dict.

    Raises
    ------
    UnreadableInputError
        If the file is neither, or would run code.
    """
    if source.file.suffix == ".safetensors":
        held = _safetensors(source.file)
    else:
        held = _state_dict(source.file)
    if source.entry:
        held = held.get(source.entry, {})
    prefix = source.prefix
    return {name.removeprefix(prefix): value for name, value in held.items()}


def _safetensors(path: Path) -> dict[str, Any]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    file_sha256(path)  # says in a sentence where there is no such file
    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        raise UnreadableInputError(
            f"The weights '{path.name}' are not a complete safetensors file.",
            "Copy or download them again.",
        ) from error


def _state_dict(path: Path) -> dict[str, Any]:
    import torch

    file_sha256(path)
    try:
        held = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError) as error:
        raise UnreadableInputError(
            f"The weights '{path.name}' contain more than numbers, or are damaged; "
            "none of it was run.",
            "Save them with torch.save(network.state_dict(), …) or as safetensors.",
        ) from error
    if not isinstance(held, dict):
        raise UnreadableInputError(
            f"The weights file '{path.name}' contains no named tensors.",
            "Save them with torch.save(network.state_dict(), …).",
        )
    return held


def _loaders() -> Mapping[str, Any]:
    return {"exported": _exported, "torchscript": _torchscript, "factory": _made}


def _quietly(load: Any, source: NetworkSource) -> Any:  # noqa: ANN401 - untyped library
    """Silence torch's advice to programmers on standard error while loading."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load(source)


def _exported(source: NetworkSource) -> Any:  # noqa: ANN401 - untyped library
    import torch

    try:
        program = torch.export.load(source.file)
        return torch.export.unflatten(program)
    except Exception as error:  # a damaged archive fails in any of a dozen ways
        raise _no_network(source, "torch.export.save") from error


def _torchscript(source: NetworkSource) -> Any:  # noqa: ANN401 - untyped library
    import torch

    load: Any = torch.jit.load  # it has no annotations
    try:
        return load(source.file, map_location="cpu").eval()
    except (RuntimeError, ValueError) as error:
        raise _no_network(source, "torch.jit.save") from error


def _made(source: NetworkSource) -> Any:  # noqa: ANN401 - untyped library
    module = _call(source)
    _fill(module, source)
    return module


def _call(source: NetworkSource) -> Any:  # noqa: ANN401 - untyped library
    import torch

    module_name, _, name = source.factory.partition(":")
    try:
        factory = getattr(importlib.import_module(module_name), name)
        made = factory(**source.arguments)
    except (ImportError, AttributeError) as error:
        raise WrongUseError(
            f"The network's factory {source.factory} is not installed.",
            f"Install the package that provides {module_name.partition('.')[0]}.",
        ) from error
    except (TypeError, ValueError) as error:
        raise WrongUseError(
            f"The network's factory {source.factory} does not take the card's "
            "arguments.",
            "Correct [network.arguments].",
        ) from error
    if not isinstance(made, torch.nn.Module):
        raise WrongUseError(
            f"The network's factory {source.factory} does not return a torch module.",
            "Name the callable that returns the network.",
        )
    return made


def _fill(module: Any, source: NetworkSource) -> None:  # noqa: ANN401 - untyped library
    try:
        module.load_state_dict(read_weights(source))
    except (RuntimeError, TypeError, AttributeError) as error:
        raise WrongUseError(
            f"The weights '{source.file.name}' do not fit the network that "
            f"{source.factory} makes.",
            "Correct [network.arguments], entry or prefix.",
        ) from error


def _layer(module: Any, card: Card) -> Any:  # noqa: ANN401 - untyped library
    if not card.layer:
        return None
    try:
        return module.get_submodule(card.layer)
    except AttributeError as error:
        raise WrongUseError(
            f"The network has no layer '{card.layer}'.",
            f"Its last ones are {', '.join(_last_layers(module))}.",
        ) from error


def _last_layers(module: Any) -> list[str]:  # noqa: ANN401 - untyped library
    return [name for name, _ in module.named_modules() if name][-8:]


def _try_out(network: Network, card: Card) -> None:
    """Run the network on an empty image, and check that it returns every score."""
    import torch

    shown = card.input
    empty = torch.zeros(
        (1, shown.channels, shown.side, shown.side), device=network.device
    )
    try:
        with torch.no_grad():
            output = network.module(empty)
    except (RuntimeError, TypeError, ValueError) as error:
        raise WrongUseError(
            f"The network does not take {shown.channels} × {shown.side} × "
            f"{shown.side} numbers.",
            "Correct [input] in its card.",
        ) from error
    _check_output(output, card, returns_maps=network.layer is None)


def _check_output(told: Any, card: Card, *, returns_maps: bool) -> None:  # noqa: ANN401 - untyped library
    import torch

    if returns_maps and not (isinstance(told, tuple | list) and len(told) == 2):
        raise _tells("does not return (scores, maps)")
    scores = told[0] if returns_maps else told
    if not isinstance(scores, torch.Tensor) or scores.ndim != 2 or len(scores) != 1:
        raise _tells("does not return one row of scores for one image")
    if returns_maps and (not isinstance(told[1], torch.Tensor) or told[1].ndim != 4):
        raise _tells("returns maps that are not images × channels × rows × columns")
    last = max(card.classes.values())
    if last >= scores.shape[1]:
        raise _tells(
            f"returns {scores.shape[1]} scores, and the card names number {last}"
        )


def _tells(what: str) -> OverreadError:
    return WrongUseError(
        f"The network {what}.", "Correct its card, or export it again."
    )


def _no_network(source: NetworkSource, saver: str) -> UnreadableInputError:
    return UnreadableInputError(
        f"'{source.file.name}' is damaged, or not a network that torch can open.",
        f"Save it with {saver} of the same version of torch.",
    )
