"""Counts with their nouns, such as "1 case" and "2 cases"."""


def counted(n: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: ``1 case``, ``1,200 cases``, ``2 misses``.

    ``plural`` is the noun for any number but one; by itself it takes an s.
    """
    return f"{n:,} {noun if n == 1 else plural or f'{noun}s'}"
