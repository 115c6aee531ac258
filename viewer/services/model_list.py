"""Every model with its state in words: what it needs, where it is asked."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from viewer.domain.exchange import ModelProfile
from viewer.models.catalog import missing_import
from viewer.models.loopback import is_loopback
from viewer.services.model_profiles import KnownModel, known_models, spec_named
from viewer.settings import Settings

READY: Final = "ready"


class Readiness(StrEnum):
    """What stands between a model and its first answer."""

    READY = "ready"
    NEEDS_KEY = "needs_key"
    NEEDS_PACKAGE = "needs_package"
    NEEDS_CONSENT = "needs_consent"
    UNUSABLE = "unusable"


@dataclass(frozen=True)
class ModelLine:
    """A model as the table shows it.

    ``state`` says in words what it still needs, else that it is ready; ``host`` is the
    other machine that it is asked at, "" where images stay on this one. ``own``: it
    stands in the person's file, as the ``table`` there, and may be changed.
    """

    name: str
    adapter: str
    summary: str
    readiness: Readiness
    state: str
    own: bool
    host: str = ""
    table: Mapping[str, object] = field(default_factory=dict)

    @property
    def can_ask(self) -> bool:
        """True where a question can be put, consent being asked on the way."""
        return self.readiness in {Readiness.READY, Readiness.NEEDS_CONSENT}


def model_lines(settings: Settings) -> tuple[ModelLine, ...]:
    """Return every known model with its state, by name."""
    return tuple(_line(model) for model in known_models(settings.models_file))


def _line(model: KnownModel) -> ModelLine:
    spec = spec_named(model.adapter)
    readiness, state = _state(model)
    return ModelLine(
        name=model.name,
        adapter=model.adapter,
        summary=spec.summary if spec else "",
        readiness=readiness,
        state=state,
        own=model.own,
        host=host_of(model.profile) if model.profile else "",
        table=model.table,
    )


def _state(model: KnownModel) -> tuple[Readiness, str]:
    spec = spec_named(model.adapter)
    if model.profile is None or spec is None:
        return Readiness.UNUSABLE, model.error
    missing = missing_import(spec)
    if missing is not None:
        module, package = missing
        return Readiness.NEEDS_PACKAGE, f"needs {module}: pip install {package}"
    variable = model.profile.settings.get("api_key_env")
    if variable and not os.environ.get(str(variable)):
        return Readiness.NEEDS_KEY, f"needs a key: set {variable}"
    host = host_of(model.profile)
    if host:
        return Readiness.NEEDS_CONSENT, f"asks at {host}: needs consent"
    return Readiness.READY, READY


def host_of(profile: ModelProfile) -> str:
    """Return the host of a profile's endpoint, "" for this machine or without one."""
    spec = spec_named(profile.adapter)
    if spec is None or not spec.remote:
        return ""
    host = urlsplit(str(profile.settings.get("base_url", ""))).hostname or ""
    return "" if is_loopback(host) else host
