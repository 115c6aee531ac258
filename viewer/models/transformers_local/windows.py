"""Highlighting in vision towers with windowed attention over one long sequence.

Those of Qwen-VL put the patches of all images in a row, merged blocks together and
windows together, and accept no attention mask; so their attention function is replaced
meanwhile, through transformers' AttentionInterface.
"""

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from viewer.models.transformers_local.engine import Engine
from viewer.models.transformers_local.foreign import Foreign
from viewer.models.transformers_local.views import View

TOWER: Final = "visual"
_numbers = itertools.count()


def tower_of(engine: Engine) -> Foreign | None:
    """Return the vision tower of such a model, None for any other."""
    found = (m for n, m in engine.model.named_modules() if n.split(".")[-1] == TOWER)
    return next(found, None)


def in_sequence(
    patches: tuple[npt.NDArray[np.bool_], ...], shown: list[View], tower: Foreign
) -> npt.NDArray[np.intp]:
    """Return the index of the patch at every position of the tower's sequence.

    Patches are numbered image by image, row by row.
    """
    merge = int(tower.config.spatial_merge_size)
    starts = np.cumsum([0, *(len(p) for p in patches)])
    blocks = [
        (start + np.arange(view.rows * view.columns))
        .reshape(view.rows // merge, merge, view.columns // merge, merge)
        .transpose(0, 2, 1, 3)
        .reshape(-1, merge**2)
        for start, view in zip(starts, shown, strict=False)
    ]
    every = np.concatenate(blocks)
    return np.asarray(every[_windowed(shown, tower, len(every))].ravel())


def _windowed(shown: list[View], tower: Foreign, blocks: int) -> npt.NDArray[np.intp]:
    """Return the order of merged blocks in the tower: window by window."""
    if getattr(tower.config, "window_size", None) is None:
        return np.arange(blocks)
    import torch
    from transformers.vision_utils import get_vision_window_index

    grids = torch.tensor([[1, view.rows, view.columns] for view in shown])
    order, _ = get_vision_window_index(
        grids,
        spatial_merge_size=tower.config.spatial_merge_size,
        window_size=tower.config.window_size,
        patch_size=tower.config.patch_size,
    )
    return np.asarray(order)


@dataclass
class Sequence:
    """The state of row 0's sequence: biases to add, and attention to record.

    ``lit`` marks the highlighted positions and ``own`` those of the highlighted image;
    ``drawn`` is, by layer, the share of the image's attention that the highlighted ones
    got.
    """

    lit: npt.NDArray[np.bool_]
    own: npt.NDArray[np.bool_]
    added: float
    drawn: dict[str, float]
    _at: int = 0
    _layer: str = ""
    _noted: list[float] = field(default_factory=list)

    def begin(self, layer: str) -> None:
        """Go back to the start of the sequence, as every layer does."""
        self._at, self._layer, self._noted = 0, layer, []

    def bias(self, keys: int) -> npt.NDArray[np.float32]:
        """Return (keys,) the bias to add to the next stretch of keys."""
        lit = self.lit[self._at : self._at + keys]
        return np.pad(lit, (0, keys - len(lit))).astype(np.float32) * self.added

    def note(self, weights: Foreign, keys: int) -> None:
        """Record (1, heads, keys, keys) attention within the stretch; move past it."""
        part = slice(self._at, self._at + keys)
        lit, own = np.flatnonzero(self.lit[part]), np.flatnonzero(self.own[part])
        self._at += keys
        if weights is None or (self._layer in self.drawn and not self._noted):
            return
        by_query = weights[0].float().mean(dim=0).double().cpu().numpy()
        self._noted.append(float(by_query[np.ix_(own, lit)].sum()))
        self.drawn[self._layer] = sum(self._noted) / int(self.own.sum())


@contextlib.contextmanager
def highlighting_sequence(tower: Foreign, sequence: Sequence) -> Iterator[None]:
    """Highlight in a vision tower meanwhile; rows after the first are left plain."""
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    before = tower.config._attn_implementation  # noqa: SLF001 - has no public name
    usual = ALL_ATTENTION_FUNCTIONS.get_interface(before, _eager)
    name = f"overread_highlight_{next(_numbers)}"
    with contextlib.ExitStack() as undoing:
        ALL_ATTENTION_FUNCTIONS[name] = _added(usual, sequence)
        undoing.callback(ALL_ATTENTION_FUNCTIONS.pop, name)
        tower.set_attn_implementation(name)
        undoing.callback(tower.set_attn_implementation, before)
        for layer, block in enumerate(tower.blocks):
            hook = block.attn.register_forward_pre_hook(_beginning(sequence, layer))
            undoing.callback(hook.remove)
        yield


def _beginning(sequence: Sequence, layer: int) -> Foreign:
    def begin(_module: object, _inputs: object) -> None:
        sequence.begin(str(layer))

    return begin


def _added(usual: Foreign, sequence: Sequence) -> Foreign:
    def attend(
        module: Foreign,
        query: Foreign,
        key: Foreign,
        value: Foreign,
        attention_mask: None,  # noqa: ARG001 - these towers have none
        **settings: Any,  # noqa: ANN401 - whatever the layer says
    ) -> tuple[Foreign, Foreign]:
        import torch

        keys = int(key.shape[2])
        bias = torch.from_numpy(sequence.bias(keys)).to(query)[None, None, None]
        output, weights = usual(module, query, key, value, bias, **settings)
        sequence.note(weights, keys)
        return output, weights

    return attend


def _eager(
    _module: object,
    query: Foreign,
    key: Foreign,
    value: Foreign,
    attention_mask: Foreign,
    *,
    scaling: float,
    **_settings: object,
) -> tuple[Foreign, Foreign]:
    """Compute attention like transformers' eager attention, without dropout."""
    import torch

    logits = torch.matmul(query, key.transpose(2, 3)) * scaling + attention_mask
    weights = torch.softmax(logits, dim=-1, dtype=torch.float32).to(query.dtype)
    return torch.matmul(weights, value).transpose(1, 2).contiguous(), weights
