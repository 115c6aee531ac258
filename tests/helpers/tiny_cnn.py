"""A tiny classifying network with fixed weights, its files and its card."""

from pathlib import Path

import torch
from torch import nn

FACTORY = "tests.helpers.tiny_cnn:TinyNet"
SIDE = 16
CLASSES = {"Edema": 1, "Pneumothorax": 0, "Pleural Effusion": 2}


class TinyNet(nn.Module):
    """Two convolutions and a linear head on the mean of the last maps."""

    def __init__(self, scores: int = 3) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(4, 6, 3, padding=1),
            nn.ReLU(),
        )
        self.head = nn.Linear(6, scores)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Return (images, scores)."""
        scores: torch.Tensor = self.head(self.features(image).mean(dim=(2, 3)))
        return scores


class WithMaps(nn.Module):
    """The same network, returning its last maps beside the scores."""

    def __init__(self, net: TinyNet) -> None:
        super().__init__()
        self.net = net

    def forward(self, image: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return (images, scores) and the last maps."""
        maps = self.net.features(image)
        return self.net.head(maps.mean(dim=(2, 3))), maps


def tiny_net(seed: int = 0) -> TinyNet:
    """Return the network with seeded weights; every score looks at some place."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        net = TinyNet().eval()
        with torch.no_grad():
            net.head.weight.abs_()
    return net


def write_tiny_network(
    folder: Path, network: str = "", layer: str = "features"
) -> Path:
    """Write weights and a card for them into a folder and return the card's path.

    ``network`` are the lines of its [network], by default the factory's with
    safetensors.
    """
    from safetensors.torch import save_file

    save_file(dict(tiny_net().state_dict()), folder / "net.safetensors")
    lines = network or f'factory = "{FACTORY}"\nweights = "net.safetensors"'
    classes = "\n".join(f'"{name}" = {number}' for name, number in CLASSES.items())
    card = folder / "card.toml"
    card.write_text(
        f'name = "tiny"\nlayer = "{layer}"\n[network]\n{lines}\n'
        f"[input]\nside = {SIDE}\nmean = [0.5]\nstd = [0.25]\n[classes]\n{classes}\n"
    )
    return card
