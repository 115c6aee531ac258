"""The models and services that Connect offers, by the section they stand in."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from viewer.models.catalog import (
    ADAPTERS,
    adapters,
    broken_adapters,
    missing_dependency,
)
from viewer.models.model_cards import ModelCard, model_cards
from viewer.models.openai_api.servers import SERVERS, Server
from viewer.models.paper_presets import PRESETS, PaperPreset
from viewer.models.profiles import hub_model
from viewer.models.protocol import AdapterSpec
from viewer.services.configuring.known_cards import need_of, note_of

_SERVER: Final = "server"


class Section(StrEnum):
    """Where on the page of Connect an offer stands."""

    FOUND = "found on this computer"
    PULL = "download through a server found on this computer"
    ONLINE = "online"
    KNOWN = "known models"
    PAPERS = "as in published studies"
    MORE = "more"


@dataclass(frozen=True)
class NewModel:
    """A model or service that can be connected; ``table`` has its initial settings.

    ``missing`` says what it lacks; one that is not ``usable`` cannot be chosen.
    ``summary`` stands beside the title, and ``note`` says what is known of it.
    """

    title: str
    section: Section
    adapter: str
    missing: str = ""
    table: Mapping[str, object] = field(default_factory=dict)
    usable: bool = True
    summary: str = ""
    note: str = ""

    @property
    def is_complete(self) -> bool:
        """True if nothing has to be filled in before it can be asked."""
        return self.section is Section.FOUND and "api_key_env" not in self.table

    @property
    def pulls_from(self) -> str:
        """The address of an Ollama here that can download a model, else ""."""
        return str(self.table["base_url"]) if self.section is Section.PULL else ""

    @property
    def to_get(self) -> str:
        """The name of a model that can be downloaded from Hugging Face, else ""."""
        return "" if self.missing else hub_model(self.table)


def new_models() -> tuple[NewModel, ...]:
    """Return everything that can be connected without a look at this machine.

    Services and adapters start with their defaults, known models with what is known of
    them, and the models of published studies with the settings used there.
    """
    found = {**ADAPTERS, **adapters()}
    # Once for each adapter: Python looks for a package in every folder.
    missing = {name: missing_dependency(spec) or "" for name, spec in found.items()}
    own = (
        new
        for name, spec in found.items()
        if spec.settings
        for new in _offers(spec, missing[name])
    )
    unusable = (
        NewModel(
            f"{one.name} – cannot be used", Section.MORE, one.name, one.why,
            usable=False,
        )
        for one in broken_adapters()
    )  # fmt: skip
    known = (_of_card(c, missing) for c in model_cards() if any(c.facts.values()))
    papers = (_of_paper(preset, missing) for preset in PRESETS)
    return (*own, *unusable, *known, *papers)


def _of_card(card: ModelCard, missing: Mapping[str, str]) -> NewModel:
    table = card.table()
    adapter = str(table["adapter"])
    return NewModel(
        card.title, Section.KNOWN, adapter, missing[adapter], table,
        summary=need_of(card), note=note_of(card),
    )  # fmt: skip


def _of_paper(preset: PaperPreset, missing: Mapping[str, str]) -> NewModel:
    adapter = str(preset.table["adapter"])
    return NewModel(
        preset.title, Section.PAPERS, adapter, missing[adapter], dict(preset.table),
        summary=preset.paper, note=preset.note,
    )  # fmt: skip


def _offers(spec: AdapterSpec, missing: str) -> Iterator[NewModel]:
    """Yield an adapter, once for each kind of server if it has several."""
    kinds = next((s.choices for s in spec.settings if s.key == _SERVER), ())
    if not kinds:
        start: Mapping[str, object] = {
            "name": spec.name.replace("_", "-"), "adapter": spec.name,
        }  # fmt: skip
        title = spec.summary[:1].upper() + spec.summary[1:]
        yield NewModel(title, Section.MORE, spec.name, missing, start)
    # The one that nobody knows comes after the names that people know.
    for server in sorted(map(SERVERS.__getitem__, kinds), key=lambda s: not s.key):
        section = Section.ONLINE if server.is_remote else Section.MORE
        start = _start(spec, server)
        yield NewModel(server.title, section, spec.name, missing, start)


def _start(spec: AdapterSpec, server: Server) -> dict[str, object]:
    name = server.name.replace("_", "-")
    key = {"api_key_env": server.key} if server.key else {}
    return {"name": name, "adapter": spec.name, _SERVER: server.name, **key}
