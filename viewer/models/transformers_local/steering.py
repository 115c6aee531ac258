"""Changes to a model's distribution before a token is chosen.

Each is a transformers logits processor: given (batch, length) tokens so far and (batch,
vocabulary) logits, it returns logits. Imported only where torch is.
"""

from collections.abc import Sequence

import torch

from viewer.domain.interpretability import ContrastSpace


class Contrast:
    """``p_u + γ(p_c - p_u)`` of row 0, highlighted, p_c, and row 1, plain, p_u.

    Both rows get the result, so that they continue with the same token (Zhang et al.
    2024, Prompt Highlighter; E002-14).
    """

    def __init__(self, gamma: float, space: ContrastSpace) -> None:
        self._gamma, self._space = gamma, space

    def __call__(self, _ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return (2, vocabulary) log-probabilities, both rows equal."""
        logprobs = torch.log_softmax(scores.float(), dim=-1)
        if self._space is ContrastSpace.PROBABILITY:
            least = torch.finfo(torch.float32).tiny  # for 0, whose logarithm is none
            mixed = self._mix(logprobs.exp()).clamp_min(least).log()
        else:
            mixed = self._mix(logprobs)
        return torch.log_softmax(mixed, dim=-1).expand(2, -1)

    def _mix(self, values: torch.Tensor) -> torch.Tensor:
        highlighted, plain = values[:1], values[1:]
        return plain + self._gamma * (highlighted - plain)


class OneDraw:
    """Draws the token itself, for rows that must draw the same one."""

    def __init__(self, temperature: float) -> None:
        self._temperature = temperature

    def __call__(self, _ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Make row 0's drawn token the only possible one of every row."""
        chances = torch.softmax(scores[0].float() / self._temperature, dim=-1)
        return only(scores, int(torch.multinomial(chances, 1)))


class Forced:
    """Forces the model to generate given tokens, and notes others' probabilities.

    Parameters
    ----------
    tokens : sequence of int
        The tokens to generate, one per step.
    asked : sequence of sequence of int
        For every step, and one more, the tokens whose log-probability is noted.
    """

    def __init__(self, tokens: Sequence[int], asked: Sequence[Sequence[int]]) -> None:
        self._tokens, self._asked = tokens, asked
        self.noted: list[dict[int, float]] = []

    def __call__(self, _ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Note row 0's log-probabilities; leave only the step's token possible."""
        step = len(self.noted)
        logprobs = torch.log_softmax(scores[0].float(), dim=-1)
        self.noted.append(
            {token: float(logprobs[token]) for token in self._asked[step]}
        )
        return only(scores, self._tokens[step]) if step < len(self._tokens) else scores


def only(scores: torch.Tensor, token: int) -> torch.Tensor:
    """Return logits of the same shape that allow only one token."""
    forced = torch.full_like(scores, -torch.inf)
    forced[:, token] = 0.0
    return forced
