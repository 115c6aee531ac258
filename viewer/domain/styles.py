"""Colours, markers and order of everything drawn: one table, keyed by code.

A code is the program's name for an outcome, a status or a grade (``full``, ``refused``,
``grade_3.5``); the displayed ``words`` do not affect its colour. A model keeps the
colour of its profile wherever it is drawn; anything else is coloured by position: the
first, the second, and so on. The colours are those of Okabe and Ito and a violet,
distinguishable with colour-vision deficiency; where colour is not enough, there is a
hatch, a sign or a marker.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Ground:
    """The background drawn on, and the colours of text and lines on it, as #RRGGBB.

    ``ink`` is for text and whiskers, ``soft`` for edges and secondary text, ``line``
    for rules.
    """

    name: str
    paper: str
    ink: str
    soft: str
    line: str

    @property
    def dark(self) -> bool:
        """True if text is light on this background."""
        return luminance(self.paper) < luminance(self.ink)


LIGHT: Final = Ground("light", "#FFFFFF", "#1C2127", "#5B646E", "#C9D0D7")
"""The ground of the light theme, and of print."""
DARK: Final = Ground("dark", "#1B1E23", "#D7DBE0", "#8B939E", "#2A2F36")
GROUNDS: Final = {ground.name: ground for ground in (LIGHT, DARK)}


@dataclass(frozen=True, slots=True)
class Style:
    """How a kind of answer, or its author, is drawn.

    ``on_dark`` is the colour on a dark background, "" if ``colour`` is used on both.
    ``hatch`` and ``marker`` are matplotlib's codes, ``sign`` is a character.
    """

    words: str
    colour: str
    hatch: str = ""
    sign: str = "◼"
    marker: str = "o"
    on_dark: str = ""

    def colour_on(self, ground: Ground) -> str:
        """Return the colour on a background."""
        return self.on_dark or self.colour if ground.dark else self.colour


REFERENCE: Final = "#56B4E9"
READER: Final = "#F0E442"
MODELS: Final = ("#E69F00", "#CC79A7", "#009E73", "#9966FF", "#D55E00")
"""Models in the order named; further ones repeat the colours, hatched or with other
markers and signs."""
MODEL_NAMES: Final = ("orange", "purple", "green", "violet", "vermilion")
"""What a profile calls them."""
_KNOWN: Final[dict[str, Mapping[str, int]]] = {"models": {}}
_MODEL_HATCHES: Final = ("", "////", "xxxx")
_MODEL_MARKERS: Final = ("o", "D", "^", "s", "v", "P", "X", "<", "*", ">")
_MODEL_SIGNS: Final = ("●", "◆", "▲", "■", "▼", "✚", "✖", "◀", "★", "▶")

STYLES: Final[Mapping[str, Style]] = {
    # how a cell meets the reference; full_fallback and miss are what trials say
    "full": Style("full hit", "#0072B2"),
    "full_fallback": Style("full hit", "#0072B2"),
    "partial": Style("partial hit", "#56B4E9", sign="◧"),
    "miss": Style("miss", "#F0E442", sign="◇"),
    "position": Style("position error", "#F0E442", sign="◇"),
    "anatomy": Style("anatomy error", "#D55E00", sign="✕"),
    "unsure": Style("reader unsure", "#999999", sign="~"),
    "not_reviewed": Style(
        "miss, not reviewed", "#D9DFE3", "////", "◇", on_dark="#4A525B"
    ),
    "no_answer": Style("no answer", "#FFFFFF", "....", "?", on_dark="#2A2F36"),
    # how a question ended that nobody has judged
    "answered": Style("answered, not graded", "#0072B2"),
    "truncated": Style("token limit", "#E69F00", "////", "▨"),
    "unparsed": Style("unparsed", "#D55E00", "....", "?"),
    "refused": Style("refused", "#CC79A7", "xxxx", "⊘"),
    "provider_error": Style("failed", "#999999", "////", "!"),
    "excluded": Style("excluded", "#C9D0D5", "", "–", on_dark="#6B747E"),
    "pending": Style("pending", "#FFFFFF", "....", "…", on_dark="#2A2F36"),
    # views of a radiograph
    "frontal": Style("frontal", "#0072B2"),
    "lateral": Style("lateral", "#E69F00", "////"),
    "other": Style("other", "#009E73", "...."),
    "unknown": Style("unknown", "#FFFFFF", "xxxx", on_dark="#2A2F36"),
    # grades, the worst orange and the best purple (ColorBrewer PuOr)
    "grade_0": Style("0", "#7F3B08"),
    "grade_1": Style("1", "#E66101"),
    "grade_1.5": Style("1.5", "#F08A3C"),
    "grade_2": Style("2", "#FDB863"),
    "grade_2.5": Style("2.5", "#FCD9A0"),
    "grade_3": Style("3", "#F7F7F7"),
    "grade_3.5": Style("3.5", "#D8DAEB"),
    "grade_4": Style("4", "#B2ABD2"),
    "grade_4.5": Style("4.5", "#998EC3"),
    "grade_5": Style("5", "#8073AC"),
    # languages, sensitivity and tags (Chen 2026, Fig. 3, 6 and 14; Banerjee 2025, S1b)
    "en": Style("English", "#0072B2"),
    "zh": Style("Chinese", "#E69F00"),
    "image_above": Style("image above text", "#009E73"),
    "image_below": Style("image below text", "#A6611A", marker="^", on_dark="#D9A066"),
    "alike": Style("alike", "#C9D0D5", marker="s", on_dark="#6B747E"),
    "tagged": Style("so tagged", "#56B4E9"),
    "not_tagged": Style("other tasks", "#EEF1F3", on_dark="#343A42"),
    # kinds of evidence (Chen 2026, Fig. 2 and 8): read as text too, so 4.5 : 1
    "Laboratory": Style("Laboratory", "#8A5A00", "", "▶", ">", "#E69F00"),
    "CT": Style("CT", "#0A6AA0", "", "●", "o", "#56B4E9"),
    "MRI": Style("MRI", "#2F3FB0", "", "◆", "D", "#8FA2FF"),
    "PET": Style("PET", "#B03A00", "", "▲", "^", "#FF8552"),
    "Ultrasound": Style("Ultrasound", "#006B4A", "", "▼", "v", "#2CC295"),
    "X-ray": Style("X-ray", "#006C78", "", "■", "s", "#9BDDE6"),
    "Microscopy": Style("Microscopy", "#A02F78", "", "✚", "P", "#E58ABD"),
    "Clinical Photography": Style(
        "Clinical Photography", "#665F00", "", "★", "*", "#F0E442"
    ),
    "Electrophysiology/Other": Style(
        "Electrophysiology/Other", "#7A35C0", "", "✖", "X", "#C79CFF"
    ),
    "text": Style("text", "#5B646E", "", "≡", "<", "#9AA3AD"),
}
"""Every code that is drawn in a style of its own, in the order of stacks and keys."""


def style_of(code: str) -> Style:
    """Return the style of a code; unknown codes are grey."""
    words = code.replace("_", " ")
    return STYLES.get(code) or Style(words, LIGHT.soft, on_dark=DARK.soft)


def model_style(place: int, name: str = "") -> Style:
    """Return the style of the model or series at ``place``, from 0."""
    turn, which = divmod(place, len(MODELS))
    return Style(
        name,
        MODELS[which],
        _MODEL_HATCHES[turn % len(_MODEL_HATCHES)],
        _MODEL_SIGNS[place % len(_MODEL_SIGNS)],
        _MODEL_MARKERS[place % len(_MODEL_MARKERS)],
    )


def know_models(places: Mapping[str, int]) -> None:
    """Register models, to be drawn everywhere in the colours of these places."""
    _KNOWN["models"] = dict(places)


def looks_of(names: Iterable[str]) -> dict[str, Style]:
    """Return distinct styles, by name, for what is drawn together.

    A registered model has its own colour; the others get the remaining colours in the
    order named. A colour used twice comes with another hatch.
    """
    known, asked = _KNOWN["models"], tuple(dict.fromkeys(names))
    taken = {known[name] % len(MODELS) for name in asked if name in known}
    free = iter([n for n in range(len(MODELS)) if n not in taken])
    turns: dict[int, int] = {}
    looks = {}
    for place, name in enumerate(asked):
        which = known[name] if name in known else next(free, place)
        which %= len(MODELS)
        turns[which] = turns.get(which, -1) + 1
        looks[name] = model_style(which + len(MODELS) * turns[which], name)
    return looks


def sides_of(models: Sequence[str]) -> tuple[Style, ...]:
    """Return distinct styles for the two sides of a comparison, even of one model."""
    names = [
        f"{model} ({n})" if model in models[:n] else model
        for n, model in enumerate(models)
    ]
    looks = looks_of(names)
    return tuple(looks[name] for name in names)


def rgb_of(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue, 0 to 255, of a colour #RRGGBB."""
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue


def in_order(codes: Iterable[str]) -> tuple[str, ...]:
    """Return codes without duplicates in the order of the table, unknown ones last."""
    places = {code: place for place, code in enumerate(STYLES)}
    return tuple(sorted({*codes}, key=lambda code: (places.get(code, 1000), code)))


def luminance(colour: str) -> float:
    """Return the relative luminance, 0-1, of a colour #RRGGBB (WCAG 2)."""
    coded = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (
        # IEC 61966-2-1 and WCAG since May 2021; before, WCAG said 0.03928.
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in coded
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ink_on(colour: str) -> str:
    """Return black or white, whichever contrasts more with a colour (WCAG 2, 1.4.3)."""
    light = luminance(colour)
    return "#FFFFFF" if 1.05 / (light + 0.05) > (light + 0.05) / 0.05 else "#000000"


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21 (WCAG 2, 1.4.3)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
