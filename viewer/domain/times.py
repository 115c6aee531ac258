"""Stored times in words."""


def in_utc(at: str) -> str:
    """Return a time of a store (UTC, ISO 8601) to the second, as people read it."""
    return f"{at[:19].replace('T', ' ')} UTC"
