"""What an endpoint's failure means, and its message to the user."""

import json
import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Final

from viewer.domain.errors import (
    LOADING,
    TOO_LONG,
    UNREACHABLE,
    ProviderError,
    RetryClass,
)
from viewer.domain.secret_values import STRUCK, without_secrets
from viewer.models.keys import known_keys
from viewer.models.reply_parts import refusal_of_error

PARAMETER_REJECTED: Final = "parameter_rejected"
"""The reason of a question that was put with a parameter the server does not take."""
_SAID_AT_MOST = 200
_PAYMENT_REQUIRED: Final = 402
_USED_UP: Final = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
)
"""Error codes of an account without credit."""
_FAILED_FOR_NOW = frozenset({"server_error", "rate_limit_exceeded"})


@dataclass(frozen=True, slots=True)
class _Meaning:
    retry_class: RetryClass
    what: str
    how: str


_MEANINGS: Mapping[int, _Meaning] = {
    400: _Meaning(
        RetryClass.FAIL,
        "does not accept the question",
        "Check the model's settings against what the server supports.",
    ),
    401: _Meaning(
        RetryClass.STOP_RUN,
        "refuses the key",
        "Set the environment variable that api_key_env names to a valid key.",
    ),
    403: _Meaning(
        RetryClass.STOP_RUN,
        "does not allow this key to use this model",
        "Use a key with access, or another model.",
    ),
    404: _Meaning(
        RetryClass.FAIL,
        "does not know the model or the address",
        "Check base_url and model.",
    ),
    407: _Meaning(
        RetryClass.STOP_RUN,
        "is behind a proxy that requires a password",
        "Ask whoever runs the proxy to let the server through without one.",
    ),
    408: _Meaning(
        RetryClass.RETRY, "timed out waiting for the question", "Check the connection."
    ),
    413: _Meaning(
        RetryClass.FAIL, "says that the question is too large", "Send a smaller image."
    ),
    422: _Meaning(
        RetryClass.FAIL,
        "cannot process the question",
        "Check the model's settings against what the server supports.",
    ),
    429: _Meaning(
        RetryClass.RETRY,
        "is receiving too many questions",
        "Wait, or use fewer threads.",
    ),
}
_TOO_EARLY = _Meaning(RetryClass.RETRY, "is not ready", "Wait until it is.")
_STILL_LOADS = _Meaning(
    RetryClass.RETRY, "is still loading the model", "Wait until it is loaded."
)
_LOADING_SAID: Final = "loading model"
"""What servers say with a status of 500 or more until their model is loaded.

llama.cpp: ``{"error": {"code": 503, "message": "Loading model", "type":
"unavailable_error"}}`` (its server's README, ``GET /health``). Ollama waits itself, but
for one that takes long: 500, ``unexpected server status: llm server loading model``
(llm/server.go; github.com/IceWhaleTech/ZimaOS/issues/466).
"""
_LOADING_PAUSE_S: Final = 1.0
"""Seconds until a server that is loading is asked again, unless it names a time."""
_SERVER_FAILED = _Meaning(
    RetryClass.RETRY, "failed while answering", "Check the server's log."
)
_REDIRECTS = _Meaning(
    RetryClass.FAIL,
    "redirects the question elsewhere, which is not followed",
    "Write the final address as base_url.",
)
_NO_QUOTA = _Meaning(
    RetryClass.STOP_RUN,
    "says that the account's quota is used up",
    "Raise the quota or use another key.",
)
_OTHER = _Meaning(
    RetryClass.FAIL, "does not accept the question", "Check base_url and model."
)


_TOO_LONG = frozenset({"context_length_exceeded", "exceed_context_size_error"})
"""What OpenAI and llama.cpp call a question that is longer than the context."""


def status_error(
    host: str, status: int, headers: Mapping[str, str], body: bytes, secret: str
) -> ProviderError:
    """Return the error of a reply whose status is not 2xx.

    Parameters
    ----------
    host : str
        Host and port, for the message.
    status : int
        The HTTP status.
    headers : Mapping
        The reply's headers, names in lower case.
    body : bytes
        The reply's body; an OpenAI error object's message is quoted, abbreviated.
    secret : str
        The key that was sent, "" for none; it is removed from the quotation.
    """
    error = _error_object(body)
    # OpenAI sends 429 for an empty account too, where waiting does not help.
    no_quota = status == _PAYMENT_REQUIRED or not _USED_UP.isdisjoint(
        str(error.get(member)) for member in ("code", "type")
    )
    meaning = _NO_QUOTA if no_quota else _meaning(status)
    too_long = not _TOO_LONG.isdisjoint(
        str(error.get(member)) for member in ("code", "type")
    )
    reason = TOO_LONG if too_long else f"http_{status}"
    pause_s = retry_after(headers)
    if status >= 500 and _LOADING_SAID in str(error.get("message")).lower():
        meaning, reason = _STILL_LOADS, LOADING
        pause_s = _LOADING_PAUSE_S if pause_s is None else pause_s
    # Messages about a wrong key quote parts of it.
    quoted = "" if status in (401, 403) else quotation(error.get("message"), secret)
    return ProviderError(
        f"The server at {host} {meaning.what} ({status}{quoted}).",
        meaning.how,
        retry_class=meaning.retry_class,
        reason="insufficient_quota" if no_quota else reason,
        http_status=status,
        retry_after_s=pause_s,
    )


def is_filtered(status: int, body: bytes) -> bool:
    """Tell whether a reply says that the provider will not answer this question."""
    return status in (400, 403) and refusal_of_error(_json_object(body)) is not None


def failed_response(host: str, body: bytes, secret: str) -> ProviderError | None:
    """Return the error of a Responses body with status failed, None for any other."""
    document = _json_object(body)
    if document.get("status") != "failed":
        return None
    error = _error_object(body)
    code = str(error.get("code") or "unknown")
    again = code in _FAILED_FOR_NOW
    return ProviderError(
        f"The server at {host} could not finish its response"
        f"{quotation(error.get('message'), secret)}.",
        "Check the provider's status page, or try again later.",
        retry_class=RetryClass.RETRY if again else RetryClass.FAIL,
        reason=f"response_{code}" if code.isidentifier() else "response_failed",
    )


def rejected_error(host: str, rejected: Iterable[str]) -> ProviderError:
    """Return the error that asks the caller to repeat a question without parameters."""
    return ProviderError(
        f"The server at {host} rejects a parameter of the question.",
        "The question is sent again without it.",
        retry_class=RetryClass.RETRY,
        reason=PARAMETER_REJECTED,
        http_status=400,
        retry_after_s=0.0,
        rejected=tuple(sorted(rejected)),
    )


def timeout_error(host: str, seconds: float) -> ProviderError:
    """Return the error of a reply that was incomplete at the deadline."""
    return ProviderError(
        f"The server at {host} did not finish its reply within {seconds:g} s.",
        "Raise timeout_s, or check the server's log.",
        retry_class=RetryClass.RETRY,
        reason="timeout",
    )


def unreachable_error(host: str) -> ProviderError:
    """Return the error of a connection that could not be opened: nothing was asked."""
    return ProviderError(
        f"Nothing answers at {host}.",
        "Start the server there, or correct base_url; then run the same command again.",
        retry_class=RetryClass.RETRY,
        reason=UNREACHABLE,
    )


def connection_error(host: str) -> ProviderError:
    """Return the error of a connection that broke before the reply was complete."""
    return ProviderError(
        f"The connection to the server at {host} was lost.",
        "Check the server's log.",
        retry_class=RetryClass.RETRY,
        reason="connection",
    )


def certificate_error(host: str, why: str) -> ProviderError:
    """Return the error of a certificate that this machine does not trust."""
    return ProviderError(
        f"The certificate of the server at {host} is not trusted ({why}).",
        "Name the file of the authority that signed it as ca_file, or correct "
        "base_url.",
        retry_class=RetryClass.STOP_RUN,
        reason="certificate",
    )


def not_tls_error(host: str) -> ProviderError:
    """Return the error of a server that does not support TLS."""
    return ProviderError(
        f"The server at {host} does not speak https.",
        "Write http:// in base_url, if it is on this machine.",
        retry_class=RetryClass.STOP_RUN,
        reason="not_tls",
    )


def proxy_error(proxy: str, message: str) -> ProviderError:
    """Return the error of a proxy that refuses the connection."""
    quoted = quotation(message, "")
    return ProviderError(
        f"The proxy at {proxy} does not connect to the server{quoted}.",
        "Ask whoever runs it to let the server through, or correct proxy.",
        retry_class=RetryClass.STOP_RUN,
        reason="proxy",
    )


def too_large_error(host: str, limit: int) -> ProviderError:
    """Return the error of a body longer than ``limit`` bytes."""
    return ProviderError(
        f"The server at {host} sent more than {limit // 1_000_000} MB as one reply.",
        "Check that base_url points to a Chat Completions server.",
        retry_class=RetryClass.FAIL,
        reason="too_large",
    )


def no_key_error(variable: str) -> ProviderError:
    """Return the error of a key that is not found anywhere."""
    return ProviderError(
        f"The server's key {variable} is in neither the environment nor the keyring, "
        "or contains characters that no key has.",
        f"Type overread key set {variable}, or set the environment variable.",
        retry_class=RetryClass.STOP_RUN,
        reason="no_key",
    )


def key_echoed_error(host: str) -> ProviderError:
    """Return the error of a reply that contains the key, and so must not be stored."""
    return ProviderError(
        f"The server at {host} returns the key in its reply, so the reply is not kept.",
        "Use another server, and replace the key.",
        retry_class=RetryClass.STOP_RUN,
        reason="key_echoed",
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait, from milliseconds, seconds or an HTTP date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    # float() also takes "nan" and "inf".
    return number if math.isfinite(number) and number >= 0 else None


def _meaning(status: int) -> _Meaning:
    if status in _MEANINGS:
        return _MEANINGS[status]
    if status in (409, 425):
        return _TOO_EARLY
    if status >= 500:
        return _SERVER_FAILED
    return _REDIRECTS if 300 <= status < 400 else _OTHER


def _error_object(body: bytes) -> dict[str, object]:
    """Return the ``error`` object of a body, {} if it has none."""
    error = _json_object(body).get("error")
    if isinstance(error, str):
        return {"message": error}
    return error if isinstance(error, dict) else {}


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def quotation(message: object, secret: str) -> str:
    """Return ``: message`` on one line without the key, "" without a message."""
    if not isinstance(message, str) or not message.strip():
        return ""
    plain = message.replace(secret, STRUCK) if secret else message
    plain = without_secrets(plain, {*known_keys(), secret})
    line = " ".join("".join(c if c.isprintable() else " " for c in plain).split())
    return f": {line[:_SAID_AT_MOST]}{'…' if len(line) > _SAID_AT_MOST else ''}"
