"""Images of cases and data sets."""

from dataclasses import replace
from pathlib import Path

import pytest

from viewer.domain.case import DatasetImage, ImageHeader, ImageRef, View
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry

REF = ImageRef(Path("a.png"))
GEOMETRY = ImageGeometry(SizePx(30, 40))
IMAGE = DatasetImage("a", "p", "s", View.FRONTAL, REF, GEOMETRY, "0" * 64)


def test_that_an_image_has_the_size_of_its_geometry() -> None:
    header = ImageHeader(REF, GEOMETRY, 1, "CR", View.FRONTAL, "p", "s", "r")
    assert header.size == IMAGE.size == SizePx(30, 40)


@pytest.mark.parametrize("where", ["labels", "defects"])
def test_that_a_finding_is_called_what_its_image_calls_it(where: str) -> None:
    values: dict[str, object] = {"Lung Opacity": True, "Edema": False}
    image = replace(IMAGE, **{where: values})  # type: ignore[arg-type]
    assert image.word_for("lung opacity") == "Lung Opacity"
    assert image.word_for("Edema") == "Edema"
    assert image.word_for("Fracture") == "Fracture"
