"""Questions about generated images, sent only with consent."""

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar, cast

from viewer.domain.errors import PrivacyError, ProviderError
from viewer.domain.exchange import ModelProfile, ModelRequest, RawReply
from viewer.domain.privacy import how_to_allow
from viewer.models.catalog import adapter_for, endpoint_of
from viewer.models.endpoint import LOCAL_ONLY, Allowance
from viewer.models.protocol import Adapter
from viewer.models.provider_errors import PARAMETER_REJECTED
from viewer.store import consents
from viewer.store.database import Store, open_store

if TYPE_CHECKING:
    from viewer.models.protocol import RemoteAdapter

LOADING_LIMIT_S: Final = 600.0
"""Seconds for a server to load its model."""
Loading = Callable[[float], None]
"""Called with the seconds for which a server has been loading its model."""
BeforeSending = Callable[[ModelProfile, ModelRequest | None], None]
"""Called with every question before it is sent; None for a list of models."""
_T = TypeVar("_T")


def put(
    adapter: Adapter,
    profile: ModelProfile,
    request: ModelRequest,
    before_sending: BeforeSending | None,
    loading: Loading | None = None,
) -> RawReply:
    """Ask once, and again without each parameter that a remote server rejects.

    Each attempt is a transmission. A server that is loading its model is asked until it
    has, see `once_loaded`. Any other failure raises ``ProviderError``.
    """

    def ask() -> RawReply:
        if before_sending is not None:
            before_sending(profile, request)
        return adapter.generate(request)

    while True:
        try:
            return once_loaded(ask, loading)
        except ProviderError as error:
            if error.reason != PARAMETER_REJECTED:
                raise


def once_loaded(ask: Callable[[], _T], loading: Loading | None = None) -> _T:
    """Ask a server, retrying for up to ten minutes while it loads its model.

    ``loading`` is called before each pause; an exception in it or ``ask`` ends this.
    """
    begun = time.monotonic()
    while True:
        try:
            return ask()
        except ProviderError as error:
            waited_s = time.monotonic() - begun
            if not error.loading or waited_s >= LOADING_LIMIT_S:
                raise
            if loading is not None:
                loading(waited_s)
            time.sleep(error.retry_after_s or 0.0)


def with_consent(
    store_path: Path,
    profile: ModelProfile,
    ask: Callable[[Allowance, BeforeSending | None], _T],
    check: Callable[[], None] | None = None,
) -> _T:
    """Call ``ask`` with what consents in the store allow; record there what is sent.

    An endpoint on this machine needs no consent, and a missing store has none. Consent
    is checked before every question, so that it can be withdrawn meanwhile. ``check``
    is called then too; an exception in it ends the asking.
    """
    endpoint = endpoint_of(profile)
    if endpoint is None or endpoint.is_here or not store_path.exists():
        return ask(LOCAL_ONLY, None if check is None else lambda *_: check())
    endpoint.check_key(profile.settings.get("api_key_env"))
    origin = endpoint.origin
    allowance = Allowance(frozenset({origin}))
    with open_store(store_path) as store:
        _consent(store, origin)

        def before_sending(asked: ModelProfile, request: ModelRequest | None) -> None:
            if check is not None:
                check()
            adapter = cast("RemoteAdapter", adapter_for(asked, allowance))
            body = b"" if request is None else adapter.body(request)
            sha256 = hashlib.sha256(body).hexdigest()
            with store.transaction():
                consent = _consent(store, origin)
                consents.note_departure(store, None, origin, sha256, consent)

        return ask(allowance, before_sending)


def _consent(store: Store, origin: str) -> int:
    """Return the consent for questions to an endpoint; raises without one."""
    standing = {c.endpoint: c.id for c in consents.standing_consents(store)}
    if origin not in standing:
        raise PrivacyError(
            f"Nothing may be sent to {origin} yet.", how_to_allow(origin, "any")
        )
    return standing[origin]
