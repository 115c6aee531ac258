"""What every adapter has in common."""

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
    """Asks one model, made from its profile; safe to use from threads."""

    def identity(self, repeat: int) -> ModelIdentity:
        """Return the properties of this model that are part of the request key."""
        ...

    def generate(self, request: ModelRequest) -> RawReply:
        """Ask once and return the raw reply; raises ``ProviderError`` otherwise."""
        ...

    def read(self, raw: RawReply) -> ModelReply:
        """Read a stored raw reply; raises ``ProviderError`` if it cannot be read."""
        ...


@runtime_checkable
class ListsModels(Protocol):
    """An adapter that can say which models its server offers."""

    def listed_models(self) -> tuple[str, ...]:
        """Return their names; raises ``ProviderError`` where it does not say."""
        ...


@runtime_checkable
class SamplesTokens(Protocol):
    """An adapter that can write text of random tokens of its model (E004-14)."""

    def random_text(self, like: str, seed: int) -> RandomText:
        """Return text of as many random tokens as another text has.

        Raises
        ------
        WrongUseError
            Where the model is not on this machine or its tokenizer allows none.
        """
        ...


class RemoteAdapter(Adapter, Protocol):
    """An adapter of a server, which returns what it would send before it sends it."""

    def generate(self, request: ModelRequest, body_sha256: str = "") -> RawReply:
        """Ask once; if a hash is given, only the body with that hash is sent.

        Another body raises ``ProviderError`` with the reason ``PARAMETER_REJECTED``,
        which tells in ``rejected`` all that the server is known not to take.
        """
        ...

    @property
    def left_out(self) -> frozenset[str]:
        """The members of a body that its server is known not to take."""
        ...

    def leave_out(self, members: Iterable[str]) -> None:
        """Leave members out from now on, as another process learned to."""
        ...

    def body(self, request: ModelRequest) -> bytes:
        """Return the exact bytes that ``generate`` would send first."""
        ...


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of an adapter: its key in a study file, default and meaning.

    ``kind`` is bool, int, float, str, ``Path`` (kept as text, relative to the file
    the profile stands in) or ``Decimal`` (dollars per million tokens, kept as whole
    micro-dollars). Text of ``may_be_folder`` is such a path too, unless there is no
    folder of that name and it has the form of a hub's, ``owner/model``.
    The name of a Path's file ends in ``ending``, where that is said.
    ``default`` None with ``required`` means the person must name it, and without it
    that nothing is said. A number lies at or above ``minimum`` and at or below
    ``maximum``, text in ``choices``.
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
    """A line of the catalogue.

    ``factory`` is ``module:callable`` taking a profile, imported when first used.
    ``imports`` maps each needed import name to the extra that brings it ("": none).
    ``reads_facts``: the answer depends on the request's facts, which are then part of
    its key. ``needs_counts``: facts must carry the reference counts. ``remote``: it
    talks to the endpoint that its setting base_url names, whose orphans may cost money;
    its factory takes the `Allowance` as well and makes a `RemoteAdapter`. ``completes``
    is ``module:callable`` from a profile's name and settings to the settings with what
    they leave to others; it raises if they do not go together. ``unlearned`` is
    ``module:callable`` from settings and a finding to the error of a model that was not
    trained on it, None for one that was; "" if any may be asked. ``takes_boxes``: it
    answers only where the facts say in which boxes to look. ``places``: its answer is
    always a place on the image, whatever it is asked, so that studies whose answers are
    text refuse it. ``interpretable``: it takes a request's highlight and measures, see
    ``models.interpretability``. ``finds_by_step``: facts tell which question of which
    model's trial is asked. ``person``: people answered elsewhere; what they said is
    read, and nobody is asked. ``builtin_profiles``: models of a built-in adapter that
    need no settings. They are listed and can be asked without a table in models.toml;
    every other model needs one.
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
    builtin_profiles: tuple[ModelProfile, ...] = ()
