"""Controls that several studies ask with: noise for an image, others' in its place."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from viewer.domain.image import Raster
from viewer.imaging.noise import gaussian_noise
from viewer.imaging.resample import shrunk_size
from viewer.studies.steps import Sources

_MOST_DRAWN: Final = 100
"""Random orders tried; of different texts about every third is a derangement."""


def noise_for(
    image: str, item: str, sources: Sources, mean: float, sd: float
) -> Raster:
    """Return Gaussian noise of an image's size, in grey levels, for one item."""
    size, seed = shrunk_size(sources.image(image).geometry, None), sources.seed
    return sources.made(
        ("noise", item, image),
        lambda: gaussian_noise(size, mean, sd, seed, item, image),
    )


def exchanged(texts: Mapping[str, str], rng: np.random.Generator) -> dict[str, str]:
    """Return for each key another one with another text; each is given once.

    Where more than half have the same text, so many of these as there is no other text
    for get "".
    """
    keys = list(texts)
    kept = _exchangeable([texts[key] for key in keys], rng)
    places = derangement([texts[keys[i]] for i in kept], rng)
    given = {keys[i]: keys[kept[j]] for i, j in zip(kept, places, strict=True)}
    return {key: given.get(key, "") for key in keys}


def _exchangeable(texts: Sequence[str], rng: np.random.Generator) -> list[int]:
    """Return the places of texts but the surplus of one that most of them are."""
    if not texts:
        return []
    commonest, count = Counter(texts).most_common(1)[0]
    alike = [i for i, text in enumerate(texts) if text == commonest]
    surplus = max(0, 2 * count - len(texts))
    dropped = {alike[i] for i in rng.permutation(count)[:surplus].tolist()}
    return [i for i in range(len(texts)) if i not in dropped]


def derangement(texts: Sequence[str], rng: np.random.Generator) -> Sequence[int]:
    """Return a random permutation that leaves no text at a place with the same text.

    Permutations are drawn until one qualifies, so that all are equally likely. With
    many identical texts none may turn up: then each place left with its own text swaps
    with a random place for which that helps. No text may make up more than half of
    all; then such a permutation always exists.
    """
    for _ in range(_MOST_DRAWN):
        order: list[int] = rng.permutation(len(texts)).tolist()
        if all(texts[i] != text for i, text in zip(order, texts, strict=True)):
            return order
    for place, text in enumerate(texts):
        if texts[order[place]] == text:
            fit = [
                other
                for other, own in enumerate(texts)
                if own != text and texts[order[other]] != text
            ]
            other = fit[int(rng.integers(len(fit)))]
            order[place], order[other] = order[other], order[place]
    return order
