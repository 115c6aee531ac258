"""A probe's conclusions from replies; nothing is asked here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from viewer.domain.documents import read_json
from viewer.domain.errors import ProviderError
from viewer.domain.exchange import ModelReply
from viewer.domain.plain import plain
from viewer.domain.probe import ProbeReport, ProbeRow, Verdict
from viewer.services.probing.questions import CELLS

_KEY_REFUSED: Final = (401, 403)
_BYTES_AS_TEXT: Final = 500  # tokens that no image of this size costs more than another


@dataclass(frozen=True)
class Heard:
    """The result of one question: a reply, or why there is none."""

    reply: ModelReply | None = None
    dropped: tuple[str, ...] = ()
    error: ProviderError | None = None

    @property
    def why(self) -> str:
        """Why there is no reply, in a sentence."""
        return "" if self.error is None else self.error.what


def report_as_json(report: ProbeReport) -> dict[str, Any]:
    """Return a report as the command line prints it."""
    return {**plain(report), "reachable": report.is_reachable}


def reachable_row(error: ProviderError | None) -> ProbeRow:
    """Say whether anything answers at an address; any HTTP status is an answer."""
    if error is None or error.http_status:
        return ProbeRow("reachable", Verdict.YES, "A server responds there.")
    if error.reason == "no_key":
        return ProbeRow("reachable", Verdict.UNKNOWN, f"Nothing was sent: {error}")
    return ProbeRow("reachable", Verdict.NO, str(error))


def key_row(error: ProviderError | None) -> ProbeRow:
    """Say whether the server accepts the key."""
    if error is not None and error.http_status in _KEY_REFUSED:
        return ProbeRow("key", Verdict.NO, error.what)
    if error is not None:
        sentence = f"The list of models does not show it: {error.what}"
        return ProbeRow("key", Verdict.UNKNOWN, sentence)
    sentence = "The server accepts the key, or needs none."
    return ProbeRow("key", Verdict.YES, sentence)


def listed_row(model: str, listed: list[str]) -> ProbeRow:
    """Say whether the profile's model is one of those that the server lists."""
    if not listed:
        what = "The server lists no models."
        return ProbeRow("model listed", Verdict.UNKNOWN, what)
    if model in listed:
        what = f"'{model}' is one of the {len(listed)} model(s) it lists."
        return ProbeRow("model listed", Verdict.YES, what)
    what = f"'{model}' is not among the {len(listed)} model(s) it lists."
    return ProbeRow("model listed", Verdict.UNKNOWN, what)


def answers_row(text: Heard) -> ProbeRow:
    """Say whether a question without an image is answered, and by whom."""
    if text.reply is None:
        return ProbeRow("answers", Verdict.NO, text.why)
    name = text.reply.model_returned
    called = f" and calls itself '{name}'" if name else ""
    return ProbeRow("answers", Verdict.YES, f"The model answers{called}.")


def repeats(heard: Sequence[Heard]) -> bool | None:
    """Tell whether repeated questions got the same answer, None without repeats."""
    replies = [(h.reply.text, h.reply.logprobs) for h in heard if h.reply]
    return len({*replies}) == 1 if len(replies) == len(heard) else None


def seed_row(heard: Heard, times: int, *, repeats: bool) -> ProbeRow:
    """Say whether a seed makes an answer reproducible."""
    taken = "rejects" if "seed" in heard.dropped else "accepts"
    same = "had the same answer" if repeats else "did not have the same answer"
    sentence = (
        f"The server {taken} a seed; the same question, put {times} times at "
        f"temperature 0, {same}."
    )
    works = repeats and taken == "accepts"
    return ProbeRow("seed", Verdict.YES if works else Verdict.NO, sentence)


def logprobs_row(text: Heard) -> ProbeRow:
    """Say whether tokens come with their log-probabilities."""
    if text.reply is not None and text.reply.logprobs:
        sentence = (
            f"It returns them for {len(text.reply.logprobs)} token(s) of an answer."
        )
        return ProbeRow("logprobs", Verdict.YES, sentence)
    if "logprobs" in text.dropped:
        return ProbeRow("logprobs", Verdict.NO, "The server rejects the setting.")
    sentence = "The server accepts the setting, but ignores it silently."
    return ProbeRow("logprobs", Verdict.NO, sentence)


def schema_row(heard: Heard) -> ProbeRow:
    """Say whether an answer keeps to a JSON Schema."""
    if heard.reply is None:
        return ProbeRow("json schema", Verdict.NO, heard.why)
    if "structured" in heard.dropped:
        sentence = "The server rejects the setting."
        return ProbeRow("json schema", Verdict.NO, sentence)
    if _keeps_to_schema(heard.reply.text):
        return ProbeRow("json schema", Verdict.YES, "Its answer follows the schema.")
    sentence = "The server accepts a schema, but does not follow it."
    return ProbeRow("json schema", Verdict.NO, sentence)


def _keeps_to_schema(text: str) -> bool:
    try:
        document = read_json(text)
    except ValueError:
        return False
    keys = {*document} if isinstance(document, dict) else set()
    return keys == {"cell"} and document["cell"] in CELLS


def length_row(heard: Heard) -> ProbeRow:
    """Say whether an answer cut off after one token is reported as such."""
    if heard.reply is None:
        return ProbeRow("says when cut short", Verdict.UNKNOWN, heard.why)
    if heard.reply.finish_reason == "length":
        sentence = "A truncated answer is marked as truncated."
        return ProbeRow("says when cut short", Verdict.YES, sentence)
    sentence = (
        "An answer cut after one token was not marked as truncated, or it needed no "
        "more."
    )
    return ProbeRow("says when cut short", Verdict.NO, sentence)


def parameter_row(name: str, heard: Heard) -> ProbeRow:
    """Say whether a parameter is accepted; whether it has an effect is unknown."""
    if heard.reply is None:
        return ProbeRow(name, Verdict.UNKNOWN, heard.why)
    if name in heard.dropped:
        return ProbeRow(name, Verdict.NO, f"{name} is rejected and left out.")
    sentence = f"{name} is accepted; whether the server follows it is not known."
    return ProbeRow(name, Verdict.YES, sentence)


def image_row(
    text: Heard, plain: Heard, busy: Heard, *, repeatable: bool | None
) -> ProbeRow:
    """Say whether images are looked at, from the same question without and with two.

    Parameters
    ----------
    text, plain, busy : Heard
        The answers without an image, about a plain one and about one of the same
        size with far more bytes.
    repeatable : bool or None
        Whether the same question has the same answer, so that another answer means
        another image.
    """
    if text.reply is None or plain.reply is None:
        return ProbeRow("image input", Verdict.NO, plain.why or text.why)
    if busy.reply is None:
        sentence = (
            f"It answers about a small image but not about a busy one: {busy.why}"
        )
        return ProbeRow("image input", Verdict.NO, sentence)
    verdict, sentence = _looked_at(
        text.reply, plain.reply, busy.reply, bool(repeatable)
    )
    return ProbeRow("image input", verdict, sentence)


def _looked_at(
    text: ModelReply, plain: ModelReply, busy: ModelReply, repeatable: bool
) -> tuple[Verdict, str]:
    without, with_image, with_busy = (r.usage.tokens_in for r in (text, plain, busy))
    if with_image and with_busy and with_busy - with_image > _BYTES_AS_TEXT:
        return Verdict.NO, "It counts the bytes of an image as text."
    costs = None if not without or not with_image else with_image - without
    differ = (plain.text, plain.logprobs) != (busy.text, busy.logprobs)
    if repeatable and differ:
        price = f" An image costs {costs} tokens." if costs else ""
        return Verdict.YES, f"Two different images have different answers.{price}"
    ignored = (text.text, text.logprobs) == (plain.text, plain.logprobs)
    if not differ and ignored and not costs:
        return Verdict.NO, "It ignores images silently: they change nothing."
    if costs == 0:
        return Verdict.NO, "It ignores images silently: they cost no tokens."
    if costs and not repeatable:
        sentence = f"An image costs {costs} tokens; answers vary too much to say more."
        return Verdict.UNKNOWN, sentence
    return Verdict.UNKNOWN, "Two very different images have the same answer."
