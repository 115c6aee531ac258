"""Addresses of models, and whether anything may be sent there."""

import ipaddress
import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from viewer.domain.errors import PrivacyError, WrongUseError
from viewer.models.loopback import is_loopback
from viewer.settings import policy_file, read_policy

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_NAME: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?\.?")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a server; ``path`` begins with a slash and ends without one."""

    scheme: str
    host: str
    port: int
    path: str = ""

    @property
    def address(self) -> str:
        """Host and port, as used in messages."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port, as used in consents and allowances."""
        return f"{self.scheme}://{self.address}"

    @property
    def url(self) -> str:
        """Scheme, host, port and path: the address that is asked."""
        return f"{self.origin}{self.path}"

    @property
    def is_here(self) -> bool:
        """True for 127.0.0.0/8, ::1 and localhost."""
        return is_loopback(self.host)

    @property
    def is_readable(self) -> bool:
        """True if traffic to this remote machine can be read on the way."""
        return self.scheme == "http" and not self.is_here

    def check_policy(self) -> None:
        """Raise ``PrivacyError`` if an administrator lets nothing go there."""
        if self.is_here or (hosts := (policy := read_policy()).hosts) is None:
            return
        named = f"allowed_hosts of {policy_file()}"
        if self.origin not in {endpoint_at(host, named).origin for host in hosts}:
            raise PrivacyError(
                f"The administrator of this computer lets nothing go to {self.origin}.",
                f"Use a model on this machine. {policy.how}",
            )

    def check_key(self, name: object) -> None:
        """Raise ``PrivacyError`` if a key of this name could be read on the way.

        ``name`` is a profile's ``api_key_env``, None if no key is sent.
        """
        if name and self.is_readable:
            raise PrivacyError(
                f"The key {name} would go to {self.origin} unencrypted, so nothing is "
                "sent there.",
                "Use the server's https address, or remove api_key_env; a server on "
                "this machine is 127.0.0.1.",
            )


def endpoint_at(url: str, setting: str = "base_url") -> Endpoint:
    """Return the parts of an address.

    Parameters
    ----------
    url : str
        The URL in a profile.
    setting : str
        The name of its setting, for messages.

    Raises
    ------
    WrongUseError
        If it is not an http or https URL, or has a user name, query or fragment.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    host = _plain_host(parts.hostname or "")
    if parts.scheme not in _DEFAULT_PORTS or not host or port == 0:
        raise WrongUseError(
            f"The {setting} is not the address of a server.",
            "Write it like http://127.0.0.1:8131/v1.",
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise WrongUseError(
            f"The {setting} contains more than host, port and path.",
            "Leave user names, keys and queries out of it; name a key by api_key_env.",
        )
    port = port or _DEFAULT_PORTS[parts.scheme]
    return Endpoint(parts.scheme, host, port, parts.path.rstrip("/"))


def _plain_host(host: str) -> str:
    """Return a host in the form used for look-ups, "" if it is invalid.

    A name in another script is returned in its ASCII form (RFC 5891), so that consent
    is not given to a look-alike.
    """
    if ":" in host:
        try:
            # What follows "%" names an interface here, not another host (RFC 4007).
            return str(ipaddress.IPv6Address(host.partition("%")[0]))
        except ValueError:
            return ""
    try:
        plain = host.encode("idna").decode() if not host.isascii() else host
    except UnicodeError:
        return ""
    return plain if _NAME.fullmatch(plain) else ""


@dataclass(frozen=True)
class Allowance:
    """The remote servers that may be asked.

    ``origins`` has them in the form of `Endpoint.origin`: allowing https on a port
    allows neither http nor another port. This machine is always allowed, anything else
    only by consent. Proxies are not part of it: only the profile's own proxy is used,
    never the environment's, and only if it cannot read the traffic.
    """

    origins: frozenset[str] = field(default_factory=frozenset)

    def check(self, endpoint: Endpoint, proxy: Endpoint | None = None) -> None:
        """Raise ``PrivacyError`` if nothing may be sent to an endpoint.

        Nobody consents to a ``proxy`` on another machine: it may pass on what it cannot
        read, and nothing that is meant for this machine.
        """
        endpoint.check_policy()
        if not endpoint.is_here and endpoint.origin not in self.origins:
            raise PrivacyError(
                f"Images may only be sent to this machine, and {endpoint.host} is not "
                "this machine; use a server on 127.0.0.1, ::1 or localhost."
            )
        readable = endpoint.is_here or endpoint.is_readable
        if proxy is not None and not proxy.is_here and readable:
            raise PrivacyError(
                f"The proxy {proxy.host} is another machine and could read what is "
                f"sent to {endpoint.host}.",
                "Remove proxy, or use an https address.",
            )


LOCAL_ONLY: Final = Allowance()
"""Nothing leaves this machine."""
