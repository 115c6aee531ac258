"""Random numbers whose bits are the same on every machine and with every numpy.

numpy guarantees the raw output of a bit generator across versions, but not that of its
distributions (NEP 19), so only raw output is used here.
"""

import hashlib

import numpy as np
import numpy.typing as npt


class SeededBits:
    """A stream of random bits identified by a seed and the parts of a name.

    The name is hashed with SHA-256, so that streams of different names are independent.
    """

    def __init__(self, seed: int, *identity: str) -> None:
        name = "\0".join((str(seed), *identity)).encode()
        words = np.frombuffer(hashlib.sha256(name).digest(), dtype="<u4")
        entropy = [int(word) for word in words]
        self._source = np.random.PCG64(np.random.SeedSequence(entropy))

    def uniform(self, low: float, high: float) -> float:
        """Return a number from ``low`` (included) to ``high``, from 53 random bits."""
        # 53 of 64 bits: as many as a float holds exactly.
        bits = int(self._source.random_raw()) >> 11
        return low + (high - low) * (bits / 2**53)

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from ``low`` to ``high``, both included."""
        return low + (int(self._source.random_raw()) >> 11) % (high - low + 1)

    def words(self, count: int) -> npt.NDArray[np.uint32]:
        """Return ``count`` words of 32 random bits."""
        raw = np.asarray(self._source.random_raw(-(-count // 2)), dtype="<u8")
        return raw.view("<u4")[:count]
