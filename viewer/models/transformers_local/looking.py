"""Attention of a model's newest token, recorded step by step while it answers."""

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import WrongUseError
from viewer.models.transformers_local.engine import Engine
from viewer.models.transformers_local.foreign import Foreign

_READER: Final = re.compile(
    r"(^|\.)(language_model|text_model)\.layers\.\d+\.self_attn$"
)


@dataclass
class Looks:
    """The newest token's attention over all positions, by layer, for every step.

    Step 0 is the last token of the prompt, which chooses the answer's first one; the
    position of step n's own token is the prompt's length + n - 1.
    """

    by_layer: dict[str, list[npt.NDArray[np.float64]]] = field(default_factory=dict)

    @property
    def steps(self) -> int:
        """The number of steps recorded."""
        return min((len(rows) for rows in self.by_layer.values()), default=0)

    def layers(self, step: int, prompt: int) -> npt.NDArray[np.float64]:
        """Return (layers, prompt) the mean over heads, over the prompt's positions.

        ``step`` counts from 0. A layer with a sliding window has only its last
        positions; it did not attend to earlier ones.
        """
        rows = [steps[step] for steps in self.by_layer.values()]
        padded = [np.pad(r, (max(prompt + step - len(r), 0), 0)) for r in rows]
        return np.stack([row[:prompt] for row in padded])


def check_eager(attention: str) -> None:
    """Raise unless attention is eager, the only kind that returns its weights."""
    if attention != "eager":
        raise WrongUseError(
            "Only eager attention shows where a model looked.",
            'Set attention = "eager" for this model.',
        )


@contextlib.contextmanager
def looking(engine: Engine) -> Iterator[Looks]:
    """Record, by step and layer, what the newest token of row 0 attends to.

    Only its row is kept: the whole attention of a long prompt would not fit in memory.
    """
    looks = Looks()

    def hook_of(name: str) -> Callable[..., None]:
        def hook(_module: object, _inputs: object, outputs: Foreign) -> None:
            weights = outputs[1]  # (batch, heads, queries, places)
            row = weights[0, :, -1].float().mean(dim=0)
            rows = looks.by_layer.setdefault(name, [])
            rows.append(row.double().cpu().numpy())

        return hook

    layers = [(n, m) for n, m in engine.model.named_modules() if _READER.search(n)]
    with contextlib.ExitStack() as hooks:
        for name, module in layers:
            hooks.callback(module.register_forward_hook(hook_of(name)).remove)
        yield looks
