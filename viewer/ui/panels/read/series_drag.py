"""A series on its way from the case browser into a viewport."""

from typing import Final

from PySide6.QtCore import QMimeData

_TYPE: Final = "application/x-overread-series"


def series_data(key: tuple[str, ...]) -> QMimeData:
    """Return what is dragged: the keys of patient, study and stack."""
    data = QMimeData()
    data.setData(_TYPE, "\0".join(key).encode())
    return data


def series_key(data: QMimeData) -> tuple[str, ...]:
    """Return the keys of the series that is dragged, empty for anything else."""
    text = bytes(data.data(_TYPE).data()).decode()
    return tuple(text.split("\0")) if text else ()
