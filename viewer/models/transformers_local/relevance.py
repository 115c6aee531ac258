"""A model's attention to every part of its images, and every token of the text."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import WrongUseError
from viewer.domain.interpretability import ImageRelevance, Relevance
from viewer.models.transformers_local.foreign import Foreign
from viewer.models.transformers_local.layouts import PatchLayout


def relevance_of(
    row: npt.NDArray[np.float64],
    ids: Sequence[int],
    image: int,
    words: Foreign,
    plans: Sequence[PatchLayout],
) -> Relevance:
    """Return attention over a prompt, its images put together and its text by token.

    Parameters
    ----------
    row : (tokens,) array
        Attention to the prompt's tokens; normalised here to 1.
    ids : sequence of int
        The prompt's tokens.
    image : int
        The id of the token that represents a part of an image.
    words : tokenizer
        The model's tokenizer.
    plans : sequence of PatchLayout
        The layout of every image.
    """
    shares = row / row.sum()
    shown = np.asarray(ids) == image
    maps = maps_of(shares[shown], plans)
    return Relevance(
        tuple(
            ImageRelevance(tuple(tuple(r) for r in values.tolist()), plan.to_sent)
            for values, plan in zip(maps, plans, strict=True)
        ),
        tuple(
            (str(words.decode([token])), float(share))
            for token, share, is_image in zip(ids, shares, shown, strict=True)
            if not is_image
        ),
    )


def maps_of(
    on_images: npt.NDArray[np.float64], plans: Sequence[PatchLayout]
) -> list[npt.NDArray[np.float64]]:
    """Cut (image tokens,) attention into a (rows, columns) map for each image.

    Raises
    ------
    WrongUseError
        If the model represents its images by another number of tokens.
    """
    counts = [plan.tokens for plan in plans]
    if sum(counts) != len(on_images):
        raise WrongUseError(
            f"The model represents its images with {len(on_images)} tokens, but "
            f"{sum(counts)} were expected.",
            "Choose another version of the model.",
        )
    ends = np.cumsum(counts)
    return [
        plan.grid(on_images[end - plan.tokens : end])
        for plan, end in zip(plans, ends, strict=True)
    ]
