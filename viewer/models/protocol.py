"""The interface of adapters."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from viewer.domain.exchange import (
    ModelIdentity,
    ModelProfile,
    ModelReply,
    ModelRequest,
    RawReply,
)
from viewer.domain.interpretability import RandomText


class Adapter(Protocol):
    """Asks one model, created from its profile; thread-safe."""

    def identity(self, repeat: int) -> ModelIdentity:
        """Return the properties of this model that are part of the request key."""
        ...

    def generate(self, request: ModelRequest) -> RawReply:
        """Ask once and return the raw reply; ``ProviderError`` on failure."""
        ...

    def read(self, raw: RawReply) -> ModelReply:
        """Parse a stored raw reply; ``ProviderError`` if it cannot be read."""
        ...


@runtime_checkable
class ListsModels(Protocol):
    """An adapter that can list the models of its server."""

    def listed_models(self) -> tuple[str, ...]:
        """Return their names; ``ProviderError`` if the server does not list them."""
        ...


@runtime_checkable
class SamplesTokens(Protocol):
    """An adapter that can write random tokens of its model as text (E004-14)."""

    def random_text(self, like: str, seed: int) -> RandomText:
        """Return text of as many random tokens as another text has.

        Raises
        ------
        WrongUseError
            If the model is not on this machine or its tokenizer allows no such text.
        """
        ...


class RemoteAdapter(Adapter, Protocol):
    """An adapter of a remote server; it can return a request body before sending it."""

    def generate(self, request: ModelRequest, body_sha256: str = "") -> RawReply:
        """Ask once; if a hash is given, only the body with that hash is sent.

        Another body raises ``ProviderError`` with reason ``PARAMETER_REJECTED``, whose
        ``rejected`` has all members that the server is known to reject.
        """
        ...

    @property
    def left_out(self) -> frozenset[str]:
        """The body members that its server is known to reject."""
        ...

    def leave_out(self, members: Iterable[str]) -> None:
        """Leave members out from now on, as another process has learned."""
        ...

    def body(self, request: ModelRequest) -> bytes:
        """Return the exact bytes that ``generate`` would send first."""
        ...


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of an adapter: its key in a study file, default and meaning.

    ``kind`` is bool, int, float, str, ``Path`` (stored as text, relative to the
    profile's file) or ``Decimal`` (dollars per million tokens, stored as whole
    micro-dollars). Text with ``may_be_folder`` is such a path too, unless there is no
    folder of that name and it looks like a name on the hub, ``owner/model``. A Path
    must end in ``ending`` if that is set. ``default`` None with ``required`` means that
    the user must set it, and otherwise that there is no value. A number is from
    ``minimum`` to ``maximum``, text one of ``choices``.
    """

    key: str
    kind: type
    default: object
    meaning: str
    required: bool = False
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    may_be_folder: bool = False
    ending: str = ""


@dataclass(frozen=True)
class AdapterSpec:
    """An adapter's entry in the catalogue.

    ``factory`` is ``module:callable`` taking a profile, imported when first used.
    ``imports`` maps each required import name to the extra that provides it ("": none).
    ``reads_facts``: the answer depends on the request's facts, which are then part of
    its key. ``needs_counts``: facts must include the reference counts. ``remote``: it
    uses the endpoint of its setting base_url, where orphaned requests may cost money;
    its factory also takes the `Allowance` and creates a `RemoteAdapter`. ``completes``
    is ``module:callable`` from a profile's name and settings to the settings with
    derived values; it raises if they contradict each other. ``unlearned`` is
    ``module:callable`` from settings and a finding to the error of a model that was not
    trained on it, else None; "" if any finding may be asked. ``takes_boxes``: it needs
    boxes in the facts. ``places``: its answer is always a location on the image,
    whatever it is asked, so that studies whose answers are text refuse it.
    ``interpretable``: it supports a request's highlight and measures, see
    ``models.interpretability``. ``finds_by_step``: facts must say which question of
    which model's trial is asked. ``person``: people answered elsewhere; their answers
    are read, and nobody is asked. ``needs_image``: it works on an image alone, so that
    it cannot be asked without one. ``builtin_profiles``: models of a built-in adapter
    that need no settings. They are listed and can be asked without a table in
    models.toml; every other model needs one. ``kind``: what lists of models call it, in
    a word or two; its name if "".
    """

    name: str
    summary: str
    factory: str
    settings: tuple[Setting, ...] = ()
    imports: Mapping[str, str] | None = None
    reads_facts: bool = False
    needs_counts: bool = False
    remote: bool = False
    completes: str = ""
    unlearned: str = ""
    takes_boxes: bool = False
    places: bool = False
    interpretable: bool = False
    finds_by_step: bool = False
    person: bool = False
    needs_image: bool = False
    builtin_profiles: tuple[ModelProfile, ...] = ()
    kind: str = ""
