"""Overread for notebooks and scripts.

It uses the services that the window and the command line use, and the same store::

    from viewer import api

    with api.open_store() as store:
        run = store.run(store.plan("study.toml"))
        rates = store.records(run).groupby("model").correct.mean()

Everything that comes back is frozen data. Importing this is cheap: pandas, the imaging
libraries and models are loaded when they are first needed, Qt never. Errors are
:class:`OverreadError`: one sentence of what is wrong, one of how to fix it.
"""

from viewer.api.data import (
    Answer,
    Box,
    Dataset,
    Figure,
    Model,
    Point,
    Progress,
    Run,
    Settled,
    Table,
)
from viewer.api.progress import text_bar
from viewer.api.store import Store, open_store, phantom
from viewer.domain.errors import (
    MissingDependencyError,
    OverreadError,
    PrivacyError,
    StoreError,
    UnreadableInputError,
    WrongUseError,
)
from viewer.results.item_columns import ITEM_COLUMNS

__all__ = [
    "ITEM_COLUMNS",
    "Answer",
    "Box",
    "Dataset",
    "Figure",
    "MissingDependencyError",
    "Model",
    "OverreadError",
    "Point",
    "PrivacyError",
    "Progress",
    "Run",
    "Settled",
    "Store",
    "StoreError",
    "Table",
    "UnreadableInputError",
    "WrongUseError",
    "open_store",
    "phantom",
    "text_bar",
]
