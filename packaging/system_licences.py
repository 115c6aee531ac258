"""Licences of the system's libraries."""

SYSTEM_LICENCES: dict[str, str] = {}
