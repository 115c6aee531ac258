"""The API's ``Store``, and synthetic data to try it with."""

from pathlib import Path
from typing import Self

from viewer.api.asking import Asking
from viewer.api.importing import Importing
from viewer.api.results import Results


class Store(Importing, Results, Asking):
    """An open store, used by the thread that opened it; ``with`` closes it.

    ``path`` is its SQLite file, ``home`` the folder of the user's models and data.
    Every ``run`` argument may be a :class:`Run`, its number, or ``"last"``; a run that
    is not in the store raises ``WrongUseError``.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store; everything asked so far is kept."""
        self._opened.close()


def open_store(path: str | Path | None = None) -> Store:
    """Open a store; a new one is created if there is none.

    Parameters
    ----------
    path : path, optional
        The SQLite file; default: that of the window and the command line, or the one
        named by ``OVERREAD_STORE``.

    Raises
    ------
    StoreError
        The file is not a store, is damaged or of a newer version, or its folder cannot
        be written to.
    """
    from viewer.settings import read_settings
    from viewer.store import database

    settings = read_settings(None if path is None else Path(path))
    return Store(settings.store, settings.home, database.open_store(settings.store))


def phantom(
    folder: str | Path,
    n: int = 10,
    *,
    seed: int = 0,
    study: str = "grid_localization",
    size: tuple[int, int] | None = None,
) -> Path:
    """Write synthetic data with their truth, to try a study with; return the folder.

    Parameters
    ----------
    folder : path
        An empty or new folder, or one with the same collection, which is completed.
    n : int
        How many patients, cases, tiles of tissue or questions.
    seed : int
        The same arguments give the same bytes.
    study : str
        grid_localization (chest radiographs with outlined findings, of the format
        chexlocalize), rubric_reading, grounded_vqa, pathology_mcq, evidence_diagnosis
        or question_set.
    size : (rows, columns), optional
        Of every image; default: the study's default.

    Raises
    ------
    WrongUseError
        The study is unknown, a number out of range, or the folder contains other files.
    """
    from viewer.domain.geometry import SizePx
    from viewer.services.synthetic.phantoms import phantom_for

    chosen = None if size is None else SizePx(*size)
    kind = phantom_for(study)
    return kind.write(Path(folder), n, seed, chosen, lambda *_: None).folder
