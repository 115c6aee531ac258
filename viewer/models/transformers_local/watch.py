"""Recording and stopping between two tokens of an answer."""

from collections.abc import Callable

import torch

from viewer.domain.exchange import TokenLogprob


class LogprobNotes:
    """Keeps each token's log-probability and the most likely tokens at its position.

    It sees the model's own logits, before any temperature, at every step, and keeps a
    step's whole distribution only until its token is chosen, so that a large vocabulary
    costs no memory.
    """

    def __init__(self, top: int) -> None:
        self._top = top
        self._last: torch.Tensor | None = None
        self.chosen: list[torch.Tensor] = []
        self.likeliest: list[tuple[torch.Tensor, torch.Tensor]] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Record the previous step, whose token is now the last of ``input_ids``."""
        self.finish(input_ids)
        self._last = torch.log_softmax(scores.float(), dim=-1)
        return scores

    def finish(self, input_ids: torch.Tensor) -> None:
        """Record the newest token of (batch, length) ``input_ids``."""
        if self._last is None:
            return
        token = input_ids[:, -1:].to(self._last.device)
        self.chosen.append(self._last.gather(-1, token)[:, 0].cpu())
        top = min(self._top, self._last.shape[-1])
        values, tokens = self._last.topk(top, dim=-1)
        self.likeliest.append((values.cpu(), tokens.cpu()))
        self._last = None

    def of(
        self, row: int, tokens: list[int], text_of: Callable[[int], str]
    ) -> tuple[TokenLogprob, ...]:
        """Return the notes on one answer of the batch, for its first tokens."""
        return tuple(
            TokenLogprob(
                text_of(token), float(self.chosen[i][row]), self._tops(i, row, text_of)
            )
            for i, token in enumerate(tokens)
        )

    def _tops(
        self, i: int, row: int, text_of: Callable[[int], str]
    ) -> tuple[tuple[str, float], ...]:
        values, tokens = self.likeliest[i]
        pairs = zip(tokens[row].tolist(), values[row].tolist(), strict=True)
        return tuple((text_of(token), value) for token, value in pairs)


class StopFlags:
    """Ends each answer of a batch that is no longer wanted."""

    def __init__(self, stops: list[Callable[[], bool]]) -> None:
        self._stops = stops
        self.stopped = [False] * len(stops)

    def __call__(
        self, input_ids: torch.Tensor, _scores: object, **_more: object
    ) -> torch.Tensor:
        """Return for each answer of the batch whether it ends here."""
        self.stopped = [
            before or stop()
            for before, stop in zip(self.stopped, self._stops, strict=True)
        ]
        return torch.tensor(self.stopped, device=input_ids.device)
