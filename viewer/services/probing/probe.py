"""The Test button: what an endpoint really does, found out by asking it.

Capabilities are inferred from replies, never from the server's name: a server that
silently ignores a parameter or an image is distinguished from one that uses it. A probe
asks about a dozen short questions about generated images.
"""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from viewer.domain.errors import ProviderError, WrongUseError
from viewer.domain.exchange import ModelProfile, ModelRequest
from viewer.domain.image import Raster
from viewer.domain.probe import ProbeReport, ProbeRow, Verdict
from viewer.models.catalog import adapter_for, endpoint_of
from viewer.models.endpoint import LOCAL_ONLY, Allowance, Endpoint
from viewer.models.protocol import ListsModels
from viewer.services.privacy.made_questions import (
    BeforeSending,
    once_loaded,
    put,
    with_consent,
)
from viewer.services.probing.questions import busy_marker, plain_marker, question
from viewer.services.probing.rows import (
    Heard,
    answers_row,
    image_row,
    key_row,
    length_row,
    listed_row,
    logprobs_row,
    parameter_row,
    reachable_row,
    repeats,
    schema_row,
    seed_row,
)

_KEPT: Final = (
    *("server", "base_url", "model", "api", "api_key_env", "api_version"),
    *("proxy", "ca_file", "timeout_s", "max_completion_tokens"),
)
_CAP: Final = 16  # the shortest reply that Responses allows to ask for
_WHOLE: Final = 128  # enough for a whole object, with the white space some models add
_ALIKE: Final = 3  # how often the same question is put
_TRIED: Final = (("top_p", 0.9), ("reasoning_effort", "low"), ("detail", "low"))


def probe(
    profile: ModelProfile,
    allowance: Allowance = LOCAL_ONLY,
    before_sending: BeforeSending | None = None,
) -> ProbeReport:
    """Ask an endpoint until its capabilities are known.

    Parameters
    ----------
    profile : ModelProfile
        A model behind an endpoint.
    allowance : Allowance
        Which remote servers may be asked.
    before_sending : callable or None
        Called with every question before it is sent.

    Raises
    ------
    WrongUseError
        For a model that has no endpoint.
    PrivacyError
        For an endpoint that may not be asked.
    """
    listed: list[str] = []
    rows = tuple(probe_rows(profile, allowance, before_sending, listed))
    return ProbeReport(profile.name, _endpoint(profile).address, rows, tuple(listed))


def probe_rows(
    profile: ModelProfile,
    allowance: Allowance = LOCAL_ONLY,
    before_sending: BeforeSending | None = None,
    listed: list[str] | None = None,
) -> Iterator[ProbeRow]:
    """Yield each result as soon as it is known; see `probe`.

    The names of the server's models are added to ``listed``.
    """
    _endpoint(profile)
    yield from _Probe(profile, allowance, before_sending).rows(
        [] if listed is None else listed
    )


def probe_with_consent(
    store_path: Path,
    profile: ModelProfile,
    check: Callable[[], None] | None = None,
) -> ProbeReport:
    """Probe an endpoint with consent; what is sent is recorded in the store.

    An endpoint on this machine needs no consent, and a missing store has none.
    ``check`` is called before every question; an exception in it ends the test.
    """
    _endpoint(profile)
    return with_consent(store_path, profile, functools.partial(probe, profile), check)


def list_models(
    profile: ModelProfile,
    allowance: Allowance = LOCAL_ONLY,
    before_sending: BeforeSending | None = None,
) -> tuple[str, ...]:
    """Return the names of the models that a profile's server offers.

    ``ProviderError`` if the server does not list them. ``before_sending`` is called
    before the request.
    """
    adapter = adapter_for(profile, allowance)
    if not isinstance(adapter, ListsModels):
        raise _no_endpoint(profile)
    if before_sending is not None:
        before_sending(profile, None)
    return adapter.listed_models()


def list_with_consent(store_path: Path, profile: ModelProfile) -> tuple[str, ...]:
    """List the models of a server with consent; see `list_models`.

    No image is sent for this, but a key may be.
    """
    return with_consent(store_path, profile, functools.partial(list_models, profile))


def _endpoint(profile: ModelProfile) -> Endpoint:
    endpoint = endpoint_of(profile)
    if endpoint is None:
        raise _no_endpoint(profile)
    return endpoint


def _no_endpoint(profile: ModelProfile) -> WrongUseError:
    return WrongUseError(
        f"The model '{profile.name}' runs on this machine and has no endpoint.",
        "Probe a model whose profile names a base_url or a server.",
    )


class _Probe:
    def __init__(
        self,
        profile: ModelProfile,
        allowance: Allowance,
        before_sending: BeforeSending | None,
    ) -> None:
        self._profile, self._allowance, self._before_sending = (
            profile,
            allowance,
            before_sending,
        )
        chosen = {k: v for k, v in profile.settings.items() if k in _KEPT}
        self._settings: dict[str, object] = {**chosen, "max_tokens": _CAP}

    def _ask(self, request: ModelRequest, **settings: object) -> Heard:
        values = {**self._settings, **settings}
        asked = ModelProfile(self._profile.name, self._profile.adapter, values)
        adapter = adapter_for(asked, self._allowance)
        try:
            raw = put(adapter, asked, request, self._before_sending)
            return Heard(adapter.read(raw), raw.dropped)
        except ProviderError as error:
            return Heard(error=error)

    def rows(self, listed: list[str]) -> Iterator[ProbeRow]:
        """Yield every row; no more if nobody answers or the key is refused."""
        first = [*self._first_contact(listed)]
        yield from first
        unreached = first[0].verdict is not Verdict.YES
        if unreached or any(row.verdict is Verdict.NO for row in first):
            return
        text = self._ask(question(), temperature=0.0, seed=0, logprobs=2)
        answers = answers_row(text)
        yield answers
        if answers.verdict is Verdict.NO:
            return
        yield from self._what_it_does(text)

    def _first_contact(self, listed: list[str]) -> Iterator[ProbeRow]:
        error = self._listing(listed)
        yield reachable_row(error)
        if error is not None and not error.http_status:
            return
        key = key_row(error)
        yield key
        if key.verdict is not Verdict.NO:
            yield listed_row(str(self._profile.settings["model"]), listed)

    def _listing(self, listed: list[str]) -> ProviderError | None:
        try:
            sent = self._profile, self._allowance, self._before_sending
            listed.extend(once_loaded(lambda: list_models(*sent)))
        except ProviderError as error:
            return error
        return None

    def _what_it_does(self, text: Heard) -> Iterator[ProbeRow]:
        same = [self._exactly(plain_marker()) for _ in range(_ALIKE)]
        other = self._exactly(busy_marker())
        alike = repeats(same)
        yield image_row(text, same[0], other, repeatable=alike)
        if alike is not None:
            yield seed_row(same[0], len(same), repeats=alike)
        yield logprobs_row(text)
        yield schema_row(self._ask(question(), structured=True, max_tokens=_WHOLE))
        yield length_row(self._ask(question(), max_tokens=1))
        yield from self._parameters(text)
        yield self._other_interface()

    def _exactly(self, marker: Raster) -> Heard:
        return self._ask(question(marker), temperature=0.0, seed=0, logprobs=2)

    def _parameters(self, text: Heard) -> Iterator[ProbeRow]:
        yield parameter_row("temperature", text)
        for name, value in _TRIED:
            marker = plain_marker() if name == "detail" else None
            yield parameter_row(name, self._ask(question(marker), **{name: value}))

    def _other_interface(self) -> ProbeRow:
        is_chat = self._settings.get("api") != "responses"
        other = "responses" if is_chat else "chat"
        name = "Responses" if is_chat else "Chat Completions"
        heard = self._ask(question(), api=other)
        if heard.reply is not None:
            return ProbeRow(name, Verdict.YES, f"{name} works as well.")
        return ProbeRow(name, Verdict.NO, heard.why)
