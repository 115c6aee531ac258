"""Attention and likelihoods of local models: what is requested, and what was measured.

If present they are part of the request and of its key.
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

ATTENTION_NEEDS: Final = (
    "Where a model looks is measured only in models on this machine whose profile has "
    'attention = "eager".'
)
"""What a run that is to measure attention says before it begins."""


class WeightForm(StrEnum):
    """What a highlight's weight w adds to an attention logit (E002-14)."""

    LOG = "log"
    """ln w: attention to the region is multiplied by w; 1 changes nothing."""
    LINEAR = "linear"
    """w itself: attention is multiplied by exp w; 0 changes nothing."""


class ContrastSpace(StrEnum):
    """The space in which the contrast ``p_u + γ(p_c - p_u)`` is taken."""

    LOG = "log"
    """Log-probabilities, then normalised."""
    PROBABILITY = "probability"
    """Probabilities; what falls below 0 counts as 0, then normalised."""


class QueryPosition(StrEnum):
    """The token whose attention is reported (E004-16)."""

    LAST_PROMPT = "last_prompt"
    """The last token of the prompt, which chooses the first of the answer."""
    GENERATED = "generated"
    """The mean over the steps that chose the answer's tokens."""


@dataclass(frozen=True, slots=True)
class Highlight:
    """A region to which the vision tower should attend more (LobA, E002-14).

    Attributes
    ----------
    mask : Mask
        The region, in pixels of the image as it is sent.
    image : int
        Which of the request's images, from 0.
    weight : float
        Above 0 where ``form`` is log. Table 8 of the paper tries 0.5, 1, 2, 3, 4.
    form : WeightForm
        The formula is missing from the paper.
    contrast : float
        γ of ``p_u + γ(p_c - p_u)`` between the plain answer's distribution p_u and the
        highlighted one's p_c: 1 is the highlighted answer alone. Prompt Highlighter's
        configuration says 1.3.
    space : ContrastSpace
        The space in which the contrast is taken.
    least_cover : float
        A patch is highlighted if the region covers at least this fraction of it, 0 to
        1; if it covers no patch that much, the most covered one is.

    Raises
    ------
    WrongUseError
        If a number is out of range or the region is empty.
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
        """Whether the model without highlight takes part as well."""
        return self.contrast != 1


LETTER_PREFIXES: Final = ("", " ", "(")
"""What may stand before an option's letter as a model writes it (E004-17 a)."""


def letter_spellings(
    letters: Sequence[str], prefixes: Sequence[str] = LETTER_PREFIXES
) -> tuple[tuple[str, ...], ...]:
    """Return each letter's spellings, whose probabilities are to be summed."""
    return tuple(tuple(prefix + letter for prefix in prefixes) for letter in letters)


@dataclass(frozen=True, slots=True)
class Section:
    """A named part of the prompt, which must occur in it exactly once."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Measures:
    """What to measure in a local model beside, or instead of, its answer.

    Attributes
    ----------
    spellings : tuple of tuple of str
        For every option, its spellings. The log-probability of each as continuation is
        reported: letters for the answer's letter, or the option's text for its sequence
        likelihood.
    sections : tuple of Section
        Parts of the prompt whose share of attention is reported layer by layer, beside
        ``image``, ``text`` (all other text) and ``special``.
    attention : QueryPosition or None
        The token whose attention is measured; None for no attention.
    relevance : bool
        Whether to report the attention to every text token and image patch as well;
        only with ``attention``.
    answer : bool
        False if only the measures are wanted; the reply's text is then empty.
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
    """The likelihood of a text as the model's continuation.

    ``logprob`` is the natural logarithm of the joint probability of its ``tokens``
    tokens; ``logprob / tokens`` is length-normalised.
    """

    text: str
    tokens: int
    logprob: float


@dataclass(frozen=True, slots=True)
class SectionAttention:
    """Attention over a prompt of ``sum(tokens)`` tokens, by its sections.

    ``sums`` has the attention to each section in every layer, averaged over heads and
    normalised to 1 over the prompt.
    """

    names: tuple[str, ...]
    tokens: tuple[int, ...]
    sums: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.names) for row in (self.tokens, *self.sums)):
            raise ValueError("sections and sums do not go together")

    @property
    def places(self) -> dict[str, range]:
        """The token positions of each section, as if its tokens were contiguous."""
        ends = np.cumsum(self.tokens).tolist()
        return {
            name: range(end - count, end)
            for name, count, end in zip(self.names, self.tokens, ends, strict=True)
        }

    @property
    def per_token(self) -> npt.NDArray[np.float64]:
        """(layers, tokens): each section's attention spread evenly over its ``places``.

        Measures of whole sections, such as RAPT, are the same as for the real one.
        """
        counts = np.asarray(self.tokens)
        sums = np.asarray(self.sums, dtype=np.float64)
        each = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
        return np.repeat(each, counts, axis=1)


@dataclass(frozen=True, slots=True)
class ImageRelevance:
    """Attention to the parts of one image.

    ``values`` holds rows of numbers, one per patch, the mean over layers and heads;
    they sum to the image's share of the attention. ``to_sent`` maps patch coordinates
    (x in columns, y in rows) to pixels of the image as sent.
    """

    values: tuple[tuple[float, ...], ...]
    to_sent: Affine


@dataclass(frozen=True, slots=True)
class Relevance:
    """Attention to each image and to each other token of the prompt (E002-17).

    ``tokens`` has them in order with the attention to each; with the images they sum to
    1.
    """

    images: tuple[ImageRelevance, ...]
    tokens: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements that a model returned beside its answer.

    ``options`` has the distinct spellings of every option; ``attention`` is None unless
    requested; ``region`` has for every layer of the vision tower the share of the
    highlighted image's attention that its highlighted patches get, empty without a
    highlight or without eager attention. ``relevance`` is None unless requested.
    """

    options: tuple[tuple[Spelled, ...], ...] = ()
    attention: SectionAttention | None = None
    region: tuple[float, ...] = ()
    relevance: Relevance | None = None


@dataclass(frozen=True, slots=True)
class Choices:
    """A multiple-choice question, for baselines that read nothing else (E003-10)."""

    question: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RandomText:
    """Random text with the same number of tokens as another text (E004-14).

    ``tokens`` is its length under the tokenizer ``tokenizer``.
    """

    text: str
    tokens: int
    tokenizer: str
