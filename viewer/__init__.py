"""Overread: read medical images together with multimodal models, and measure them."""

__version__ = "0.1.0"
