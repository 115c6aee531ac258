"""Counts with their nouns, such as "2 cases", and sizes, such as "212 MB"."""


def counted(n: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: ``1 case``, ``1,200 cases``, ``2 misses``.

    ``plural`` is the noun for any number but one; by itself it takes an s.
    """
    return f"{n:,} {noun if n == 1 else plural or f'{noun}s'}"


def size_words(n_bytes: int) -> str:
    """Return a size in the largest unit that gives at least one."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.{1 if n_bytes < 10 * size else 0}f} {unit}"
    return f"{n_bytes} B"
