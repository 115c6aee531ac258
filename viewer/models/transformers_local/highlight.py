"""Highlighting of an image region in a model's vision tower (LobA, E002-14).

A number is added to the logits of attention to the region's patches, from every patch
and in every layer of the vision tower, through hooks that are removed afterwards.
"""

import contextlib
import itertools
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import SizePx
from viewer.domain.interpretability import Highlight, WeightForm
from viewer.models.transformers_local import windows
from viewer.models.transformers_local.engine import Engine
from viewer.models.transformers_local.foreign import Foreign
from viewer.models.transformers_local.views import View, views

_TOWER: Final = re.compile(
    r"(^|\.)(vision_tower|vision_model)\.(.+\.)?layers\.\d+\.self_attn$"
)


@dataclass(frozen=True, eq=False)
class Region:
    """The highlighted patches of a request's images.

    ``patches`` has for every picture given to the vision tower (patches,) bool,
    row-major; ``own`` tells which of the pictures show the highlighted image, ``shown``
    which part they show.
    """

    shown: tuple[View, ...]
    patches: tuple[npt.NDArray[np.bool_], ...]
    own: tuple[bool, ...]


def region_of(engine: Engine, sizes: list[SizePx], highlight: Highlight) -> Region:
    """Return the patches of a highlight among images of the sizes sent.

    Raises
    ------
    WrongUseError
        If there is no such image, the mask has another size, the model does not see the
        region at all, or its layout is unknown.
    """
    _check(sizes, highlight)
    mask = highlight.mask.array()
    shown = views(engine, sizes)
    covers = [view.cover(mask) for view in shown[highlight.image]]
    if not any(cover.any() for cover in covers):
        raise WrongUseError(
            "The model does not see the region to highlight: it is in the part of the "
            "image that is cropped.",
            "Choose another region, or send the image padded to a square.",
        )
    lit = iter(_lit(covers, highlight.least_cover))
    patches, own = [], []
    for number, image in enumerate(shown):
        for view in image:
            mine = number == highlight.image
            patches.append(next(lit) if mine else _none(view))
            own.append(mine)
    return Region(tuple(itertools.chain(*shown)), tuple(patches), tuple(own))


def _lit(
    covers: list[npt.NDArray[np.float64]], least: float
) -> list[npt.NDArray[np.bool_]]:
    """Return the patches covered enough, picture by picture.

    If no patch of a picture is covered enough, the most covered one is used, unless the
    picture does not show the region at all.
    """
    chosen = []
    for cover in covers:
        flat = cover.ravel()
        enough = (flat >= least) & (flat > 0)
        if not enough.any() and flat.any():
            enough = np.arange(flat.size) == flat.argmax()
        chosen.append(enough)
    return chosen


def _none(view: View) -> npt.NDArray[np.bool_]:
    return np.zeros(view.rows * view.columns, dtype=np.bool_)


def _check(sizes: list[SizePx], highlight: Highlight) -> None:
    if not 0 <= highlight.image < len(sizes):
        raise WrongUseError(
            f"Image {highlight.image + 1} is to be highlighted, but the question "
            f"shows only {len(sizes)}.",
            "Choose one of its images.",
        )
    sent, size = sizes[highlight.image], highlight.mask.size
    if sent != size:
        raise WrongUseError(
            f"The region to highlight is drawn on {size.columns} × {size.rows} "
            f"pixels, but the image is sent with {sent.columns} × {sent.rows}.",
            "Resize the region like the image.",
        )


@dataclass
class Light:
    """An active highlight, and the share of attention that its region got.

    ``drawn`` has for every layer the region's share of the attention of the highlighted
    image's pictures to themselves; only eager attention provides it.
    """

    drawn: dict[str, float] = field(default_factory=dict)


@contextlib.contextmanager
def highlighting(
    engine: Engine, sizes: list[SizePx], highlight: Highlight
) -> Iterator[Light]:
    """Highlight a region in row 0 of the questions asked meanwhile.

    Any further row is left plain; every row has images of the same ``sizes``.
    """
    region = region_of(engine, sizes, highlight)
    light = Light()
    with _on(engine, region, _added(highlight), light):
        yield light


def _on(
    engine: Engine, region: Region, added: float, light: Light
) -> contextlib.AbstractContextManager[None]:
    tower = windows.tower_of(engine)
    if tower is None:
        return _by_masks(engine, region, added, light)
    return _by_windows(tower, region, added, light)


def _added(highlight: Highlight) -> float:
    if highlight.form is WeightForm.LOG:
        return math.log(highlight.weight)
    return highlight.weight


def _by_windows(
    tower: Foreign, region: Region, added: float, light: Light
) -> contextlib.AbstractContextManager[None]:
    order = windows.in_sequence(region.patches, list(region.shown), tower)
    lit = np.concatenate(region.patches)[order]
    own = np.repeat(region.own, [len(p) for p in region.patches])[order]
    sequence = windows.Sequence(lit, own, added, light.drawn)
    return windows.highlighting_sequence(tower, sequence)


@contextlib.contextmanager
def _by_masks(
    engine: Engine, region: Region, added: float, light: Light
) -> Iterator[None]:
    layers = [(n, m) for n, m in engine.model.named_modules() if _TOWER.search(n)]
    if not layers:
        raise _unknown_tower(engine)
    adding = _Adding(region, added, engine.files.name)
    with contextlib.ExitStack() as hooks:
        for name, module in layers:
            before = module.register_forward_pre_hook(adding, with_kwargs=True)
            after = module.register_forward_hook(_noting(light, name, region))
            hooks.callback(before.remove)
            hooks.callback(after.remove)
        yield


class _Adding:
    """A hook that adds to the attention mask of a vision tower's layer."""

    def __init__(self, region: Region, added: float, model: str) -> None:
        self._region, self._added, self._model = region, added, model

    def __call__(
        self, _module: object, args: tuple[Any, ...], settings: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        states = settings.get("hidden_states", args[0] if args else None)
        bias = self._bias(states)
        mask = _joined(settings.get("attention_mask"), bias)
        return args, {**settings, "attention_mask": mask}

    def _bias(self, states: Foreign) -> Foreign:
        """Return (pictures, 1, 1, keys), the logits to add; 0 for a class token."""
        import torch

        pictures, keys = int(states.shape[0]), int(states.shape[1])
        lit = self._region.patches
        patches = lit[0].size
        if keys - patches not in (0, 1) or pictures % len(lit):
            raise WrongUseError(
                f"The model {self._model} splits its images into unexpected patches.",
                "Choose another version of the model.",
            )
        bias = torch.zeros((pictures, 1, 1, keys), dtype=states.dtype)
        chosen = torch.from_numpy(np.stack(lit))
        bias[: len(lit), 0, 0, keys - patches :][chosen] = self._added
        return bias.to(states.device)


def _joined(mask: Foreign, bias: Foreign) -> Foreign:
    """Return a layer's attention mask with the bias added.

    The mask is None, (…) True where a key may be attended to, or numbers added to
    logits.
    """
    import torch

    if mask is None:
        return bias
    if mask.dtype == torch.bool:
        # Not -inf: the softmax of a row that contains nothing else is NaN.
        lowest = torch.finfo(bias.dtype).min
        return torch.where(mask, bias, lowest)
    return mask + bias


def _noting(light: Light, name: str, region: Region) -> Callable[..., None]:
    def hook(_module: object, _inputs: object, outputs: Foreign) -> None:
        weights = outputs[1]  # (pictures, heads, queries, keys), None unless eager
        if weights is None or name in light.drawn:
            return
        own = np.flatnonzero(region.own)
        per_key = weights[own].float().mean(dim=(1, 2)).double().cpu().numpy()
        patches = region.patches[0].size
        lit = np.stack([region.patches[i] for i in own])
        drawn = per_key[:, per_key.shape[1] - patches :][lit].sum()
        light.drawn[name] = float(drawn / len(own))

    return hook


def _unknown_tower(engine: Engine) -> WrongUseError:
    return WrongUseError(
        f"A region cannot be highlighted in models of the kind "
        f"'{engine.files.model_type}': their vision tower is not known.",
        "Choose a LLaVA, Gemma 3, PaliGemma, Idefics 3, SmolVLM or Qwen-VL model.",
    )
