"""Attention and likelihoods of a model that runs here: what is asked for, and measured.

What is asked for is part of a request and of its key, where it is asked for at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import Affine
from viewer.domain.reference import Mask


class WeightForm(StrEnum):
    """What a highlight's weight w adds to an attention logit (E002-14)."""

    LOG = "log"
    """ln w: attention to the region is multiplied by w; 1 changes nothing."""
    LINEAR = "linear"
    """w itself: attention is multiplied by exp w; 0 changes nothing."""


class ContrastSpace(StrEnum):
    """Of what ``p_u + γ(p_c - p_u)`` is taken."""

    LOG = "log"
    """Log-probabilities, then normalised."""
    PROBABILITY = "probability"
    """Probabilities; what falls below 0 counts as 0, then normalised."""


class QueryPosition(StrEnum):
    """Whose attention is told (E004-16)."""

    LAST_PROMPT = "last_prompt"
    """The last token of the prompt, which chooses the first of the answer."""
    GENERATED = "generated"
    """The mean over the steps that chose the answer's tokens."""


@dataclass(frozen=True, slots=True)
class Highlight:
    """A region that the model's vision tower is to attend to more (LobA, E002-14).

    Attributes
    ----------
    mask : Mask
        The region, in pixels of the image as it is sent.
    image : int
        Which of the request's images, from 0.
    weight : float
        Above 0 where ``form`` is log. Table 8 of the paper tries 0.5, 1, 2, 3, 4.
    form : WeightForm
        The paper's formula was lost.
    contrast : float
        γ of ``p_u + γ(p_c - p_u)`` between the plain answer's distribution p_u and
        the highlighted one's p_c: 1 is the highlighted answer alone. Prompt
        Highlighter's configuration says 1.3.
    space : ContrastSpace
        Of what the contrast is taken.
    least_cover : float
        A patch is highlighted where the region covers at least this part of it, 0 to
        1; where it covers no patch so much, the one most covered.

    Raises
    ------
    WrongUseError
        Where a number is out of its range or the region is empty.
    """

    mask: Mask
    image: int = 0
    weight: float = 3.0
    form: WeightForm = WeightForm.LOG
    contrast: float = 1.3
    space: ContrastSpace = ContrastSpace.LOG
    least_cover: float = 0.5

    def __post_init__(self) -> None:
        if self.form is WeightForm.LOG and not self.weight > 0:
            raise WrongUseError(
                f"A highlight's weight {self.weight:g} cannot multiply attention.",
                "Choose a weight above 0; 1 changes nothing.",
            )
        if not self.contrast >= 0 or not 0 <= self.least_cover <= 1:
            raise WrongUseError(
                "A highlight's contrast is below 0, or its minimum cover is not "
                "between 0 and 1.",
                "Choose a contrast of 1 for none, and a minimum cover such as 0.5.",
            )
        if self.mask.is_empty:
            raise WrongUseError(
                "The region to highlight is empty.",
                "Choose a region that contains pixels.",
            )

    @property
    def contrasts(self) -> bool:
        """True if the plain model takes part as well."""
        return self.contrast != 1


LETTER_PREFIXES: Final = ("", " ", "(")
"""What may stand before an option's letter as a model writes it (E004-17 a)."""


def letter_spellings(
    letters: Sequence[str], prefixes: Sequence[str] = LETTER_PREFIXES
) -> tuple[tuple[str, ...], ...]:
    """Return for each letter its spellings, to be summed as probabilities."""
    return tuple(tuple(prefix + letter for prefix in prefixes) for letter in letters)


@dataclass(frozen=True, slots=True)
class Section:
    """A named piece of the prompt's text, which must stand in it exactly once."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Measures:
    """What a model is to tell beside, or instead of, its answer.

    Attributes
    ----------
    spellings : tuple of tuple of str
        For every option, the texts that stand for it. The log-probability that the
        model says each next is told: letters for the answer's letter, or the option's
        own text for its sequence likelihood.
    sections : tuple of Section
        Pieces of the prompt whose share of attention is told, layer by layer, beside
        ``image``, ``text`` (all other text) and ``special``.
    attention : QueryPosition or None
        Whose attention; None for no measure of attention.
    relevance : bool
        Whether the attention to every text token and every part of the images is told
        as well; only with ``attention``.
    answer : bool
        False if nothing but these measures is wanted; the reply's text is empty.
    """

    spellings: tuple[tuple[str, ...], ...] = ()
    sections: tuple[Section, ...] = ()
    attention: QueryPosition | None = None
    relevance: bool = False
    answer: bool = True

    def __post_init__(self) -> None:
        if self.attention is None and (self.relevance or self.sections):
            raise WrongUseError(
                "Sections and relevance measure attention, but no attention is "
                "requested.",
                "Request the attention of the prompt's last token, or of the answer's "
                "tokens.",
            )


IMAGE, TEXT, SPECIAL = "image", "text", "special"
"""Sections that every prompt is divided into, beside those that are named."""


@dataclass(frozen=True, slots=True)
class Spelled:
    """How likely a model is to say a text next.

    ``logprob`` is the natural logarithm of the probability of its ``tokens`` tokens
    together, so that ``logprob / tokens`` is the length-normalised one.
    """

    text: str
    tokens: int
    logprob: float


@dataclass(frozen=True, slots=True)
class SectionAttention:
    """Attention over a prompt of ``sum(tokens)`` tokens, by its sections.

    ``sums`` holds for every layer the attention that went to each section, averaged
    over heads and normalised to 1 over the prompt.
    """

    names: tuple[str, ...]
    tokens: tuple[int, ...]
    sums: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.names) for row in (self.tokens, *self.sums)):
            raise ValueError("sections and sums do not go together")

    @property
    def places(self) -> dict[str, range]:
        """The tokens of each section, as if each stood together."""
        ends = np.cumsum(self.tokens).tolist()
        return {
            name: range(end - count, end)
            for name, count, end in zip(self.names, self.tokens, ends, strict=True)
        }

    @property
    def per_token(self) -> npt.NDArray[np.float64]:
        """(layers, tokens) each section's attention shared evenly by its ``places``.

        What is told of sections alone, such as RAPT, is the same of the true one.
        """
        counts = np.asarray(self.tokens)
        sums = np.asarray(self.sums, dtype=np.float64)
        each = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
        return np.repeat(each, counts, axis=1)


@dataclass(frozen=True, slots=True)
class ImageRelevance:
    """Attention to the parts of one image.

    ``values`` holds rows of numbers, one a patch, the mean over layers and heads; they
    sum to the part of the attention that went to this image. ``to_sent`` maps patch
    coordinates (x in columns, y in rows) to pixels of the image as sent.
    """

    values: tuple[tuple[float, ...], ...]
    to_sent: Affine


@dataclass(frozen=True, slots=True)
class Relevance:
    """Attention to each image and to each other token of the prompt (E002-17).

    ``tokens`` holds them in their order with the attention that went to each; with the
    images they sum to 1.
    """

    images: tuple[ImageRelevance, ...]
    tokens: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """What a model told beside its answer.

    ``options`` holds for every option its distinct spellings; ``attention`` is None
    unless asked for; ``region`` holds for every layer of the vision tower the part of
    the attention of the highlighted image's patches that went to the highlighted ones,
    empty without a highlight or where attention is not eager. ``relevance`` is None
    unless asked for.
    """

    options: tuple[tuple[Spelled, ...], ...] = ()
    attention: SectionAttention | None = None
    region: tuple[float, ...] = ()
    relevance: Relevance | None = None


@dataclass(frozen=True, slots=True)
class Choices:
    """A multiple-choice question, for a baseline that reads nothing else (E003-10)."""

    question: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RandomText:
    """Text of random tokens, as long as another one to a model (E004-14).

    ``tokens`` is its length, ``tokenizer`` whose tokens they are.
    """

    text: str
    tokens: int
    tokenizer: str
