"""Captions of fields of tissue, as an atlas might print them, with nothing untrue."""

from viewer.services.synthetic.phantom.tissue_scene import Field, Nucleus


def caption(field: Field) -> str:
    """Return a field's caption: its tissue, its glands and its mitotic figures."""
    glands, mitoses = len(field.glands), field.counts[Nucleus.MITOSIS]
    return f"{field.tissue}. Glands: {glands}. Mitotic figures: {mitoses}."
