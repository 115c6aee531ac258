"""What is done to a model's distribution before a token of an answer is chosen.

Each is a logits processor of transformers: told (batch, length) tokens so far and
(batch, vocabulary) logits, it returns logits. Imported where torch is.
"""

from collections.abc import Sequence

import torch

from viewer.domain.interpretability import ContrastSpace


class Contrast:
    """``p_u + γ(p_c - p_u)`` of row 0, highlighted, p_c, and row 1, plain, p_u.

    Both rows take the outcome, so that they go on with the same token (Zhang et al.
    2024, Prompt Highlighter; E002-14).
    """

    def __init__(self, gamma: float, space: ContrastSpace) -> None:
        self._gamma, self._space = gamma, space

    def __call__(self, _ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return (2, vocabulary) log-probabilities, both rows equal."""
        told = torch.log_softmax(scores.float(), dim=-1)
        if self._space is ContrastSpace.PROBABILITY:
            least = torch.finfo(torch.float32).tiny  # for 0, whose logarithm is none
            mixed = self._mix(told.exp()).clamp_min(least).log()
        else:
            mixed = self._mix(told)
        return torch.log_softmax(mixed, dim=-1).expand(2, -1)

    def _mix(self, values: torch.Tensor) -> torch.Tensor:
        highlighted, plain = values[:1], values[1:]
        return plain + self._gamma * (highlighted - plain)


class OneDraw:
    """Draws the token itself where rows are to draw the same one."""

    def __init__(self, temperature: float) -> None:
        self._temperature = temperature

    def __call__(self, _ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Leave row 0's drawn token as the only possible one of every row."""
        chances = torch.softmax(scores[0].float() / self._temperature, dim=-1)
        return only(scores, int(torch.multinomial(chances, 1)))


class Forced:
    """Makes the model say given tokens and notes how likely others were at each place.

    Parameters
    ----------
    tokens : sequence of int
        What is said, one a step.
    asked : sequence of sequence of int
        For every step, and one more, the tokens whose log-probability is noted.
    """

    def __init__(self, tokens: Sequence[int], asked: Sequence[Sequence[int]]) -> None:
        self._tokens, self._asked = tokens, asked
        self.noted: list[dict[int, float]] = []

    def __call__(self, _ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Note row 0's log-probabilities; leave the step's token alone possible."""
        step = len(self.noted)
        told = torch.log_softmax(scores[0].float(), dim=-1)
        self.noted.append({token: float(told[token]) for token in self._asked[step]})
        return only(scores, self._tokens[step]) if step < len(self._tokens) else scores


def only(scores: torch.Tensor, token: int) -> torch.Tensor:
    """Return logits of the same shape after which only one token can come."""
    forced = torch.full_like(scores, -torch.inf)
    forced[:, token] = 0.0
    return forced
