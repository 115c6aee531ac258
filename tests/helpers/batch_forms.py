"""A filled form of the batch page, and a server for it that nobody runs."""

from dataclasses import replace

from viewer.services.running.batch_form import BatchForm

SERVER = """
[[model]]
name = "mine"
adapter = "openai_api"
base_url = "http://127.0.0.1:9/v1"
model = "tiny"
price_in = 0.15
price_out = 2
"""


def a_form(**changes: object) -> BatchForm:
    """Return the form of two grids and two models over the tiny data set."""
    form = BatchForm(
        study="grid_localization",
        dataset="tiny",
        preset="gosai2025",
        models=("uniform", "asymmetry"),
        seed=3,
        repeats=2,
        params={"grids": ["8", "4x6"]},
    )
    return replace(form, **changes)  # type: ignore[arg-type]
