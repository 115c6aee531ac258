"""The posterior and the attention in a trial's replies (E004-16, -17).

Both are stored among a verdict's numbers and read back from there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final

import numpy as np

from viewer.domain.answer import ChoiceAnswer
from viewer.domain.choice import LETTERS
from viewer.domain.evidence import OPTIONS
from viewer.domain.exchange import ModelReply
from viewer.domain.result import Score
from viewer.metrics.posterior import (
    PREFIXES,
    Estimator,
    Posterior,
    from_counts,
    from_letters,
    from_sequences,
    from_top_logprobs,
    in_option_order,
    permutation_averaged,
)
from viewer.metrics.rapt import rapt, weighted_sum
from viewer.studies.choice_words import plain, without_quotes
from viewer.studies.evidence_diagnosis.parse import read_option
from viewer.studies.evidence_diagnosis.plan import orders_within
from viewer.studies.evidence_diagnosis.steps import Asking

SINGLE_PRECISION: Final = 1e-4
"""The largest rounding error of a log-probability with four decimals or float32."""
_RAPT: Final = "rapt"
WHOLE: Final = "weighted_sum"
"""What stands among the sections for all of them: 1 in every layer (E004-16)."""
Numbers = tuple[tuple[str, float], ...]


def posterior(asking: Asking) -> Posterior | None:
    """Return the options' probabilities from a trial's replies, None if unknown."""
    params = asking.params
    if not params.sensitivity:
        return None
    if asking.is_drawn:
        return _drawn(asking)
    replies = asking.turn.replies()
    orders = [asking.order(turned) for turned in range(orders_within(params))]
    if len(replies) < len(orders):
        return None
    pairs = zip(replies, orders, strict=False)
    found = [_read(reply, asking, order) for reply, order in pairs]
    known = [one for one in found if one is not None]
    if len(known) < len(found):
        return None
    if len(orders) > 1:
        return permutation_averaged(known, orders)
    return in_option_order(known[0], orders[0])


def numbers_of(found: Posterior | None) -> Numbers:
    """Return a posterior as named numbers, by option in the case's own order."""
    if found is None:
        return ()
    named = [
        (f"{name}_{i}", float(value))
        for name, values in (("p", found.p), ("low", found.low), ("high", found.high))
        for i, value in enumerate(values)
    ]
    named += [(f"n_{i}", float(n)) for i, n in enumerate(found.counts)]
    return tuple(named)


def posterior_of(score: Score, estimator: Estimator) -> Posterior | None:
    """Return the posterior that :func:`numbers_of` wrote, None without one."""
    named = dict(score.numbers)
    if "p_0" not in named:
        return None
    p, low, high = (_values(named, name) for name in ("p", "low", "high"))
    if "n_0" not in named:
        return Posterior(p, low, high, estimator)
    counts = tuple(int(n) for n in _values(named, "n"))
    return Posterior(p, low, high, Estimator.MONTE_CARLO, counts)


def rapt_numbers(reply: ModelReply) -> Numbers:
    """Return relative attention per token by section and layer, as named numbers.

    The sum of all sections, by their tokens, is shown with them for a reader to see
    that it is 1.
    """
    attention = reply.measured.attention if reply.measured else None
    if attention is None:
        return ()
    places = {name: list(of) for name, of in attention.places.items()}
    found = rapt(attention.per_token, places)
    found[WHOLE] = weighted_sum(found, places)
    return tuple(
        (f"{_RAPT}_{name}_{layer}", float(value))
        for name, values in found.items()
        for layer, value in enumerate(values)
        if np.isfinite(value)
    )


def rapt_of(score: Score) -> tuple[tuple[str, int, float], ...]:
    """Return section, layer and value of what :func:`rapt_numbers` wrote."""
    found = []
    for name, value in score.numbers:
        if name.startswith(f"{_RAPT}_"):
            section, _, layer = name.removeprefix(f"{_RAPT}_").rpartition("_")
            found.append((section, int(layer), value))
    return tuple(found)


def answer_place(
    reply: ModelReply, options: Sequence[str], order: Sequence[int]
) -> int | None:
    """Return the index of the token in a reply that states the option.

    A letter states it if another letter in its place would give another option; of
    several that do so together, the first. None if no option is read, or no single
    token states it: letters within words, articles, names such as vitamin D, letters in
    an option's text (hepatitis B) and those considered on the way do not count.
    """
    texts = [_plain_token(token.token) for token in reply.logprobs]
    found = _option_read(reply, texts, options, order)
    if found is None or found != _option_read(reply, [reply.text], options, order):
        return None
    letter = LETTERS[order.index(found)]
    other = LETTERS[(order.index(found) + 1) % len(order)]
    unsettled = None
    for place in _letters_alone(texts, letter, options):
        turned = texts[place].replace(letter, other)
        swapped = [*texts[:place], turned, *texts[place + 1 :]]
        read = _option_read(reply, swapped, options, order)
        if read == order[LETTERS.index(other)]:
            return place
        if read != found and unsettled is None:
            unsettled = place
    return unsettled


def _letters_alone(
    texts: Sequence[str], letter: str, options: Sequence[str]
) -> Iterator[int]:
    """Yield the places of tokens that are a letter outside of every option's words."""
    spelled = {prefix + letter for prefix in PREFIXES}
    words = without_quotes("".join(texts), [*map(plain, options)])
    for place, (text, end) in enumerate(
        zip(texts, accumulate(map(len, texts)), strict=True)
    ):
        if text in spelled and words[end - 1] == letter:
            yield place


def _plain_token(token: str) -> str:
    """Return a token's text where a tokenizer writes blanks in its own way."""
    # Byte-level BPE writes blank and line break as U+0120 and U+010A, SentencePiece a
    # blank as U+2581.
    return token.replace("\u0120", " ").replace("\u2581", " ").replace("\u010a", "\n")


def _option_read(
    reply: ModelReply,
    texts: Sequence[str],
    options: Sequence[str],
    order: Sequence[int],
) -> int | None:
    found = read_option(replace(reply, text="".join(texts)), options, order)
    return found.option if isinstance(found, ChoiceAnswer) else None


def _read(reply: ModelReply, asking: Asking, order: Sequence[int]) -> Posterior | None:
    """Return the posterior over the letters in one reply, in order."""
    params = asking.params
    if params.estimator is Estimator.TOP_LOGPROBS:
        return _of_top(reply, asking.case.options, order)
    options = reply.measured.options if reply.measured else ()
    if len(options) != OPTIONS:
        return None
    if params.estimator is Estimator.SEQUENCES:
        texts = [spelled[0] for spelled in options]
        return from_sequences(
            [one.logprob for one in texts],
            [one.tokens for one in texts],
            by_length=params.by_length,
            precision=SINGLE_PRECISION,
        )
    spelled = {one.text: one.logprob for option in options for one in option}
    return from_letters(spelled, LETTERS[:OPTIONS], SINGLE_PRECISION)


def _of_top(
    reply: ModelReply, options: Sequence[str], order: Sequence[int]
) -> Posterior | None:
    """Return estimator (c) at the token that states the answer; None without one."""
    place = answer_place(reply, options, order)
    if place is None or not reply.logprobs[place].top:
        return None
    return from_top_logprobs(
        reply.logprobs[place].top, LETTERS[:OPTIONS], SINGLE_PRECISION
    )


def _drawn(asking: Asking) -> Posterior | None:
    """Return estimator (d): every answer that names an option counts."""
    counts = [0] * OPTIONS
    for reply in asking.turn.replies():
        found = read_option(reply, asking.case.options, asking.order())
        if isinstance(found, ChoiceAnswer):
            counts[found.option] += 1
    return from_counts(counts) if sum(counts) else None


def _values(named: Mapping[str, float], name: str) -> tuple[float, ...]:
    return tuple(named[f"{name}_{i}"] for i in range(OPTIONS))
