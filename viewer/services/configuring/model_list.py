"""List of every model with its state: what it needs, and where it runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any, Final

from viewer.domain.errors import OverreadError, where_to_get
from viewer.domain.exchange import ModelProfile
from viewer.domain.model_check import ModelCheck
from viewer.models import keys
from viewer.models.catalog import endpoint_of, missing_import
from viewer.models.openai_api.loopback_servers import files_at
from viewer.models.profiles import hub_model
from viewer.services.configuring.check_words import check_in_words, wrong_in_words
from viewer.services.configuring.model_profiles import (
    KnownModel,
    known_models,
    spec_named,
)
from viewer.services.configuring.served_files import (
    change_of_files,
    files_of,
    other_files,
)
from viewer.settings import Settings
from viewer.store import consents
from viewer.store.database import Store, open_store
from viewer.store.model_checks import changed_since, latest_check

READY: Final = "ready"


class Readiness(StrEnum):
    """What a model needs before it can answer."""

    READY = "ready"
    NEEDS_KEY = "needs_key"
    NEEDS_PACKAGE = "needs_package"
    NEEDS_CONSENT = "needs_consent"
    UNUSABLE = "unusable"


@dataclass(frozen=True)
class ModelLine:
    """A model as shown in the table.

    ``state`` says what it still needs, else that it is ready; ``host`` is the remote
    machine, "" if images stay on this one. ``own``: it is in the user's file, as
    ``table``, and may be edited. ``takes_boxes``: it segments boxes, and answers
    nothing else; ``places``: it always answers with a location.
    ``kind`` is what lists call its adapter, "" for no other name.
    ``check`` is the last check with these settings, and ``check_wrong`` what was wrong
    then, or what has ``changed`` since by what its server or a run told.
    """

    name: str
    adapter: str
    summary: str
    readiness: Readiness
    state: str
    own: bool
    host: str = ""
    table: Mapping[str, object] = field(default_factory=dict)
    takes_boxes: bool = False
    places: bool = False
    check: ModelCheck | None = None
    check_words: str = ""
    check_wrong: str = ""
    changed: bool = False
    kind: str = ""

    @property
    def can_ask(self) -> bool:
        """True if a question can be asked; consent is requested on the way."""
        return self.readiness in {Readiness.READY, Readiness.NEEDS_CONSENT}

    @property
    def to_get(self) -> str:
        """The name of a model that can be downloaded from Hugging Face, else ""."""
        return hub_model(self.table)


def model_lines(settings: Settings) -> tuple[ModelLine, ...]:
    """Return every known model with its state, sorted by name."""
    known = known_models(settings.models_file)
    if not settings.store.exists():
        return tuple(_line(model, frozenset(), None) for model in known)
    with open_store(settings.store) as store:
        consented = frozenset(c.endpoint for c in consents.standing_consents(store))
        checks = _Checks(store)
        return tuple(_line(model, consented, checks) for model in known)


def segmenters(settings: Settings) -> tuple[ModelLine, ...]:
    """Return the models that outline the object in a box, by name."""
    return tuple(line for line in model_lines(settings) if line.takes_boxes)


def _line(
    model: KnownModel, consented: frozenset[str], checks: "_Checks | None"
) -> ModelLine:
    """Return a model's line; ``consented`` are endpoints that any images may go to."""
    spec = spec_named(model.adapter)
    readiness, state = _state(model, consented)
    return ModelLine(
        name=model.name,
        adapter=model.adapter,
        summary=spec.summary if spec else "",
        readiness=readiness,
        state=state,
        own=model.own,
        host=host_of(model.profile) if model.profile else "",
        table=model.table,
        takes_boxes=spec is not None and spec.takes_boxes,
        places=spec is not None and spec.places,
        kind=spec.kind if spec else "",
        **(checks.of(model) if checks else {}),
    )


class _Checks:
    """The last checks of models, and what their servers and runs have told since."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._look = cache(files_at)  # a server is asked once for all its models

    def of(self, model: KnownModel) -> dict[str, Any]:
        """Return the fields of a model's line that are about its check."""
        if model.profile is None or not model.table:
            return {}
        found = latest_check(self._store, model.profile)
        if found is None:
            return {}
        before = latest_check(self._store, model.profile, found.at)
        others = other_files(found, before)
        changed = self._changed(model.profile, found)
        since = f"Since the check, {changed}. Check it again." if changed else ""
        return {
            "check": found,
            "check_words": f"{check_in_words(found)} {others}".rstrip(),
            "check_wrong": since or wrong_in_words(found),
            "changed": bool(changed),
        }

    def _changed(self, profile: ModelProfile, found: ModelCheck) -> str:
        now = files_of(profile, self._look) if found.digest else None
        return change_of_files(found, now) or changed_since(self._store, found)


def _state(model: KnownModel, consented: frozenset[str]) -> tuple[Readiness, str]:
    spec = spec_named(model.adapter)
    if model.profile is None or spec is None:
        return Readiness.UNUSABLE, model.error
    missing = missing_import(spec)
    if missing is not None:
        module, package = missing
        return Readiness.NEEDS_PACKAGE, f"needs {module}: {where_to_get(package)}"
    try:
        return _state_of_endpoint(model.profile, consented)
    except OverreadError as error:
        return Readiness.UNUSABLE, str(error)


def _state_of_endpoint(
    profile: ModelProfile, consented: frozenset[str]
) -> tuple[Readiness, str]:
    endpoint = endpoint_of(profile)
    variable = str(profile.settings.get("api_key_env", ""))
    if endpoint is not None:
        endpoint.check_policy()
        endpoint.check_key(variable)
    if variable and not keys.key_named(variable):
        return Readiness.NEEDS_KEY, f"needs a key: {variable}"
    if endpoint is None or endpoint.is_here:
        return Readiness.READY, READY
    if endpoint.origin in consented:
        return Readiness.READY, f"ready, sends to {endpoint.host}"
    return Readiness.NEEDS_CONSENT, f"sends to {endpoint.host}: needs consent"


def host_of(profile: ModelProfile) -> str:
    """Return the host of a profile's endpoint, "" for a local model."""
    try:
        endpoint = endpoint_of(profile)
    except OverreadError:
        return ""  # its state says what is wrong with it
    return "" if endpoint is None or endpoint.is_here else endpoint.host
