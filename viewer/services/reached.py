"""In words what was asked of a model's inside, and what it told of it."""

from collections.abc import Mapping
from math import exp
from typing import Any, Final

import numpy as np

from viewer.domain.exchange import ModelReply
from viewer.domain.geometry import SizePx
from viewer.domain.inside import Measured, WeightForm
from viewer.domain.reference import Mask

Said = tuple[tuple[str, str], ...]
_MOST: Final = 12
"""Parts of a prompt that are told of."""


def asked_inside(document: Mapping[str, Any]) -> Said:
    """Return what a request highlights, as a line of who said what.

    ``document`` is what the request's key is a hash of.
    """
    light = document.get("highlight")
    if light is None:
        return ()
    rows, columns = light["mask"]["size"]
    region = Mask(SizePx(rows, columns), light["mask"]["counts"]).array()
    by = "its logarithm" if light["form"] == WeightForm.LOG.value else "itself"
    contrast = light["contrast"]
    told = "no contrast" if contrast == 1 else f"contrast {contrast:g} with the plain"
    said = (
        f"{region.mean():.1%} of image {light['image'] + 1}, weight "
        f"{light['weight']:g} added as {by}, {told}"
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
