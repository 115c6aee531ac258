"""Random numbers that depend only on a run's seed and a row's name."""

import hashlib

import numpy as np


def generator(seed: int, *identity: str) -> np.random.Generator:
    """Return a PCG64 generator for a seed and the parts of a name.

    The name is hashed with SHA-256, so that it means the same in every process.
    """
    name = "\0".join(identity).encode()
    words = np.frombuffer(hashlib.sha256(name).digest(), dtype="<u4")
    # The sign goes apart: SeedSequence takes no negative numbers.
    entropy = [abs(seed), int(seed < 0), *(int(word) for word in words)]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy)))
