"""Odd runs have their figures too, and every one of them can be written."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from tests.helpers.small_store import a_dataset
from tests.unit.studies.grid_localization.cases import spec
from tests.unit.studies.grid_localization.runs import result
from viewer.domain.answer import Status
from viewer.domain.figure import RateFigure, StackFigure
from viewer.domain.pack import PackData
from viewer.domain.result import TrialResult
from viewer.studies.grid_localization.figures_heat import heat_maps
from viewer.studies.grid_localization.pack import PACK
from viewer.studies.grid_localization.placed import PlacedTrial
from viewer.studies.grid_localization.report import report
from viewer.studies.packs import PackInput
from viewer.writers.figures_files import figure_files, figure_picture
from viewer.writers.pack_html import PackPage, render_pack

FIRST, SECOND = "Cardiomegaly", "Edema"


class Grey:
    """Pictures without anything on them."""

    def sent(self, image: str, condition: str) -> npt.NDArray[np.uint8]:
        """Return a flat image."""
        del image, condition
        return np.full((64, 64), 90, dtype=np.uint8)

    def gridded(self, image: str, condition: str) -> npt.NDArray[np.uint8]:
        """Return the same in colour."""
        return np.stack([self.sent(image, condition)] * 3, axis=-1)

    def native(self, image: str, most: int) -> npt.NDArray[np.uint8]:
        """Return the same."""
        del most
        return self.sent(image, "")

    def mask(self, image: str, finding: str) -> npt.NDArray[np.bool_]:
        """Return an empty mask."""
        del image, finding
        return np.zeros((64, 64), dtype=bool)

    def prompt(self, result: TrialResult) -> str:
        """Return no words."""
        del result
        return ""


def trials(
    answer: int | None, view: str = "frontal", status: Status = Status.UNPARSED
) -> list[PlacedTrial]:
    """Return two findings of one patient, all answered alike."""
    return [
        result("p1_i", finding, answer, (3,), view=view, status=status)
        for finding in (FIRST, SECOND)
    ]


ODD = {
    "all hits": trials(3),
    "all refused": trials(None, status=Status.REFUSED),
    "all pending": trials(None, status=Status.PENDING),
    "all excluded": trials(None, status=Status.EXCLUDED),
    "lateral alone": trials(3, view="lateral"),
}


@pytest.mark.parametrize("results", ODD.values(), ids=ODD.keys())
def test_that_an_odd_run_has_a_pack(results: Sequence[TrialResult]) -> None:
    settings = spec()
    data = PACK.data(
        PackInput(report(results, settings), results, settings, a_dataset(), Grey())
    )
    numbers = [f for f in data.figures if isinstance(f, RateFigure | StackFigure)]
    files = {
        f"figures/{figure.head.name}.svg": figure_picture(figure, "svg")
        for figure in numbers
    }
    data = replace(data, figures=tuple(numbers))
    page = render_pack(PackPage("grid2025", (), data, tuple(files)), files).decode()
    assert data.missing == ()
    assert ("Incomplete" in page) is (results[0].score.status is Status.PENDING)
    assert {"Figure 2", "Figure 10"} <= {figure.head.number for figure in numbers}


def test_that_a_run_of_refusals_has_heat_maps_of_the_reference_alone() -> None:
    results = trials(None, status=Status.REFUSED)
    (figure,) = heat_maps(results, Grey())
    assert [panel.n for panel in figure.panels] == [1, 0, 1, 0]
    assert figure.greatest == 0
    assert len(figure_files(figure)) == 3


def test_that_several_figures_that_are_missing_are_one_list() -> None:
    data = PackData("Title", "Source", (), (), (), incomplete=False)
    one = replace(data, missing=("Figure 4 needs a & b.",))
    page = render_pack(PackPage("p", (), one, ()), {}).decode()
    assert "Some figures are missing. Figure 4 needs a &amp; b.</div>" in page
    two = replace(data, missing=("Figure 4 needs a.", "Figure 5 needs b."))
    page = render_pack(PackPage("p", (), two, ()), {}).decode()
    assert page.count("Some figures are missing") == 1
    assert page.count('role="note"') == 1
    assert "<li>Figure 4 needs a.</li>\n<li>Figure 5 needs b.</li>" in page
    page = render_pack(PackPage("p", (), data, ()), {}).decode()
    assert "Some figures" not in page
