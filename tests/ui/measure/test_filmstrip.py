"""A strip of any number of trials reads them as one scrolls."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import QModelIndex, Qt
from pytestqt.qtbot import QtBot

from viewer.domain.answer import Status
from viewer.domain.case import ImageRef
from viewer.domain.image import Raster
from viewer.domain.result import Score
from viewer.services.inspecting.runs import TrialRow
from viewer.ui.panels.measure.film_picture import FilmPicture
from viewer.ui.panels.measure.filmstrip import FilmModel


def _row(trial: int) -> TrialRow:
    ref, score = ImageRef(Path("a.png")), Score(Status.REFUSED)
    return TrialRow(trial, "a|Edema", ref, "Edema", "frontal", "grid=8", "m", 0, score)


def _draw(row: TrialRow) -> FilmPicture:
    del row
    return FilmPicture(Raster(np.zeros((4, 4, 3), np.uint8)), "")


def test_that_trials_are_read_page_by_page_in_their_order(qtbot: QtBot) -> None:
    asked: list[int] = []

    def list_(ids: Sequence[int]) -> tuple[TrialRow, ...]:
        asked.append(len(ids))
        return tuple(map(_row, ids))

    model = FilmModel(_draw, None, list_)
    ids = list(range(900, 450, -1))
    model.show_ids(ids)
    for n in (200, 400, 450):
        qtbot.waitUntil(lambda n=n: model.rowCount() == n)  # type: ignore[misc]
        assert model.canFetchMore() is (n < 450)
        model.fetchMore(QModelIndex())
    assert [row.trial for row in model.trials] == ids
    assert asked == [200, 200, 50]


def test_that_other_trials_meanwhile_take_the_place_of_those_not_read_yet(
    qtbot: QtBot,
) -> None:
    model = FilmModel(_draw, None, lambda ids: tuple(map(_row, ids)))
    model.show_ids(list(range(1_000)))
    model.show_ids([7, 8])
    qtbot.waitUntil(lambda: model.rowCount() == 2)
    assert [row.trial for row in model.trials] == [7, 8]
    assert not model.canFetchMore()
    model.show_ids([])
    assert model.rowCount() == 0


def test_that_a_tile_without_an_image_shows_what_was_asked(qtbot: QtBot) -> None:
    black = Raster(np.zeros((4, 4, 3), np.uint8))
    model = FilmModel(lambda _: FilmPicture(black, "", "Which lobe is it?"))
    model.show_trials((_row(1),))
    tile = model.index(0)
    tile.data(Qt.ItemDataRole.DecorationRole)
    qtbot.waitUntil(lambda: model.pictures_drawn == 1, timeout=10_000)
    shown = tile.data(Qt.ItemDataRole.DecorationRole).toImage()
    lit = {
        shown.pixelColor(x, y).lightness()
        for x in range(shown.width())
        for y in range(40)
    }
    assert max(lit) > 100
