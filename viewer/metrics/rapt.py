"""Relative attention per token (Liu et al. 2025; MEDSYN, appendix B.2; E004-16)."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]


def rapt(
    attention: npt.ArrayLike, sections: Mapping[str, Sequence[int]]
) -> dict[str, _Floats]:
    """Return each section's mean attention per token over the input's, by layer.

    Parameters
    ----------
    attention : (layers, tokens) array
        Attention from the query to every input token, averaged over heads, at least 0;
        it is normalised to sum to 1 over the input tokens in each layer.
    sections : mapping
        The token indices of each section; together every input token once. A section
        without tokens is NaN in every layer.

    Returns
    -------
    dict
        RAPT of each section, (layers,): 1 is what uniform attention gives.

    Raises
    ------
    ValueError
        If the sections do not contain every token once, or a layer has no attention.
    """
    weights = np.atleast_2d(np.asarray(attention, dtype=np.float64))
    tokens = weights.shape[1]
    if sorted(i for of in sections.values() for i in of) != list(range(tokens)):
        raise ValueError("the sections do not hold every input token once")
    total = weights.sum(axis=1, keepdims=True)
    if np.any(weights < 0) or not np.all(total > 0):
        raise ValueError("a layer attends to nothing, or less than nothing")
    shares = weights / total
    return {name: _of_section(shares, list(of)) for name, of in sections.items()}


def weighted_sum(
    found: Mapping[str, _Floats], sections: Mapping[str, Sequence[int]]
) -> _Floats:
    """Return Σ (N_S / N) · RAPT_S of each layer, which is 1 for every valid RAPT."""
    tokens = sum(len(of) for of in sections.values())
    parts = [found[name] * (len(of) / tokens) for name, of in sections.items() if of]
    return np.asarray(np.sum(parts, axis=0))


def _of_section(shares: _Floats, tokens: list[int]) -> _Floats:
    if not tokens:
        return np.full(shares.shape[0], np.nan)
    return np.asarray(shares[:, tokens].mean(axis=1) * shares.shape[1])
