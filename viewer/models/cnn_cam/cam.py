"""Grad-CAM (Selvaraju 2017, eqs. 1 and 2), and its map over the image shown.

α_k is the mean over positions of ∂score/∂A_k, the map is ReLU(Σ_k α_k·A_k) with A_k the
k-th channel of the layer. Captum computes it for a named layer.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import Affine, SizePx
from viewer.domain.image import Raster
from viewer.domain.image_geometry import ImageGeometry
from viewer.imaging.interpolation import axis_weights
from viewer.imaging.resample import fit, fit_affine
from viewer.models.cnn_cam.card import NetworkInput
from viewer.models.cnn_cam.network import Network

_GREY = np.array([0.299, 0.587, 0.114])
_WHITE = 255.0


def shown_numbers(raster: Raster, shown: NetworkInput) -> npt.NDArray[np.float32]:
    """Return the (1, channels, side, side) input of a network.

    Colour becomes grey by the luma of ITU-R BT.601; grey is repeated in every channel.
    """
    fitted = fit(raster, shown.side, shown.fit).pixels.astype(np.float64)
    grey = fitted @ _GREY if fitted.ndim == 3 else fitted
    ranged = shown.low + grey / _WHITE * (shown.high - shown.low)
    mean, std = (np.array(v)[:, None, None] for v in (shown.mean, shown.std))
    return np.asarray((ranged - mean) / std, dtype=np.float32)[None]


def grad_cam(
    network: Network, numbers: npt.NDArray[np.floating[Any]], score: int
) -> tuple[npt.NDArray[np.float64], float]:
    """Return the (rows, columns) map of one score, and the score itself.

    The map has the resolution of the layer, and no negative values.
    """
    import torch

    given = torch.from_numpy(numbers).to(network.device).requires_grad_(True)
    # With benchmark, cuDNN picks its algorithm by time, and sums differ by run.
    exact = torch.backends.cudnn.flags(deterministic=True, benchmark=False)
    with exact, torch.enable_grad():
        maps_of = _own_maps if network.layer is None else _captum
        found, value = maps_of(network, given, score)
    return found.detach().cpu().double().numpy(), float(value)


def _captum(network: Network, given: Any, score: int) -> tuple[Any, float]:  # noqa: ANN401 - untyped library
    import torch
    from captum.attr import LayerGradCam

    layered = LayerGradCam(network.module, network.layer)
    found = layered.attribute(given, target=score, relu_attributions=True)
    with torch.no_grad():
        return found[0, 0], network.module(given)[0, score].item()


def _own_maps(network: Network, given: Any, score: int) -> tuple[Any, float]:  # noqa: ANN401 - untyped library
    import torch

    scores, maps = network.module(given)
    (slopes,) = torch.autograd.grad(scores[0, score], maps)
    weights = slopes.mean(dim=(2, 3), keepdim=True)
    found = torch.relu((weights * maps).sum(dim=1))
    return found[0], scores[0, score].item()


def laid_over(
    found: npt.NDArray[np.float64], size: SizePx, shown: NetworkInput, side: int
) -> npt.NDArray[np.float64]:
    """Return the map over the whole image sent, ``side`` × ``side``, at most 1.

    Bilinear between the centres of the coarse map's elements, constant beyond the
    outermost, and 0 where the image was cropped before the network saw it. A map of
    zeros stays zero.
    """
    to_network = fit_affine(ImageGeometry(size), shown.side, shown.fit)
    down = _weights(found.shape[0], size.rows, _down(to_network), shown.side, side)
    across = _weights(
        found.shape[1], size.columns, _across(to_network), shown.side, side
    )
    wide = down @ found @ across.T
    greatest = float(wide.max())
    return wide / greatest if greatest > 0 else wide


def _down(affine: Affine) -> tuple[float, float]:
    return affine.e, affine.f


def _across(affine: Affine) -> tuple[float, float]:
    return affine.a, affine.c


def _weights(
    coarse: int, length: int, line: tuple[float, float], seen: int, side: int
) -> npt.NDArray[np.float64]:
    """Return the (side, coarse) weights that interpolate along one axis.

    ``line`` is the scale and shift from the image (``length`` pixels) to the network's
    input (``seen`` pixels).
    """
    scale, shift = line
    at = ((np.arange(side) + 0.5) * length / side) * scale + shift
    weights = axis_weights(at * coarse / seen, coarse)
    weights[(at < 0) | (at > seen)] = 0
    return weights
