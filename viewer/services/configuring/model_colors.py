"""Each model's colour: set in its profile, the same in every view and figure."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from viewer.domain.documents import read_toml
from viewer.domain.errors import OverreadError
from viewer.domain.styles import MODEL_NAMES, MODELS, know_models
from viewer.models.catalog import COLOUR, builtin_profiles
from viewer.settings import read_settings
from viewer.store.database import Store
from viewer.store.runs import models_asked

_KEPT: Final = 4


def assign_model_colors(store: Store) -> None:
    """Give models the colours of their profiles, others one in the store's order."""
    file = read_settings(store.path).models_file
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    know_models(_places(text, models_asked(store)))


@lru_cache(maxsize=_KEPT)
def _places(text: str, asked: tuple[str, ...]) -> Mapping[str, int]:
    """Return each model's index in the palette.

    Baselines have the last colours, so that they differ from the user's first models.
    Models without a profile, or imported without one, are coloured in the order in
    which they appeared in the store.
    """
    baselines = [profile.name for profile in builtin_profiles()]
    last = {name: len(MODELS) - 1 - n for n, name in enumerate(baselines)}
    places = own_places(_tables(text))
    rest = [name for name in asked if name not in last and name not in places]
    return {**{name: n for n, name in enumerate(rest)}, **last, **places}


def own_places(tables: Sequence[Mapping[str, object]]) -> dict[str, int]:
    """Return the palette indices of the user's models: as set, else the first free.

    If none is free, the one used least.
    """
    chosen = {
        str(table.get("name")): MODEL_NAMES.index(str(table[COLOUR]))
        for table in tables
        if table.get(COLOUR) in MODEL_NAMES
    }
    places = dict(chosen)
    for table in tables:
        name = str(table.get("name"))
        if name not in places:
            places[name] = free_place(list(places.values()))
    return places


def free_place(taken: Sequence[int]) -> int:
    """Return the least used palette index, the first for ties."""
    return min(range(len(MODELS)), key=lambda place: (taken.count(place), place))


def _tables(text: str) -> list[Mapping[str, object]]:
    """Return the tables of a models.toml, none if it is damaged."""
    try:
        found = read_toml(text).get("model", [])
    except (OverreadError, ValueError):
        return []
    tables = found if isinstance(found, list) else []
    return [table for table in tables if isinstance(table, Mapping)]
