"""How providers resize an image before the model sees it.

Sizes follow the providers' documentation and public code. If a provider does not
publish its resampling filter, the pixels shown are an approximation and the view says
so; sizes and coordinates are not affected.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from PIL import Image

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import Affine, SizePx
from viewer.domain.grid import Grid
from viewer.domain.image import Raster

MIN_LABEL_PX = 8
_UNKNOWN_FILTER = "bicubic, an approximation: the provider's filter is not published"
_MOST_ELONGATED = 200
_PATCH_BUDGET = 1536
_PATCH_TOKENS = 1.2
_CLAUDE_EDGE, _CLAUDE_PATCH, _CLAUDE_TOKENS = 1568, 28, 1568
_GEMINI_MIN, _GEMINI_MAX = 768, 3072
_GEMMA_SIDE, _GEMMA_TOKENS = 896, 256


@dataclass(frozen=True, slots=True)
class ProviderView:
    """One provider's way of resizing.

    ``patch_px`` is the side of the square that becomes one token, in pixels as seen, or
    None if there is none or it is unknown. ``tokens_of`` returns an image's tokens for
    its size as seen; None if no formula is published.
    """

    name: str
    summary: str
    resize: Callable[[SizePx], SizePx]
    patch_px: int | None = None
    tokens_of: Callable[[SizePx], int] | None = None
    resampling: Image.Resampling = Image.Resampling.BICUBIC
    resampling_note: str = _UNKNOWN_FILTER

    def seen(self, sent: SizePx) -> SizePx:
        """Return the size at which the model sees an image of ``sent`` pixels."""
        if min(sent.rows, sent.columns) < 1:
            raise WrongUseError(
                "An image without pixels cannot be sent.", "Choose a side of 1 or more."
            )
        return self.resize(sent)

    def tokens(self, sent: SizePx) -> int | None:
        """Return the tokens of an image of ``sent`` pixels, None if unknown."""
        return self.tokens_of(self.seen(sent)) if self.tokens_of else None

    def affine(self, sent: SizePx) -> Affine:
        """Return the map from sent pixel coordinates to those of the image as seen."""
        seen = self.seen(sent)
        scale_x, scale_y = seen.columns / sent.columns, seen.rows / sent.rows
        return Affine(scale_x, 0.0, 0.0, 0.0, scale_y, 0.0)

    def apply(self, raster: Raster) -> Raster:
        """Return the pixels as the model sees them; see ``resampling_note``."""
        seen = self.seen(raster.size)
        if seen == raster.size:
            return raster
        image = Image.fromarray(raster.pixels)
        resized = image.resize((seen.columns, seen.rows), self.resampling)
        return Raster(np.ascontiguousarray(resized, dtype=np.uint8))

    def warnings(
        self, sent: SizePx, grid: Grid, label_px: float | None = None
    ) -> tuple[str, ...]:
        """Return a sentence for each detail of the grid that the model may not see.

        ``label_px`` is the height of a label in pixels of the sent image.
        """
        seen, scale = self.seen(sent), self.affine(sent)
        cell = min(seen.columns / grid.columns, seen.rows / grid.rows)
        sentences = []
        if self.patch_px is not None and cell < self.patch_px:
            sentences.append(
                "A grid cell is smaller than a patch "
                f"({_tenths(cell)} < {self.patch_px} px)."
            )
        height = math.inf if label_px is None else label_px * scale.e
        if height < MIN_LABEL_PX:
            sentences.append(
                f"The labels are {_tenths(height)} px high after resizing, "
                f"under {MIN_LABEL_PX}."
            )
        return tuple(sentences)


def smart_resize(size: SizePx, factor: int, min_pixels: int, max_pixels: int) -> SizePx:
    """Return the size to which Qwen's image processors resize.

    Both sides become multiples of ``factor``, the nearest ones unless their product is
    outside [min_pixels, max_pixels]; then the image is scaled to that area first, and
    the sides rounded down or up (transformers, ``smart_resize``).
    """
    rows, columns = size.rows, size.columns
    if max(rows, columns) > _MOST_ELONGATED * min(rows, columns):
        raise WrongUseError(
            f"An image of {columns} × {rows} pixels is too long and narrow for Qwen.",
            f"One side may be at most {_MOST_ELONGATED} times the other.",
        )
    nearest = SizePx(round(rows / factor) * factor, round(columns / factor) * factor)
    area = nearest.rows * nearest.columns
    if area > max_pixels:
        shrink = math.sqrt(rows * columns / max_pixels)
        return SizePx(
            max(factor, math.floor(rows / shrink / factor) * factor),
            max(factor, math.floor(columns / shrink / factor) * factor),
        )
    if area < min_pixels:
        grow = math.sqrt(min_pixels / (rows * columns))
        return SizePx(
            math.ceil(rows * grow / factor) * factor,
            math.ceil(columns * grow / factor) * factor,
        )
    return nearest


def _scaled(size: SizePx, scale: float) -> SizePx:
    return SizePx(max(1, round(size.rows * scale)), max(1, round(size.columns * scale)))


def _openai_low(size: SizePx) -> SizePx:
    """Fit into 512 × 512, never enlarging."""
    return _scaled(size, min(1.0, 512 / max(size.rows, size.columns)))


def _openai_high(size: SizePx) -> SizePx:
    """Fit into 2048 × 2048, then bring the shorter side to 768, never enlarging."""
    longest, shortest = max(size.rows, size.columns), min(size.rows, size.columns)
    return _scaled(size, min(1.0, 2048 / longest, 768 / shortest))


def _tiles(size: SizePx) -> int:
    """Count 170 tokens for each tile of 512 pixels, and 85 for the whole."""
    return 85 + 170 * _blocks(size, 512)


def _openai_patch(size: SizePx) -> SizePx:
    """Shrink until at most 1536 patches of 32 pixels cover the image.

    The scale fits the area to the limit and then one side to whole patches, so that
    partial patches at the far edges need no extra ones.
    """
    if _blocks(size, 32) <= _PATCH_BUDGET:
        return size
    scale = math.sqrt(_PATCH_BUDGET * 32 * 32 / (size.rows * size.columns))
    across, down = size.columns * scale / 32, size.rows * scale / 32
    fit = min(math.floor(n) / n for n in (across, down) if n >= 1)
    return SizePx(
        # 1e-6: a product meant to be whole may come out a last bit below it.
        max(1, math.floor(size.rows * scale * fit + 1e-6)),
        max(1, math.floor(size.columns * scale * fit + 1e-6)),
    )


def _claude(size: SizePx) -> SizePx:
    """Return the largest size of the same proportions with at most 1568 px and tokens.

    Padding to whole patches at the right and bottom moves no coordinate.
    """
    longest = max(size.rows, size.columns)
    for edge in range(min(longest, _CLAUDE_EDGE), 0, -1):
        fitted = size if edge == longest else _scaled(size, edge / longest)
        if _blocks(fitted, _CLAUDE_PATCH) <= _CLAUDE_TOKENS:
            return fitted
    return SizePx(1, 1)


def _gemini(size: SizePx) -> SizePx:
    """Bring the longer side to 768 at least and 3072 at most, in proportion."""
    longest = max(size.rows, size.columns)
    return _scaled(size, min(max(longest, _GEMINI_MIN), _GEMINI_MAX) / longest)


def _qwen2_5(size: SizePx) -> SizePx:
    return smart_resize(size, 28, 56 * 56, 28 * 28 * 1280)


def _qwen2_5_hub(size: SizePx) -> SizePx:
    return smart_resize(size, 28, 56 * 56, 28 * 28 * 16384)


def _qwen3(size: SizePx) -> SizePx:
    return smart_resize(size, 32, 256 * 256, 4096 * 4096)


def _unchanged(size: SizePx) -> SizePx:
    return size


def _gemma3(size: SizePx) -> SizePx:
    del size
    return SizePx(_GEMMA_SIDE, _GEMMA_SIDE)


def _blocks(size: SizePx, side: int) -> int:
    """Return the number of squares of ``side`` pixels that cover an image."""
    return math.ceil(size.rows / side) * math.ceil(size.columns / side)


def _tenths(pixels: float) -> str:
    """Return pixels to one decimal, rounded down, so that a miss is not hidden."""
    return f"{math.floor(pixels * 10) / 10:g}"


_VIEWS = (
    ProviderView(
        "none",
        "the model sees exactly what is sent",
        _unchanged,
        resampling_note="nothing is resampled",
    ),
    ProviderView(
        "openai_low",
        "detail low of tiled models: one view of at most 512 × 512",
        _openai_low,
        tokens_of=lambda size: 85,  # noqa: ARG005 - the price does not depend on it
    ),
    ProviderView(
        "openai_high",
        "detail high of tiled models: shorter side 768, tiles of 512",
        _openai_high,
        tokens_of=_tiles,
    ),
    ProviderView(
        "openai_patch",
        "newer models: at most 1536 patches of 32 px; tokens at a factor of 1.2",
        _openai_patch,
        patch_px=32,
        tokens_of=lambda size: math.ceil(_blocks(size, 32) * _PATCH_TOKENS),
    ),
    ProviderView(
        "claude",
        "longer side at most 1568, at most 1568 patches of 28 px",
        _claude,
        patch_px=_CLAUDE_PATCH,
        tokens_of=lambda size: _blocks(size, _CLAUDE_PATCH),
    ),
    ProviderView(
        "gemini",
        "longer side 768 to 3072; patches and tokens are not published",
        _gemini,
    ),
    ProviderView(
        "qwen2_5",
        "smart_resize to multiples of 28, at most 1280 tokens",
        _qwen2_5,
        patch_px=28,
        tokens_of=lambda size: _blocks(size, 28),
        resampling_note="bicubic, as in the model's image processor",
    ),
    ProviderView(
        "qwen2_5_hub",
        "smart_resize to multiples of 28, at most 16384 tokens, as the weights' own "
        "preprocessor_config.json says",
        _qwen2_5_hub,
        patch_px=28,
        tokens_of=lambda size: _blocks(size, 28),
        resampling_note="bicubic, as in the model's image processor",
    ),
    ProviderView(
        "qwen3",
        "smart_resize to multiples of 32, at most 16,777,216 pixels",
        _qwen3,
        patch_px=32,
        tokens_of=lambda size: _blocks(size, 32),
        resampling_note="bicubic, as in the model's image processor",
    ),
    ProviderView(
        "gemma3",
        "Gemma 3 and MedGemma: stretched to 896 × 896, 256 tokens",
        _gemma3,
        patch_px=56,
        tokens_of=lambda size: _GEMMA_TOKENS,  # noqa: ARG005 - always the same
        resampling=Image.Resampling.BILINEAR,
        resampling_note="bilinear, as in the model's image processor",
    ),
)

PROVIDER_VIEWS: Mapping[str, ProviderView] = MappingProxyType(
    {view.name: view for view in _VIEWS}
)
"""Every view by its name in a model's profile."""


def provider_view_named(name: str) -> ProviderView:
    """Return a view of the table; an unknown name raises ``WrongUseError``."""
    if name not in PROVIDER_VIEWS:
        raise WrongUseError(
            f"The provider view '{name}' is unknown.",
            f"Choose one of {', '.join(PROVIDER_VIEWS)}.",
        )
    return PROVIDER_VIEWS[name]
