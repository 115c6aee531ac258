"""The prompts of a study, and a person's own texts in their place.

A prompt is a text with placeholders such as ``{finding}``, which every question fills.
Whatever else stands in braces, such as JSON, is text.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from importlib.resources import files
from typing import Final, Protocol, runtime_checkable

from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ImagePart, Message, TextPart
from viewer.domain.placeholders import PLACE, check_placeholders
from viewer.domain.plain import did_you_mean

OURS: Final = "Overread's own"
"""The source of a prompt that no paper prints."""


class OwnPrompts(Mapping[str, str]):
    """Texts of a person's own by the name of the prompt that they stand for.

    Parameters
    ----------
    texts : mapping, optional
        The texts; none where every prompt is the study's.
    """

    __slots__ = ("_texts",)

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        self._texts = dict(texts or {})

    def __getitem__(self, name: str) -> str:
        """Return the text of a prompt; a name without one raises KeyError."""
        return self._texts[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the replaced prompts."""
        return iter(self._texts)

    def __len__(self) -> int:
        """Return how many prompts have another text."""
        return len(self._texts)

    def __hash__(self) -> int:
        """Return the same for the same texts, in whatever order."""
        return hash(frozenset(self._texts.items()))

    def __repr__(self) -> str:
        """Return the texts, for whoever debugs."""
        return f"OwnPrompts({self._texts!r})"


BUILT_IN: Final = OwnPrompts()
"""No text of a person's own."""
OWN_PROMPTS: Final = "Custom prompts, by the names that overread prompts prints."
"""What the parameter ``prompts`` of every study is for."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text that a study asks with, its placeholders open.

    Of each group in ``required`` one placeholder has to be there; those in ``optional``
    may be. ``untouched`` ones stand in the text for the model to read and are sent as
    they are. ``source`` is the paper and the place in it that prints the text, and
    ``use`` says what it is for.
    """

    name: str
    read: Callable[[], str]
    use: str
    source: str = OURS
    required: tuple[tuple[str, ...], ...] = ()
    optional: tuple[str, ...] = ()
    untouched: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The built-in text."""
        return self.read()

    @property
    def places(self) -> tuple[str, ...]:
        """The placeholders that are filled, those that are required first."""
        return (*(one for group in self.required for one in group), *self.optional)

    def check(self, text: str) -> None:
        """Raise for a text that lacks a placeholder, or has one that nothing fills."""
        check_placeholders(
            self.name, text, self.required, self.optional, self.untouched
        )


@dataclass(frozen=True)
class Prompts:
    """The prompts of a study by name; the kind of its parameter ``prompts``."""

    known: Mapping[str, Prompt] = field(default_factory=dict)

    @classmethod
    def of(cls, *prompts: Prompt) -> "Prompts":
        """Return prompts by their names."""
        return cls({prompt.name: prompt for prompt in prompts})

    def read(self, key: str, value: object) -> OwnPrompts:
        """Return a person's texts, each checked; a bad one raises.

        One that is the built-in text is none.
        """
        if not isinstance(value, Mapping):
            raise WrongUseError(f"'{key}' must be a table.", f"Give {self.expected}.")
        for name, text in value.items():
            self.named(str(name)).check(_text(name, text))
        return OwnPrompts({n: t for n, t in value.items() if t != self.known[n].text})

    @property
    def expected(self) -> str:
        """What may be written."""
        return 'texts by the names of prompts, such as NAME = "text"'

    def text(self, name: str, own: Mapping[str, str]) -> str:
        """Return a person's text for a prompt, the built-in one without."""
        return own[name] if name in own else self.known[name].text

    def named(self, name: str) -> Prompt:
        """Return the prompt of a name; an unknown one raises."""
        if name not in self.known:
            raise WrongUseError(
                f"There is no prompt named '{name}'.",
                f"{did_you_mean(name, self.known)}The prompts are "
                f"{', '.join(self.known)}.",
            )
        return self.known[name]


def _text(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    raise WrongUseError(f"The prompt '{name}' must be a text.", "Correct it.")


@runtime_checkable
class HasPrompts(Protocol):
    """What a study has besides whose prompts a person may replace.

    Its Params have them as ``prompts``.
    """

    known_prompts: Prompts


def packaged(package: str, name: str) -> Callable[[], str]:
    """Return what reads a text of a study's folder ``prompts``."""
    return partial(_packaged_text, package, name)


@lru_cache(maxsize=64)
def _packaged_text(package: str, name: str) -> str:
    path = files(package) / "prompts" / f"{name}.txt"
    return path.read_text(encoding="utf-8").removesuffix("\n")


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its placeholders filled, all in one pass.

    What is filled in is never read as a placeholder; those without a value stay.
    """
    return PLACE.sub(lambda place: values.get(place[1], place[0]), text)


def with_system(system: str, template: str) -> str:
    """Return a template under the system's words, where there are any."""
    return f"system:\n{system}\n\nuser:\n{template}" if system else template


def asked_with(
    system: str, parts: tuple[TextPart | ImagePart, ...]
) -> tuple[Message, ...]:
    """Return the user's message, after the system's where it has words."""
    first = (Message("system", (TextPart(system),)),) if system else ()
    return (*first, Message("user", parts))
