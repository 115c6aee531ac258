"""Which part of an image each of a model's image tokens represents."""

from dataclasses import dataclass
from math import isqrt

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import Affine, SizePx
from viewer.models.transformers_local.engine import Engine
from viewer.models.transformers_local.foreign import Foreign


@dataclass(frozen=True)
class PatchLayout:
    """The grid of one image's tokens.

    ``to_sent`` maps grid coordinates (x in columns, y in rows, (0, 0) the corner of the
    first patch) to pixels of the image as sent. ``tiles``, (0, 0) for none, is the
    number of tiles that the image is cut into, row by row; the whole image follows
    them.
    """

    rows: int
    columns: int
    to_sent: Affine
    tiles: tuple[int, int] = (0, 0)

    @property
    def tokens(self) -> int:
        """Number of image tokens."""
        down, across = self.tiles
        if not down:
            return self.rows * self.columns
        return self.rows * self.columns // (down * across) * (down * across + 1)

    def grid(self, per_token: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Reshape (tokens,) numbers to (rows, columns), preserving their sum.

        A token of the whole image is spread over the patches of the tiles that it
        covers.
        """
        down, across = self.tiles
        if not down:
            return per_token.reshape(self.rows, self.columns)
        high, wide = self.rows // down, self.columns // across
        parts = per_token.reshape(-1, high, wide)
        tiled = parts[:-1].reshape(down, across, high, wide)
        fine = tiled.transpose(0, 2, 1, 3).reshape(self.rows, self.columns)
        share = np.full((down, across), 1 / (down * across))
        shared: npt.NDArray[np.float64] = fine + np.kron(parts[-1], share)
        return shared


def layouts(engine: Engine, sizes: list[SizePx]) -> list[PatchLayout]:
    """Return the layout of every image of a request, for the sizes sent.

    Raises
    ------
    WrongUseError
        If the layout of this model family is unknown.
    """
    kind = engine.files.model_type
    layout = next((f for start, f in _FAMILIES.items() if kind.startswith(start)), None)
    if layout is None:
        raise WrongUseError(
            f"It is not known which part of the image each token of a '{kind}' model "
            "represents.",
            f"Choose one of {', '.join(_FAMILIES)}.",
        )
    return [layout(engine, size) for size in sizes]


def _stretched(rows: int, columns: int, size: SizePx) -> PatchLayout:
    affine = Affine(size.columns / columns, 0.0, 0.0, 0.0, size.rows / rows, 0.0)
    return PatchLayout(rows, columns, affine)


def _pooled(engine: Engine, size: SizePx) -> PatchLayout:
    """Gemma 3 and PaliGemma: the stretched image in a fixed number of tokens."""
    config = engine.model.config
    tokens = getattr(config, "mm_tokens_per_image", None)
    if tokens is None:
        tokens = engine.encoder.image_processor.image_seq_length
    return _stretched(isqrt(tokens), isqrt(tokens), size)


def _cropped(engine: Engine, size: SizePx) -> PatchLayout:
    """LLaVA: the shortest edge resized, the centre cropped (CLIP), then patches."""
    images, patch = engine.encoder.image_processor, _patch_size(engine)
    high, wide = _resized(images.size, size)
    crop = images.crop_size if images.do_center_crop else None
    seen_high, seen_wide = (crop["height"], crop["width"]) if crop else (high, wide)
    top, left = (high - seen_high) // 2, (wide - seen_wide) // 2
    x, y = size.columns / wide, size.rows / high
    affine = Affine(patch * x, 0.0, left * x, 0.0, patch * y, top * y)
    return PatchLayout(seen_high // patch, seen_wide // patch, affine)


def _resized(target: Foreign, size: SizePx) -> tuple[int, int]:
    short = target["shortest_edge"]
    if not short:
        return int(target["height"]), int(target["width"])
    if size.rows <= size.columns:
        return short, int(short * size.columns / size.rows)
    return int(short * size.rows / size.columns), short


def _patch_size(engine: Engine) -> int:
    return int(engine.model.config.vision_config.patch_size)


def _tiled(engine: Engine, size: SizePx) -> PatchLayout:
    """Idefics 3 and SmolVLM: tiles of the stretched image, then the whole of it."""
    from PIL import Image

    config, images = engine.model.config, engine.encoder.image_processor
    side = config.vision_config.image_size // _patch_size(engine) // config.scale_factor
    # Asked instead of computed: the number of tiles depends on its settings.
    blank = Image.new("RGB", (size.columns, size.rows))
    seen = images(images=[[blank]], return_row_col_info=True, return_tensors="np")
    down, across = int(seen["rows"][0][0]), int(seen["cols"][0][0])
    rows, columns = side * max(down, 1), side * max(across, 1)
    flat = _stretched(rows, columns, size)
    return PatchLayout(rows, columns, flat.to_sent, (down, across))


def _merged(engine: Engine, size: SizePx) -> PatchLayout:
    """Qwen-VL: the stretched image in as many patches as it needs, merged."""
    from PIL import Image

    images = engine.encoder.image_processor
    blank = Image.new("RGB", (size.columns, size.rows))
    seen = images(images=[blank], return_tensors="np")
    _, high, wide = (int(n) for n in np.asarray(seen["image_grid_thw"])[0])
    return _stretched(high // images.merge_size, wide // images.merge_size, size)


_FAMILIES = {
    "llava": _cropped,
    "gemma3": _pooled,
    "paligemma": _pooled,
    "idefics3": _tiled,
    "smolvlm": _tiled,
    "qwen2_vl": _merged,
    "qwen2_5_vl": _merged,
    "qwen3_vl": _merged,
}
