"""In words what was asked of a model's inside, and what it told of it."""

from collections.abc import Mapping
from math import exp
from typing import Any, Final

import numpy as np

from viewer.domain.exchange import ModelReply
from viewer.domain.inside import Highlight, Measured, WeightForm
from viewer.domain.plain import made

Said = tuple[tuple[str, str], ...]
_MOST: Final = 12
"""Parts of a prompt that are told of."""


def asked_inside(document: Mapping[str, Any]) -> Said:
    """Return what a request highlights, as a line of who said what.

    ``document`` is what the request's key is a hash of.
    """
    if "highlight" not in document:
        return ()
    light = made(Highlight, document["highlight"], where="the request")
    by = "its logarithm" if light.form is WeightForm.LOG else "itself"
    told = f"contrast {light.contrast:g} with the plain"
    said = (
        f"{light.mask.array().mean():.1%} of image {light.image + 1}, weight "
        f"{light.weight:g} added as {by}, {told if light.contrasts else 'no contrast'}"
    )
    return (("highlighted", said),)


def told_inside(reply: ModelReply) -> Said:
    """Return what a model told beside its answer, a line for each kind of thing."""
    measured = reply.measured
    if measured is None:
        return ()
    lines = (
        ("says next", _likelihoods(measured)),
        ("attends to", _attention(measured)),
        ("attends most to", _relevance(measured)),
        ("vision attends to the region", _region(measured)),
    )
    return tuple((who, said) for who, said in lines if said)


def _likelihoods(measured: Measured) -> str:
    return " · ".join(
        f"{option[0].text.strip()} {sum(exp(s.logprob) for s in option):.3g}"
        for option in measured.options
    )


def _attention(measured: Measured) -> str:
    found = measured.attention
    if found is None:
        return ""
    layers = zip(*found.sums, strict=True)
    shares = (sum(section) / len(found.sums) for section in layers)
    return " · ".join(
        f"{name} {share:.1%}" for name, share in zip(found.names, shares, strict=True)
    )


def _relevance(measured: Measured) -> str:
    """Return the images and words that drew most attention, in the prompt's order."""
    found = measured.relevance
    if found is None:
        return ""
    images = [
        (f"image {n}", float(np.sum(image.values)))
        for n, image in enumerate(found.images, start=1)
    ]
    words = [(token.strip() or repr(token), share) for token, share in found.tokens]
    shares = [*images, *words]
    least = sorted((share for _, share in shares), reverse=True)[:_MOST][-1]
    most = [one for one in shares if one[1] >= least][:_MOST]
    return " · ".join(f"{name} {share:.1%}" for name, share in most)


def _region(measured: Measured) -> str:
    if not measured.region:
        return ""
    return f"{sum(measured.region) / len(measured.region):.1%}"
