"""One question to a loaded model, with all measures requested."""

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viewer.domain.exchange import ModelRequest
from viewer.domain.interpretability import (
    Highlight,
    Measured,
    Measures,
    QueryPosition,
    Relevance,
    SectionAttention,
)
from viewer.models.loaded import cancelled_answer
from viewer.models.transformers_local.conversation import conversation, sent_sizes
from viewer.models.transformers_local.engine import Engine, Generated, Wanted, generate
from viewer.models.transformers_local.highlight import Light, highlighting
from viewer.models.transformers_local.layouts import layouts
from viewer.models.transformers_local.likelihoods import Noted, Tokens, spelled
from viewer.models.transformers_local.looking import Looks, check_eager, looking
from viewer.models.transformers_local.relevance import relevance_of
from viewer.models.transformers_local.sections import section_sums, sections_of

_NOTHING = Generated("", "stop", 0, (), ())


@dataclass(frozen=True)
class Told:
    """An answer and its measures."""

    generated: Generated
    measured: Measured | None


@dataclass(frozen=True)
class Asking:
    """A question with its highlight active; it can be asked repeatedly."""

    engine: Engine
    rows: tuple[Wanted, ...]
    steering: tuple[object, ...]
    light: Light

    def answer(self, most: int | None = None, more: Sequence[object] = ()) -> Generated:
        """Answer in at most ``most`` tokens, with ``more`` as further steering.

        An answer that is stopped early raises ``ProviderError`` (cancelled).
        """
        steering = (*self.steering, *more)
        answer = generate(self.engine, list(self.rows), most, steering)[0]
        if answer.finish == "cancelled":
            raise cancelled_answer()
        return answer

    def say(self, tokens: Tokens, asked: list[list[int]]) -> Noted:
        """Make the model generate given tokens; return the log-probabilities noted."""
        from viewer.models.transformers_local.steering import Forced

        forced = Forced(tokens, asked)
        self.answer(len(tokens) + 1, (forced,))
        return forced.noted

    @property
    def image(self) -> int:
        """The id of the token that represents a part of an image."""
        return int(self.engine.model.config.image_token_id)

    @functools.cached_property
    def prompt(self) -> list[int]:
        """The ids of the prompt's tokens."""
        inputs = self.engine.encoder.encode([self.rows[0].turns])
        ids: list[int] = inputs["input_ids"][0].tolist()
        return ids


@contextlib.contextmanager
def asking(
    engine: Engine, request: ModelRequest, seed: int, stop: Callable[[], bool]
) -> Iterator[Asking]:
    """Yield a request ready to be asked; its highlight is removed afterwards."""
    turns = conversation(request)
    wanted, light = Wanted(turns, seed, stop), Light()
    with contextlib.ExitStack() as on:
        highlight = request.highlight
        if highlight is None:
            yield Asking(engine, (wanted,), (), light)
            return
        lit = highlighting(engine, sent_sizes(turns), highlight)
        light = on.enter_context(lit)
        rows = (wanted, wanted) if highlight.contrasts else (wanted,)
        yield Asking(engine, rows, _steering(highlight), light)


def ask(
    engine: Engine, request: ModelRequest, seed: int, stop: Callable[[], bool]
) -> Told:
    """Answer a request and take the measures it asks for.

    Raises
    ------
    WrongUseError
        If a measure is not possible: attention that is not eager, a section that is not
        in the prompt, a region that the model does not see.
    """
    wishes = request.measures or Measures()
    if wishes.attention is not None:
        check_eager(engine.options.attention)
    with asking(engine, request, seed, stop) as asked:
        answer, looks = _answered(asked, wishes)
        options = spelled(wishes.spellings, engine.encoder.tokenizer, asked.say)
        region = tuple(asked.light.drawn.values())
        attention, relevance = None, None
        if looks is not None:
            rows = _rows(asked, wishes, looks)
            attention = _sections(asked, wishes, rows)
            if wishes.relevance:
                relevance = _relevance(asked, rows)
    if request.measures is None and request.highlight is None:
        return Told(answer, None)
    return Told(answer, Measured(options, attention, region, relevance))


def _steering(highlight: Highlight) -> tuple[object, ...]:
    from viewer.models.transformers_local.steering import Contrast

    if not highlight.contrasts:
        return ()
    return (Contrast(highlight.contrast, highlight.space),)


def _answered(asked: Asking, wishes: Measures) -> tuple[Generated, Looks | None]:
    """Generate the answer (empty if not wanted) and record attention if wanted."""
    if wishes.attention is None:
        return (asked.answer() if wishes.answer else _NOTHING), None
    speaks = wishes.answer or wishes.attention is QueryPosition.GENERATED
    with looking(asked.engine) as looks:
        answer = asked.answer(None if speaks else 1)
    return (answer if wishes.answer else _NOTHING), looks


def _rows(asked: Asking, wishes: Measures, looks: Looks) -> npt.NDArray[np.float64]:
    """Return (layers, prompt) the attention requested, each layer summing to 1.

    Later steps also attend to the answer, which is not part of the prompt.
    """
    last = wishes.attention is QueryPosition.LAST_PROMPT
    steps = range(1 if last else looks.steps)
    rows = np.stack([looks.layers(step, len(asked.prompt)) for step in steps])
    shares: npt.NDArray[np.float64] = rows / rows.sum(axis=2, keepdims=True)
    return np.asarray(shares.mean(axis=0))


def _sections(
    asked: Asking, wishes: Measures, rows: npt.NDArray[np.float64]
) -> SectionAttention:
    words = asked.engine.encoder.tokenizer
    names, numbers = sections_of(asked.prompt, asked.image, words, wishes.sections)
    sums = section_sums(rows, numbers, len(names))
    counts = np.bincount(numbers, minlength=len(names))
    return SectionAttention(
        names,
        tuple(int(count) for count in counts),
        tuple(tuple(row) for row in sums.tolist()),
    )


def _relevance(asked: Asking, rows: npt.NDArray[np.float64]) -> Relevance:
    plans = layouts(asked.engine, sent_sizes(asked.rows[0].turns))
    words = asked.engine.encoder.tokenizer
    return relevance_of(rows.mean(axis=0), asked.prompt, asked.image, words, plans)
