"""The settings of the adapter for classifying networks."""

from pathlib import Path
from typing import Final

from viewer.models.protocol import Setting

CNN_SETTINGS: Final = (
    Setting(
        "card",
        Path,
        None,
        "the network's card, a TOML file",
        required=True,
        ending=".toml",
    ),
    Setting(
        "trusted",
        str,
        None,
        "what may run code here: the network file's SHA-256, or the factory's name",
    ),
    Setting(
        "device",
        str,
        "auto",
        "where the network runs; auto uses a GPU if there is one",
        choices=("auto", "cpu", "cuda", "mps"),
    ),
    Setting(
        "map_side", int, 64, "rows and columns of the map", minimum=1, maximum=1024
    ),
)
"""The settings in the order that a form shows them."""
