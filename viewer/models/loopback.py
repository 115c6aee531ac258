"""Recognising addresses of this machine."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Tell whether a host is 127.0.0.0/8, ::1 or localhost."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
