"""The models of the batch page, each with a box to tick."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from viewer.domain.escapes import visible
from viewer.services.running.batch_form import ModelState
from viewer.ui.widgets.plain_text import as_tip

NAME: Final = Qt.ItemDataRole.UserRole
"""Under which role an item has its model's name."""


def model_item(state: ModelState, models: QListWidget) -> QListWidgetItem:
    """Add a model, not ticked; one that is not ready cannot be."""
    item = QListWidgetItem(visible(f"{state.name} · {state.state}"), models)
    item.setData(NAME, state.name)
    item.setToolTip(as_tip(f"{state.summary}\n{state.state}"))
    item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
    if not state.ready:
        item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEnabled)
    item.setCheckState(Qt.CheckState.Unchecked)
    return item


def tick(item: QListWidgetItem, names: Sequence[str]) -> None:
    """Tick an item where its model is named."""
    on = item.data(NAME) in names
    item.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)


def ticked_in(models: QListWidget) -> list[str]:
    """Return the names of the ticked models, in their order."""
    items = [models.item(row) for row in range(models.count())]
    ticked = [i for i in items if i.checkState() is Qt.CheckState.Checked]
    return [str(item.data(NAME)) for item in ticked]


def tick_models(models: QListWidget, names: Sequence[str]) -> None:
    """Tick these models; those that only the study file knows are added."""
    items = [models.item(row) for row in range(models.count())]
    known = {item.data(NAME) for item in items}
    own = "from the study file"
    items += [
        model_item(ModelState(name, own, own, ready=True), models)
        for name in names
        if name not in known
    ]
    for item in items:
        tick(item, names)
