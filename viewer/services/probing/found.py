"""Found on this computer: servers of models, and a table for each of their models."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from viewer.models.model_cards import UNKNOWN, card_of
from viewer.models.openai_api.loopback_servers import (
    DeclaredModel,
    LoopbackServer,
    loopback_servers,
)
from viewer.services.configuring.known_cards import note_of
from viewer.services.configuring.model_profiles import NewModel

COLUMNS: Final = ("model", "server", "images", "known_as", "base_url")
"""What the list shows of each model; JSON also has its table."""
_ADAPTER: Final = "openai_api"
_IMAGES: Final = {True: "yes", False: "no", None: UNKNOWN}
_ORDER: Final = {True: 0, None: 1, False: 2}


def found_rows(
    servers: Sequence[LoopbackServer] | None = None,
) -> list[dict[str, object]]:
    """Return a row for each model of a server on this machine.

    Those that see images by what their server declares come first, then those of which
    it says nothing. A server that lists its models only with a key has one row.
    """
    return [_row(server, model) for server, model in _vision_first(servers)]


def found_models(
    servers: Sequence[LoopbackServer] | None = None,
) -> tuple[NewModel, ...]:
    """Return the models that may see images, to be offered by New; see `found_rows`."""
    return tuple(
        _offer(server, model)
        for server, model in _vision_first(servers)
        if not server.locked and model.sees is not False
    )


def _offer(server: LoopbackServer, model: DeclaredModel) -> NewModel:
    card = card_of(model.name)
    said = note_of(card) if card else "Calibration finds how it writes locations."
    note = f"Sees images: {_IMAGES[model.sees]}. {said}"
    title, table = f"{model.name} ({server.title})", found_table(server, model)
    return NewModel(title, "found on this computer", _ADAPTER, table=table, note=note)


def _vision_first(
    servers: Sequence[LoopbackServer] | None,
) -> list[tuple[LoopbackServer, DeclaredModel]]:
    here = loopback_servers() if servers is None else servers
    pairs = [(server, model) for server in here for model in _models(server)]
    return sorted(pairs, key=lambda pair: _ORDER[pair[1].sees])


def _models(server: LoopbackServer) -> tuple[DeclaredModel, ...]:
    return (DeclaredModel("needs a key"),) if server.locked else server.models


def _row(server: LoopbackServer, model: DeclaredModel) -> dict[str, object]:
    card = card_of(model.name)
    return {
        "model": model.name,
        "server": server.title,
        "images": _IMAGES[model.sees],
        "known_as": card.name if card else UNKNOWN,
        "base_url": server.base_url,
        "table": {} if server.locked else found_table(server, model),
    }


def found_table(server: LoopbackServer, model: DeclaredModel) -> Mapping[str, object]:
    """Return a ``[[model]]`` table that asks a model of a server on this machine.

    What is known of the model is set; what is not, calibration has to find.
    """
    card = card_of(model.name)
    table = {
        "name": _profile_name(model.name),
        "adapter": _ADAPTER,
        "server": server.kind,
        "base_url": server.base_url,
        "model": model.name,
    }
    return {**table, **(card.served() if card else {})}


def _profile_name(model: str) -> str:
    """Return a name that a profile may have: of ``owner/name:tag``, ``name-tag``."""
    return re.sub(r"[^\w.-]", "-", model.rpartition("/")[2])
