"""Found on this computer: servers of models, and a table for each of their models."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from viewer.models.model_cards import UNKNOWN, card_of
from viewer.models.openai_api.loopback_servers import (
    DeclaredModel,
    LoopbackServer,
    loopback_servers,
    with_sight_asked,
)
from viewer.services.configuring.known_cards import note_of
from viewer.services.configuring.new_models import NewModel, Section

COLUMNS: Final = ("model", "server", "images", "known_as", "base_url")
"""What the list shows of each model; JSON also has its table."""
_ADAPTER: Final = "openai_api"
_IMAGES: Final = {True: "yes", False: "no", None: UNKNOWN}
_SIGHT: Final = {
    True: "sees images",
    False: "text only",
    None: "it does not say whether it sees images",
}
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
    servers: Sequence[LoopbackServer] | None = None, *, ask: bool = False
) -> tuple[NewModel, ...]:
    """Return the models of servers on this machine, to be connected; see `found_rows`.

    With ``ask`` a model of which its server declares nothing is asked whether it takes
    images, which may take as long as it needs to load. Last comes, for each Ollama, the
    offer to download a model through it.
    """
    here = loopback_servers() if servers is None else servers
    asked = with_sight_asked(here) if ask else here
    offers = (_offer(server, model) for server, model in _vision_first(asked))
    return (*offers, *(_to_pull(one) for one in asked if one.kind == "ollama"))


def _offer(server: LoopbackServer, model: DeclaredModel) -> NewModel:
    if server.locked:
        return _locked(server)
    card = card_of(model.name)
    note = note_of(card) if card else "Calibrate finds out how it writes locations."
    summary = f"{server.title} · {_SIGHT[model.sees]}"
    table = found_table(server, model)
    return NewModel(
        model.name, Section.FOUND, _ADAPTER, table=table, summary=summary, note=note
    )


def _to_pull(server: LoopbackServer) -> NewModel:
    return NewModel(
        f"Get a model from {server.title}…", Section.PULL, _ADAPTER,
        table={"server": server.kind, "base_url": server.base_url},
        summary="downloads one by its name",
    )  # fmt: skip


def _locked(server: LoopbackServer) -> NewModel:
    """Return a server whose models and key the user has to fill in."""
    port = server.base_url.rpartition(":")[2].partition("/")[0]
    key = f"SERVER_{port}_KEY"
    table = {"name": f"server-{port}", "adapter": _ADAPTER, "api_key_env": key}
    return NewModel(
        f"A server on port {port}", Section.FOUND, _ADAPTER,
        table={**table, "base_url": server.base_url},
        summary="needs a key to list its models",
    )  # fmt: skip


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
