"""Replies spoilt at random, to see that nothing a model writes breaks a parser."""

import random

_PIECES = (
    *("[", "]", "{", "}", "(", ")", "<", ">", '"', "'", ",", ":", ";", "\\", "/", "|"),
    *("0", "-1", "1e9", "1e999", "99999999999", ".5", "NaN", "null", "\n", "\x00", "…"),
    *(
        "<think>",
        "</think>",
        "```json",
        "```",
        "<loc0001>",
        "<loc_1>",
        "<box>",
        "</box>",
    ),
    *(
        "<|det|>",
        "<|box_start|>",
        "<object>",
        "<patch_index_0001>",
        "<point x=",
        "<obj>",
    ),
    *('"bbox_2d"', '"box_2d"', '"label"', "٣", "D4", "//", "/*", "sorry", "no nodule"),
)


def mutated(text: str, rng: random.Random) -> str:
    """Return ``text`` after one to four small accidents."""
    for _ in range(rng.randint(1, 4)):
        text = rng.choice(_ACCIDENTS)(text, rng)
    return text


def _cut_off(text: str, rng: random.Random) -> str:
    return text[: rng.randint(0, len(text))]


def _dropped(text: str, rng: random.Random) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + text[at + rng.randint(1, 6) :]


def _inserted(text: str, rng: random.Random) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(_PIECES) + text[at:]


def _repeated(text: str, rng: random.Random) -> str:
    start = rng.randint(0, len(text))
    stop = rng.randint(start, min(len(text), start + 40))
    return text[:stop] + text[start:stop] * rng.randint(1, 3) + text[stop:]


def _digit_changed(text: str, rng: random.Random) -> str:
    digits = [i for i, c in enumerate(text) if c.isdigit()]
    if not digits:
        return text
    at = rng.choice(digits)
    return text[:at] + rng.choice(("", "0", "9", "-", ".", "77")) + text[at + 1 :]


def _swapped(text: str, rng: random.Random) -> str:
    if len(text) < 2:
        return text
    i, j = sorted(rng.sample(range(len(text)), 2))
    return text[:i] + text[j] + text[i + 1 : j] + text[i] + text[j + 1 :]


_ACCIDENTS = (_cut_off, _dropped, _inserted, _repeated, _digit_changed, _swapped)
