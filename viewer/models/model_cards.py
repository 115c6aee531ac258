"""What is known of vision-language models in use: ``resources/known_models.toml``.

Each fact comes with the page on which it was read, the words there and the day. What
could not be read is unknown and stays out of a profile, for calibration to find.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from tomllib import TOMLDecodeError
from typing import Final, Generic, Literal, TypeVar

from viewer.domain.documents import read_toml
from viewer.domain.errors import WrongUseError
from viewer.domain.plain import made
from viewer.models.coordinates.settings import CONVENTION_NAMES, VIEW_NAMES
from viewer.models.paper_presets import PRESETS
from viewer.models.transformers_local.memory import QUANTIZED_BYTES, needed_bytes

FILE: Final = "known_models.toml"
UNKNOWN: Final = "unknown"
"""Stands in the table, and in lists, for what could not be read anywhere."""
PRECISIONS: Final[Mapping[str, float]] = {"bfloat16": 2.0, **QUANTIZED_BYTES}
"""Bytes of a weight by precision, the most exact first."""
LONGEST_REPLY: Final[Mapping[str, int]] = {"max_tokens": 8192, "max_new_tokens": 1024}
"""The most tokens of a reply that a profile is given, by the setting for it.

A server's model may think first; a local one that repeats itself should end soon.
"""

Unknown = Literal["unknown", "none documented"]
_V = TypeVar("_V")
_HOW: Final = "Correct it, or install the program again."
_CHOICES: Final = {"view": VIEW_NAMES, "convention": CONVENTION_NAMES}


@dataclass(frozen=True, slots=True)
class Fact(Generic[_V]):
    """A value, and the words of the page on which it was read on that day."""

    value: _V
    quote: str
    address: str
    read: date


@dataclass(frozen=True)
class ModelCard:
    """A model and what is known of it; None stands for unknown.

    ``parameters`` counts its weights, ``context`` tokens of question and answer
    together and ``reply`` those of the longest answer. ``view`` and ``convention`` are
    the program's names. ``example`` is a documented reply; where none is documented,
    ``looked`` says where that was looked up. ``ask`` has the settings by which it is
    asked; ``also`` are other names at servers.
    """

    name: str
    title: str
    ask: Mapping[str, str]
    also: tuple[str, ...]
    licence: Fact[str] | None
    access: Fact[str] | None
    parameters: Fact[int] | None
    view: Fact[str] | None
    convention: Fact[str] | None
    context: Fact[int] | None
    reply: Fact[int] | None
    note: Fact[str] | None
    example: Fact[str] | None
    looked: str = ""

    @property
    def facts(self) -> Mapping[str, Fact[str] | Fact[int] | None]:
        """Every fact by its name in the table."""
        return {name: getattr(self, name) for name in FACTS}

    @property
    def is_remote(self) -> bool:
        """True for a model that only its provider runs."""
        return "api_key_env" in self.ask

    @property
    def is_local(self) -> bool:
        """True for a model that the program itself can load."""
        return self.ask["adapter"] == "transformers_local"

    @property
    def obtained_from(self) -> str:
        """The address of the weights, or the name of the variable with a key."""
        if self.is_remote:
            return f"a key in {self.ask['api_key_env']}"
        return f"https://huggingface.co/{self.ask['model']}"

    @property
    def papers(self) -> tuple[str, ...]:
        """The published studies that asked this model, each once."""
        asked = (p.paper for p in PRESETS if self.is_called(str(p.table["model"])))
        return tuple(dict.fromkeys(asked))

    def is_called(self, name: str) -> bool:
        """Tell whether a server's or file's name is one of this model's."""
        model = self.ask["model"]
        names = (self.name, model, model.rpartition("/")[2], *self.also)
        return name.casefold() in {one.casefold() for one in names}

    def memory(self, precision: str) -> int | None:
        """Return the approximate bytes to answer a question, None if unknown.

        ``precision`` is one of `PRECISIONS`.
        """
        if self.parameters is None:
            return None
        return needed_bytes(round(self.parameters.value * PRECISIONS[precision]))

    def served(self) -> dict[str, object]:
        """Return what is known as settings of a profile that asks a server."""
        return self._settings("max_tokens")

    def table(self) -> dict[str, object]:
        """Return a ``[[model]]`` table that asks this model."""
        longest = "max_new_tokens" if self.is_local else "max_tokens"
        return {"name": self.name, **self.ask, **self._settings(longest)}

    def _settings(self, longest: str) -> dict[str, object]:
        known = {
            "convention": self.convention and self.convention.value,
            "provider_view": self.view and self.view.value,
            longest: self.reply and min(self.reply.value, LONGEST_REPLY[longest]),
        }
        return {key: value for key, value in known.items() if value is not None}


def card_named(name: str) -> ModelCard:
    """Return the card of a model by any of its names; ``WrongUseError`` if unknown."""
    card = card_of(name)
    if card is None:
        raise WrongUseError(
            f"Nothing is known of a model called '{name}'.",
            "Choose one that overread models --known lists, or connect it and let "
            "overread calibrate find how it writes locations.",
        )
    return card


def card_of(name: str) -> ModelCard | None:
    """Return the card of a model by any of its names, None if there is none."""
    return next((card for card in model_cards() if card.is_called(name)), None)


@cache
def model_cards() -> tuple[ModelCard, ...]:
    """Return every card of the program's table."""
    text = files("viewer.resources").joinpath(FILE).read_text(encoding="utf-8")
    return read_cards(text)


def read_cards(text: str) -> tuple[ModelCard, ...]:
    """Return the cards of a table, in its order.

    Raises
    ------
    WrongUseError
        If the text is not such a table; the sentence names what is wrong.
    """
    try:
        table = made(_Table, read_toml(text), where=FILE)
    except TOMLDecodeError as error:
        raise WrongUseError(f"{FILE} cannot be read: {error}.", _HOW) from None
    cards = tuple(map(table.card, table.model))
    names = [name for card in cards for name in (card.name, *card.also)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise WrongUseError(f"{FILE} has two models called '{twice}'.", _HOW)
    return cards


@dataclass(frozen=True, slots=True)
class _Page:
    address: str
    read: date


@dataclass(frozen=True, slots=True)
class _Stated:
    value: str | int
    page: str
    quote: str


@dataclass(frozen=True, kw_only=True)
class _Family:
    licence: _Stated | Unknown | None = None
    access: _Stated | Unknown | None = None
    parameters: _Stated | Unknown | None = None
    view: _Stated | Unknown | None = None
    convention: _Stated | Unknown | None = None
    context: _Stated | Unknown | None = None
    reply: _Stated | Unknown | None = None
    note: _Stated | Unknown | None = None
    example: _Stated | Unknown | None = None
    looked: str = ""


@dataclass(frozen=True, kw_only=True)
class _Row(_Family):
    name: str
    title: str
    family: str
    ask: dict[str, str]
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Table:
    page: dict[str, _Page]
    family: dict[str, _Family]
    model: tuple[_Row, ...]

    def card(self, row: _Row) -> ModelCard:
        """Return the card of a model: its own facts, else its family's."""
        return ModelCard(
            row.name,
            row.title,
            row.ask,
            row.also,
            licence=self._fact(row, "licence", str),
            access=self._fact(row, "access", str),
            parameters=self._fact(row, "parameters", int),
            view=self._fact(row, "view", str),
            convention=self._fact(row, "convention", str),
            context=self._fact(row, "context", int),
            reply=self._fact(row, "reply", int),
            note=self._fact(row, "note", str),
            example=self._fact(row, "example", str),
            looked=str(self._stated(row, "looked") or ""),
        )

    def _stated(self, row: _Row, name: str) -> object:
        """Return what a row states, else its family."""
        return getattr(row, name) or getattr(self.family.get(row.family), name, None)

    def _fact(self, row: _Row, name: str, kind: type[_V]) -> Fact[_V] | None:
        where = f"The {name} of '{row.name}' in {FILE}"
        stated = self._stated(row, name)
        if stated is None:
            raise WrongUseError(f"{where} is not stated.", 'Write "unknown".')
        if not isinstance(stated, _Stated):
            return None
        page = self.page.get(stated.page)
        if page is None or not page.address.startswith("https://"):
            raise WrongUseError(f"{where} has no page with an address.", _HOW)
        if not stated.quote.strip():
            raise WrongUseError(f"{where} has no quote.", _HOW)
        choices = _CHOICES.get(name, (stated.value,))
        if not isinstance(stated.value, kind) or stated.value not in choices:
            raise WrongUseError(f"{where} has a value that cannot be used.", _HOW)
        return Fact(stated.value, stated.quote, page.address, page.read)


FACTS: Final = tuple(n for n in _Family.__dataclass_fields__ if n != "looked")
"""The names of a card's facts, in the order of the table."""
