"""Requests to models and their replies."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Final, Literal, Self

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import BoxPx
from viewer.domain.image import Raster
from viewer.domain.interpretability import Choices, Highlight, Measured, Measures
from viewer.domain.reference import Mask


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text of a message."""

    text: str


@dataclass(frozen=True)
class ImagePart:
    """An image of a message, as the exact PNG bytes."""

    png: bytes
    media_type: str = "image/png"
    detail: str | None = None

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the bytes, in hexadecimal."""
        return hashlib.sha256(self.png).hexdigest()


@dataclass(frozen=True)
class Message:
    """One turn of a conversation: its role, and its parts in the order sent."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[TextPart | ImagePart, ...]


@dataclass(frozen=True, eq=False)
class BoxPrompt:
    """A segmenter's prompt: boxes on an image, both in native pixels."""

    raster: Raster
    boxes: tuple[BoxPx, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """The position of a question in a run.

    ``role`` names who is asked, "" for ``model`` itself; ``again`` counts how often the
    identical question was asked before.
    """

    model: str
    step: str
    role: str = ""
    again: int = 0


@dataclass(frozen=True, eq=False)
class Facts:
    """Facts for baselines and scripted models; never sent to an endpoint.

    ``plain`` is the raster without its grid, ``plain_sha256`` the hash of its pixel
    bytes. ``reference_counts`` (rows × columns, row-major) is how often each cell
    qualifies, over the other patients' items of the same finding and view; None unless
    the adapter declares that it needs them. ``prompt`` is None unless it declares that
    it takes boxes. ``step`` names the question in a trial of several, which have no
    grid: no rows, columns or letters. ``choices`` is a multiple-choice question with
    its options, ``written`` the answer that a person wrote, "" for none. ``asked`` is
    None unless the adapter declares that it looks up replies by it.
    """

    rows: int
    columns: int
    letters: str
    finding: str
    view: str
    item: str
    condition: str
    seed: int
    repeat: int
    plain: Raster
    plain_sha256: str
    reference_counts: tuple[tuple[int, ...], ...] | None = None
    prompt: BoxPrompt | None = None
    step: str = ""
    choices: Choices | None = None
    written: str = ""
    asked: Asked | None = None


@dataclass(frozen=True)
class ModelRequest:
    """A question: messages with exact image bytes, and facts that are not sent.

    ``answer_schema`` is the JSON Schema of the answer, for models with structured
    output; None leaves it to the adapter. ``highlight`` and ``measures`` need a model
    that gives access to its attention, see ``AdapterSpec.interpretable``.
    """

    messages: tuple[Message, ...]
    facts: Facts
    prompt_sha256: str
    answer_schema: Mapping[str, object] | None = None
    highlight: Highlight | None = None
    measures: Measures | None = None

    @property
    def images(self) -> tuple[ImagePart, ...]:
        """Every image part, in the order sent."""
        return tuple(
            part
            for message in self.messages
            for part in message.parts
            if isinstance(part, ImagePart)
        )


PAPER_MODELS: Final = ("GPT-4", "GPT-5", "MedGemma 27B")
"""The models that Gosai 2025 compares; a profile may say that it is one of them."""


@dataclass(frozen=True)
class ModelProfile:
    """A named model: the adapter that asks it and that adapter's settings.

    ``settings`` holds only what the adapter's table declares: never an API key, only
    the name of the environment variable with it. Prices are micro-dollars per million
    tokens.
    """

    name: str
    adapter: str
    settings: Mapping[str, object] = field(default_factory=dict)

    def __hash__(self) -> int:
        # Settings may hold lists, which have no hash.
        return hash((self.name, self.adapter, repr(sorted(self.settings.items()))))


@dataclass(frozen=True)
class ModelIdentity:
    """The identity of a model in the request key.

    ``endpoint`` {kind, host, path, api}, ``model``, ``revision``, ``params`` every
    generation setting sent, ``local`` the versions of local code that shape an answer.
    """

    endpoint: Mapping[str, str]
    model: str
    revision: str
    params: Mapping[str, object] = field(default_factory=dict)
    local: Mapping[str, str] = field(default_factory=dict)


class ReplyKind(StrEnum):
    """The format of a raw reply's bytes."""

    CHAT_COMPLETION = "chat_completion"
    """An OpenAI Chat Completions response body."""
    RESPONSE = "response"
    """An OpenAI Responses response body."""
    LOCAL = "local"
    """JSON of a model that ran on this machine; `local_reply` writes it."""
    PLAIN = "plain"
    """JSON ``{"text": …, "note": …}`` of a baseline or scripted model."""


LEFT_OUT: Final = "overread-left-out"
"""The name, beside a reply's headers, under which rejected parameters are kept."""
LENGTH_CAP: Final = "overread-length-cap"
"""The same for the longest reply in tokens that was asked for."""
PEAK_MEMORY: Final = "overread-peak-memory"
"""The same for the most bytes of memory held meanwhile, by a model that ran here."""
WORK_TIME: Final = "overread-work-ms"
"""The same for the milliseconds that a model here worked on it, and nothing else."""


@dataclass(frozen=True)
class RawReply:
    """A reply as received: the exact body bytes, before any parsing.

    ``headers`` has selected response headers in lower case and, so that a reused reply
    still has them, our own: ``LEFT_OUT`` the parameters that the endpoint rejected,
    ``LENGTH_CAP`` the longest reply requested, ``PEAK_MEMORY`` the peak memory,
    ``WORK_TIME`` the computing time without waiting for other questions or for the
    model to load.
    """

    kind: ReplyKind
    body: bytes
    http_status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    latency_ms: int = 0

    @property
    def dropped(self) -> tuple[str, ...]:
        """Names of the parameters left out because the endpoint rejected them."""
        return tuple(self.headers.get(LEFT_OUT, "").split())

    @property
    def length_cap(self) -> int | None:
        """The longest reply requested, in tokens; None if unknown."""
        return self._number(LENGTH_CAP)

    @property
    def peak_memory_bytes(self) -> int | None:
        """Peak memory in bytes while the reply was made, None if unknown.

        It is that of the GPU if the model ran on one, else of the whole process.
        """
        return self._number(PEAK_MEMORY)

    @property
    def work_ms(self) -> int | None:
        """Computing time of a local model in milliseconds, None if unknown.

        Questions answered in one batch share its time equally.
        """
        return self._number(WORK_TIME)

    def _number(self, name: str) -> int | None:
        value = self.headers.get(name, "")
        return int(value) if value.isdecimal() else None


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts from the provider; None where it gives none."""

    tokens_in: int | None = None
    tokens_out: int | None = None


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A token of a reply and its log-probability.

    ``logprob`` is the natural logarithm of its probability, ``top`` the most likely
    tokens at its position with theirs, in descending order, empty if not requested.
    """

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class SentHeatMap:
    """A heat map over an image as it was sent, not yet in native pixels.

    ``data`` holds ``rows`` × ``columns`` little-endian float16, row-major, so that maps
    can be compared and transferred as bytes.
    """

    rows: int
    columns: int
    data: bytes

    @classmethod
    def of(cls, values: npt.ArrayLike) -> Self:
        """Encode a (rows, columns) array of finite numbers."""
        half = np.asarray(values, dtype="<f2")
        return cls(half.shape[0], half.shape[1], half.tobytes())

    @property
    def values(self) -> npt.NDArray[np.float32]:
        """The map as a (rows, columns) array."""
        half = np.frombuffer(self.data, dtype="<f2")
        return half.reshape(self.rows, self.columns).astype(np.float32)


@dataclass(frozen=True)
class ReturnedPicture:
    """A picture that a model returned: its file's bytes as they came.

    ``data`` is empty if the reply has only an address, which is never fetched, or if
    its bytes cannot be decoded; ``missing`` then says so.
    """

    data: bytes = field(default=b"", repr=False)
    missing: str = ""


@dataclass(frozen=True)
class ModelReply:
    """A parsed reply: its text and what the provider said about it.

    ``finish_reason`` is the provider's word (``stop``, ``length``, ``content_filter``);
    ``refusal`` the text of a refusal field, None without one; ``note`` a baseline's
    remark on its own answer; ``logprobs`` the tokens of the text, empty if the provider
    gives none; ``heat_map`` an answer that is a map; ``mask`` one that is a mask in
    native pixels; ``measured`` the requested measurements; ``pictures`` those that came
    beside the text. ``latency_ms``, ``peak_memory_bytes`` and ``work_ms`` are those of
    ``RawReply`` and do not count when replies are compared.
    """

    text: str
    reasoning: str = ""
    finish_reason: str = "stop"
    refusal: str | None = None
    model_returned: str = ""
    usage: Usage = Usage()
    note: str = ""
    logprobs: tuple[TokenLogprob, ...] = ()
    heat_map: SentHeatMap | None = None
    mask: Mask | None = None
    measured: Measured | None = None
    pictures: tuple[ReturnedPicture, ...] = ()
    latency_ms: int = field(default=0, compare=False)
    peak_memory_bytes: int | None = field(default=None, compare=False)
    work_ms: int | None = field(default=None, compare=False)
