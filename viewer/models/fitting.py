"""Whether a model fits this machine, and in which precision."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Final

from viewer.models.model_cards import PRECISIONS, ModelCard
from viewer.models.transformers_local.memory import (
    QUANTIZED_BYTES,
    free_bytes,
    free_main_memory,
)
from viewer.models.transformers_local.options import device_named

_GIB: Final = 1 << 30
_PLACES: Final = {True: "on the GPU", False: "in main memory"}


@dataclass(frozen=True, slots=True)
class Machine:
    """The free bytes of main memory and of the GPU; None if unknown or not there."""

    main: int | None
    gpu: int | None

    @property
    def in_words(self) -> str:
        """What is free, in a sentence."""
        main = "unknown" if self.main is None else _gib(self.main)
        card = "no graphics card that torch can use"
        if self.gpu is not None:
            card = f"{_gib(self.gpu)} of the graphics card"
        return f"Free on this machine: {main} of main memory, {card}."


@dataclass(frozen=True, slots=True)
class Fit:
    """The best precision in which a model fits, where, and the bytes that it needs."""

    precision: str
    on_gpu: bool
    needed: int

    @property
    def in_words(self) -> str:
        """Precision, place and memory."""
        return f"{self.precision} {_PLACES[self.on_gpu]}, {_gib(self.needed)}"

    def settings(self) -> Mapping[str, object]:
        """Return what a profile of transformers_local needs to load it like this."""
        if self.precision in QUANTIZED_BYTES:
            return {"quantization": self.precision}
        return {"dtype": self.precision}


def this_machine() -> Machine:
    """Measure what is free now; torch, if it is installed, knows the GPU."""
    device = device_named("auto") if _torch_may_find_a_gpu() else "cpu"
    gpu = None if device == "cpu" else free_bytes(device)
    return Machine(free_main_memory(), gpu)


def _torch_may_find_a_gpu() -> bool:
    """Tell whether torch is here and not built for the CPU only, without importing it.

    The import takes a second, which is most of the time of a command that needs this.
    """
    if find_spec("torch") is None:
        return False
    try:
        return not version("torch").endswith("+cpu")
    except PackageNotFoundError:
        return True


def best_fit(card: ModelCard, machine: Machine) -> Fit | None:
    """Return the best way to hold a model, None if none fits or its size is unknown.

    A GPU goes before main memory, and a more exact precision before a smaller one.
    Smaller precisions are offered on the GPU only, where bitsandbytes has them.
    """
    return next(_fits(card, machine), None)


def _fits(card: ModelCard, machine: Machine) -> Iterator[Fit]:
    for on_gpu, free in ((True, machine.gpu), (False, machine.main)):
        for precision in PRECISIONS:
            needed = card.memory(precision)
            there = on_gpu or precision not in QUANTIZED_BYTES
            if there and needed is not None and free is not None and needed <= free:
                yield Fit(precision, on_gpu, needed)


def smallest_need(card: ModelCard) -> int | None:
    """Return the bytes that a model needs at least, None if its size is unknown."""
    return card.memory(min(PRECISIONS, key=PRECISIONS.__getitem__))


def fit_in_words(card: ModelCard, machine: Machine) -> str:
    """Return the best fit in words, or why there is none."""
    if card.is_remote:
        return "runs at its provider"
    smallest = smallest_need(card)
    if smallest is None:
        return "unknown"
    fit = best_fit(card, machine)
    if fit is None:
        return f"no: it needs a graphics card with {_gib(smallest)} or more"
    return fit.in_words


def _gib(number: int) -> str:
    return f"{number / _GIB:.1f} GiB"
