"""NumPy's random numbers in pure Python: SeedSequence, PCG64, bounded integers.

Written from the descriptions of O'Neill (PCG, 2014; seed_seq, 2015) and of Lemire
(2019), so that resamples can be drawn again without NumPy.
"""

import hashlib
from collections.abc import Iterator, Sequence

_WORD = 0xFFFFFFFF
_WIDE = (1 << 128) - 1
_LONG = (1 << 64) - 1
_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_POOL_SIZE = 4


def named_entropy(seed: int, *identity: str) -> list[int]:
    """Return the entropy of a seed and the parts of a name."""
    digest = hashlib.sha256("\0".join(identity).encode()).digest()
    words = [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 32, 4)]
    return [abs(seed), int(seed < 0), *words]


class _Hash:
    """SeedSequence's hash, whose constant changes at each use."""

    def __init__(self, start: int, multiplier: int) -> None:
        self._constant, self._multiplier = start, multiplier

    def __call__(self, value: int) -> int:
        value ^= self._constant
        self._constant = self._constant * self._multiplier & _WORD
        value = value * self._constant & _WORD
        return value ^ (value >> 16)


def _mixed(x: int, y: int) -> int:
    value = (0xCA01F9DD * x - 0x4973F715 * y) & _WORD
    return value ^ (value >> 16)


def seed_words(entropy: Sequence[int], count: int) -> list[int]:
    """Return ``count`` 32-bit words, as SeedSequence derives them from entropy."""
    words = [word for number in entropy for word in _words_of(number)]
    hashed = _Hash(0x43B0D7E5, 0x931E8875)
    padded = words + [0] * (_POOL_SIZE - len(words))
    pool = [hashed(word) for word in padded[:_POOL_SIZE]]
    for source in range(_POOL_SIZE):
        for target in range(_POOL_SIZE):
            if source != target:
                pool[target] = _mixed(pool[target], hashed(pool[source]))
    for word in words[_POOL_SIZE:]:
        for target in range(_POOL_SIZE):
            pool[target] = _mixed(pool[target], hashed(word))
    drawn = _Hash(0x8B51F9DD, 0x58F38DED)
    return [drawn(pool[i % _POOL_SIZE]) for i in range(count)]


def _words_of(number: int) -> list[int]:
    words = [number & _WORD]
    while number := number >> 32:
        words.append(number & _WORD)
    return words


def drawn_rows(entropy: Sequence[int], n: int, rows: int) -> Iterator[list[int]]:
    """Yield ``rows`` rows of ``n`` integers from 0 to n - 1, as NumPy draws them."""
    # NumPy draws nothing where there is nothing to choose.
    if n == 1:
        yield from ([0] for _ in range(rows))
        return
    halves, least = _halves(entropy), (1 << 32) % n
    step = halves.__next__
    for _ in range(rows):
        row = []
        for _ in range(n):
            wide = step() * n
            # Lemire: the few products that would favour some integers are drawn again.
            while wide & _WORD < least:
                wide = step() * n
            row.append(wide >> 32)
        yield row


def drawn_signs(entropy: Sequence[int], n: int, rows: int) -> Iterator[list[int]]:
    """Yield ``rows`` rows of ``n`` zeros and ones, as NumPy draws them as bytes."""
    step = _halves(entropy).__next__
    for _ in range(rows):
        # Of a range of two, NumPy takes a byte each: its highest bit is the number.
        data = b"".join(step().to_bytes(4, "little") for _ in range(-(-n // 4)))
        yield [byte >> 7 for byte in data[:n]]


def drawn_units(entropy: Sequence[int], count: int) -> list[float]:
    """Return ``count`` numbers from 0 to 1, as NumPy draws them."""
    step = _halves(entropy).__next__
    return [((step() | step() << 32) >> 11) / (1 << 53) for _ in range(count)]


def _halves(entropy: Sequence[int]) -> Iterator[int]:
    """Yield PCG64's numbers as 32-bit halves, the lower one first."""
    state, increment = _start(entropy)
    while True:
        state = (state * _MULTIPLIER + increment) & _WIDE
        value, turn = (state >> 64) ^ (state & _LONG), state >> 122
        value = (value >> turn | value << (64 - turn)) & _LONG
        yield value & _WORD
        yield value >> 32


def _start(entropy: Sequence[int]) -> tuple[int, int]:
    words = seed_words(entropy, 8)
    longs = [words[i] | words[i + 1] << 32 for i in range(0, 8, 2)]
    seed, sequence = longs[0] << 64 | longs[1], longs[2] << 64 | longs[3]
    increment = (sequence << 1 | 1) & _WIDE
    state = ((increment + seed) * _MULTIPLIER + increment) & _WIDE
    return state, increment
