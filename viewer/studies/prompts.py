"""The prompts of a study, and custom texts that replace them.

A prompt is a text with placeholders such as ``{finding}``, which every question fills.
Anything else in braces, such as JSON, is text.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, runtime_checkable

from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ImagePart, Message, TextPart
from viewer.domain.placeholders import PLACE, check_placeholders
from viewer.domain.plain import did_you_mean

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
P = TypeVar("P", bound="DataclassInstance")

_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]*")
OURS: Final = "Overread's own"
"""The source of a prompt that no paper prints."""


class FrozenMapping(Mapping[str, T]):
    """A mapping that never changes and can be hashed, whatever its order.

    Parameters
    ----------
    values : mapping, optional
        What it holds; nothing by default.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, T] | None = None) -> None:
        self._values = dict(values or {})

    def __getitem__(self, name: str) -> T:
        """Return a value; KeyError if there is none."""
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, in their order."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._values)

    def __hash__(self) -> int:
        """Return the same for the same values, in whatever order."""
        return hash(frozenset(self._values.items()))

    def __repr__(self) -> str:
        """Return the values, for whoever debugs."""
        return f"FrozenMapping({self._values!r})"


OwnPrompts = FrozenMapping[str]
"""Custom texts by the name of the prompt that they replace."""
PromptVariants = FrozenMapping[OwnPrompts]
"""By variant name, the texts that differ from the run's own prompts."""
BUILT_IN: Final = OwnPrompts()
"""No custom prompt."""
NO_VARIANTS: Final = PromptVariants()
"""Every item is asked in one way."""
OWN_PROMPTS: Final = "Custom prompts, by the names that overread prompts prints."
"""What the parameter ``prompts`` of every study is for."""
PROMPT_VARIANTS: Final = (
    "Alternative prompts by variant name: each item is also asked with each variant."
)
"""What the parameter ``prompt_variants`` of every study is for."""
BASE: Final = "base"
"""What a table calls the run's own prompts beside their variants."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt template of a study.

    At least one placeholder of each group in ``required`` must be present; those in
    ``optional`` may be. ``untouched`` ones are sent unchanged, for the model to read.
    ``source`` is the paper and section that prints the text, and ``use`` its purpose.
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
        """Raise if a text lacks a placeholder, or has an unknown one."""
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
        """Return the custom texts, validated; raises if one is invalid.

        A text equal to the built-in one is dropped.
        """
        found = self.checked(key, value)
        return OwnPrompts({n: t for n, t in found.items() if t != self.known[n].text})

    def checked(self, key: str, value: object) -> dict[str, str]:
        """Return texts by the names of prompts; an invalid one raises."""
        texts = _table(key, value, self.expected)
        for name, text in texts.items():
            self.named(name).check(_text(name, text))
        return {name: str(text) for name, text in texts.items()}

    @property
    def expected(self) -> str:
        """What may be written."""
        return 'texts by the names of prompts, such as NAME = "text"'

    def text(self, name: str, own: Mapping[str, str]) -> str:
        """Return the custom text for a prompt, else the built-in one."""
        return own[name] if name in own else self.known[name].text

    def named(self, name: str) -> Prompt:
        """Return the prompt with a name; raises if it is unknown."""
        if name not in self.known:
            raise WrongUseError(
                f"There is no prompt named '{name}'.",
                f"{did_you_mean(name, self.known)}The prompts are "
                f"{', '.join(self.known)}.",
            )
        return self.known[name]


def check_variant_name(name: str) -> None:
    """Raise for a name that no prompt variant can have."""
    if not _NAME.fullmatch(name) or name == BASE:
        raise WrongUseError(
            f"A prompt variant cannot be named '{name}'.",
            f"Use letters, digits, - and _, and another word than {BASE}.",
        )


@dataclass(frozen=True)
class Variants:
    """Variants of some prompts; the kind of the parameter ``prompt_variants``."""

    prompts: Prompts

    def read(self, key: str, value: object) -> PromptVariants:
        """Return each variant's texts, checked; a bad one raises."""
        found = _table(key, value, self.expected)
        for name in found:
            check_variant_name(name)
        return PromptVariants(
            {
                name: OwnPrompts(self.prompts.checked(name, texts))
                for name, texts in found.items()
            }
        )

    @property
    def expected(self) -> str:
        """What may be written."""
        return "tables of texts by the names of variants"


def _table(key: str, value: object, expected: str) -> Mapping[str, object]:
    if isinstance(value, Mapping):
        return {str(name): of for name, of in value.items()}
    raise WrongUseError(f"'{key}' must be a table.", f"Give {expected}.")


def _text(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    raise WrongUseError(f"The prompt '{name}' must be a text.", "Correct it.")


@runtime_checkable
class HasPrompts(Protocol):
    """Additional interface of a study whose prompts can be replaced.

    Its Params have the texts as ``prompts``, and variants as ``prompt_variants``.
    """

    known_prompts: Prompts


def varied(params: P) -> dict[str, P]:
    """Return Params by the variant of their prompts, those of the run itself as ""."""
    of: Any = params
    variants: PromptVariants = getattr(params, "prompt_variants", NO_VARIANTS)
    return {
        "": params,
        **{
            name: replace(params, prompts=OwnPrompts({**of.prompts, **texts}))
            for name, texts in variants.items()
        },
    }


def packaged(package: str, name: str) -> Callable[[], str]:
    """Return a function that reads a text of a study's folder ``prompts``."""
    return partial(_packaged_text, package, name)


@lru_cache(maxsize=64)
def _packaged_text(package: str, name: str) -> str:
    path = files(package) / "prompts" / f"{name}.txt"
    return path.read_text(encoding="utf-8").removesuffix("\n")


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its placeholders filled, all in one pass.

    Inserted text is never treated as a placeholder; placeholders without a value stay.
    """
    return PLACE.sub(lambda place: values.get(place[1], place[0]), text)


def with_system(system: str, template: str) -> str:
    """Return a template below the system text, if there is any."""
    return f"system:\n{system}\n\nuser:\n{template}" if system else template


def asked_with(
    system: str, parts: tuple[TextPart | ImagePart, ...]
) -> tuple[Message, ...]:
    """Return the user's message, after the system message if there is one."""
    first = (Message("system", (TextPart(system),)),) if system else ()
    return (*first, Message("user", parts))
