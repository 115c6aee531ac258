"""What is known of vision-language models, as rows, and as tables to copy."""

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import fill
from typing import Final

from viewer.models.coordinates.likely import places_in_words
from viewer.models.fitting import (
    Machine,
    best_fit,
    fit_in_words,
    smallest_need,
    this_machine,
)
from viewer.models.model_cards import (
    FACTS,
    PRECISIONS,
    UNKNOWN,
    ModelCard,
    card_named,
    model_cards,
)
from viewer.writers.toml import toml_bytes

COLUMNS: Final = ("name", "licence", "memory", "convention", "view", "fits")
"""What the list shows of each model; JSON has the rest."""
_GIB: Final = 1 << 30
_EXACTNESS: Final = {
    "bfloat16": "as published",
    "8bit": "rounded to 8 bits",
    "4bit": "rounded to 4 bits",
}
"""A precision in words: how exact its weights are."""


def known_rows(machine: Machine | None = None) -> list[dict[str, object]]:
    """Return a row for each model, with every fact and where it was read."""
    here = machine or this_machine()
    return [_row(card, here) for card in model_cards()]


@dataclass(frozen=True)
class KnownFit:
    """Whether a known model fits this computer, by its title.

    ``words`` say how or why not, and how it is obtained; ``settings`` load it in the
    best precision, and are empty for a model that does not fit.
    """

    title: str
    words: str
    settings: Mapping[str, object]


def known_fits(machine: Machine | None = None) -> tuple[KnownFit, ...]:
    """Return for each model whose weights can be had whether it fits this computer."""
    here = machine or this_machine()
    return tuple(_fit(card, here) for card in model_cards() if card.is_local)


def _fit(card: ModelCard, machine: Machine) -> KnownFit:
    fit, smallest = best_fit(card, machine), smallest_need(card)
    if fit is not None:
        memory = "graphics card" if fit.on_gpu else "computer"
        fits = f"fits this {memory} {_EXACTNESS[fit.precision]}, {_gib(fit.needed)}"
        return KnownFit(card.title, _with_access(card, fits), fit.settings())
    if smallest is None:
        return KnownFit(card.title, need_of(card), {})
    least = f"too large now: needs a graphics card with {_gib(smallest)} or more"
    return KnownFit(card.title, _with_access(card, least), {})


def _with_access(card: ModelCard, words: str) -> str:
    return f"{words} · {card.access.value}" if card.access else words


def _gib(count: int) -> str:
    return f"{count / _GIB:.1f} GiB"


def machine_sentence() -> str:
    """Say what memory is free on this machine."""
    return this_machine().in_words


def _row(card: ModelCard, machine: Machine) -> dict[str, object]:
    return {
        "name": card.name,
        "title": card.title,
        **{name: _value(card, name) for name in FACTS},
        "memory": _memory(card),
        "fits": fit_in_words(card, machine),
        "obtained_from": card.obtained_from,
        "papers": list(card.papers),
        "sources": _sources(card),
    }


def note_of(card: ModelCard) -> str:
    """Return the most important of what is known of a model, for a tool tip."""
    said = [
        f"Licence: {_value(card, 'licence')}.",
        f"Memory: {_memory(card)}.",
        f"Writes places as: {_places(card)}.",
        f"Resizes images as: {_value(card, 'view')}.",
    ]
    if card.note is not None:
        said.append(f"{card.note.value[:1].upper()}{card.note.value[1:]}.")
    return " ".join(said)


def _places(card: ModelCard) -> str:
    found = card.convention
    return f"{places_in_words(found.value)} ({found.value})" if found else UNKNOWN


def need_of(card: ModelCard) -> str:
    """Return what a model needs of this machine and of its user, "" if unknown."""
    needed = card.memory("bfloat16")
    parts = ["runs at its provider"] if card.is_remote else []
    if needed is not None and not card.is_remote:
        parts.append(f"needs {needed / _GIB:.1f} GiB of memory")
    if card.access is not None:
        parts.append(card.access.value)
    return " · ".join(parts)


def _value(card: ModelCard, name: str) -> str | int:
    fact = card.facts[name]
    return UNKNOWN if fact is None else fact.value


def _memory(card: ModelCard) -> str:
    """Return the memory that a model needs in each precision."""
    if card.is_remote:
        return "none here"
    needs = {name: card.memory(name) for name in PRECISIONS}
    known = [f"{n} {b / _GIB:.1f} GiB" for n, b in needs.items() if b is not None]
    return ", ".join(known) or UNKNOWN


def _sources(card: ModelCard) -> dict[str, dict[str, str]]:
    return {
        name: {"address": f.address, "quote": f.quote, "read": f.read.isoformat()}
        for name, f in card.facts.items()
        if f is not None
    }


def known_table(name: str, machine: Machine | None = None) -> dict[str, object]:
    """Return a ``[[model]]`` table that asks a known model, as it fits this machine.

    An unknown model raises ``WrongUseError``.
    """
    card = card_named(name)
    fit = best_fit(card, machine or this_machine()) if card.is_local else None
    return {**card.table(), **(fit.settings() if fit else {})}


def known_text(name: str, machine: Machine | None = None) -> str:
    """Return the table of `known_table`; comments say what is known and from where."""
    card = card_named(name)
    here = machine or this_machine()
    lines = [f"{card.title}: {card.obtained_from}"]
    lines += [
        f"{fact_name}: {_value(card, fact_name)} ({fact.address})"
        for fact_name, fact in card.facts.items()
        if fact is not None and fact_name != "example"
    ]
    lines.append(f"fits: {fit_in_words(card, here)}")
    lacking = [n for n in ("convention", "view") if card.facts[n] is None]
    if lacking:
        lines.append(f"unknown: {' and '.join(lacking)}")
        lines.append(f"find out: overread calibrate {card.name}")
    if card.is_local:
        lines.append("Add download = true to fetch the weights, or name their folder.")
    table = {"model": [known_table(name, here)]}
    return "\n".join([*map(_comment, lines), toml_bytes(table).decode().lstrip("\n")])


def _comment(line: str) -> str:
    return fill(
        line,
        initial_indent="# ",
        subsequent_indent="#   ",
        break_long_words=False,
        break_on_hyphens=False,
    )
