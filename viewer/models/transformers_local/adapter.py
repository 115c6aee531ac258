"""The adapter of a vision-language model run by transformers in this process."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import (
    ModelIdentity,
    ModelProfile,
    ModelReply,
    ModelRequest,
    RawReply,
    Usage,
)
from viewer.domain.interpretability import RandomText
from viewer.models.loaded import (
    Held,
    Holder,
    Made,
    Progress,
    cancelled_answer,
    silent,
    taken,
)
from viewer.models.reading import local_reply, read_reply
from viewer.models.transformers_local import engine, loading, memory
from viewer.models.transformers_local.answering import Told, ask
from viewer.models.transformers_local.conversation import conversation
from viewer.models.transformers_local.encoders import tokenizer_of
from viewer.models.transformers_local.engine import Engine, Wanted
from viewer.models.transformers_local.failures import (
    named_answer_failures,
    wish_refused,
)
from viewer.models.transformers_local.files import ModelFiles
from viewer.models.transformers_local.hub import (
    NotHereError,
    files_fetched,
    files_here,
)
from viewer.models.transformers_local.options import (
    LocalOptions,
    check_quantization,
    device_class,
    device_of,
    library_versions,
)
from viewer.models.transformers_local.random_tokens import random_text


@dataclass(frozen=True)
class _Asked:
    request: ModelRequest
    stop: Callable[[], bool]


@dataclass(frozen=True)
class _Told(Told):
    """An answer, with the peak memory and the seconds it took."""

    peak_bytes: int | None
    seconds: float


class TransformersLocal(Held[Engine]):
    """One local model; loaded by the first question, or by ``load``.

    The constructor reads no file, so that stored replies can be parsed even if the
    model is gone.
    """

    def __init__(self, profile: ModelProfile) -> None:
        self.options = LocalOptions.of(profile)
        self._holder = Holder(self._make, loading.release_memory)
        self._ask_together = Batcher(self._answer, self.options.together)
        self._epoch = 0
        self._finding = threading.Lock()
        self._found: ModelFiles | None = None
        self._words: object = None

    def identity(self, repeat: int) -> ModelIdentity:
        """Return the model's files, versions, device and every generation setting.

        Raises
        ------
        WrongUseError
            If the model is not on this machine or is incomplete.
        """
        check_quantization(self.options)
        files = self._files()
        return ModelIdentity(
            {"kind": "transformers_local", "api": "local"},
            files.name,
            files.revision,
            self.options.generation(repeat),
            self._local_code(files),
        )

    def generate(self, request: ModelRequest) -> RawReply:
        """Generate one reply; raise ``ProviderError`` (cancelled) if interrupted."""
        epoch = self._epoch
        with self._holder.in_use():  # what loading takes is no latency of the answer
            started = time.perf_counter()
            result = self._ask_together(_Asked(request, lambda: self._epoch != epoch))
        answer = result.generated
        if answer.finish == "cancelled":
            raise cancelled_answer()
        raw = local_reply(
            answer.text,
            model=self._files().name,
            finish_reason=answer.finish,
            usage=Usage(answer.tokens_in, len(answer.tokens)),
            logprobs=answer.logprobs,
            measured=result.measured,
            latency_ms=round((time.perf_counter() - started) * 1000),
            work_ms=round(result.seconds * 1000),
        )
        peak = memory.peak_header(result.peak_bytes)
        return replace(raw, headers={**raw.headers, **peak})

    def read(self, raw: RawReply) -> ModelReply:
        """Parse a stored reply."""
        return read_reply(raw)

    def random_text(self, like: str, seed: int) -> RandomText:
        """Return text of as many random tokens as another has; loads no weights.

        Raises
        ------
        WrongUseError
            If the model is not on this machine or its tokenizer allows no such text.
        """
        files = self._files()
        words = self._words or tokenizer_of(files)
        self._words = words
        return RandomText(*random_text(words, like, seed), files.name)

    @contextmanager
    def alone(self) -> Iterator[Engine]:
        """Yield the loaded model for inspection; it answers nothing else meanwhile."""
        with self._ask_together.alone(), self._holder.in_use() as loaded:
            yield loaded

    def unload(self) -> None:
        """Unload the model once the questions in flight are answered."""
        self._holder.unload()
        with self._finding:
            # other files may stand in the folder next time
            self._found = self._words = None

    def interrupt(self) -> None:
        """Stop the answers in progress, and those waiting, between two tokens."""
        self._epoch += 1
        self._holder.interrupt()

    def memory_bytes(self) -> int:
        """Return the size of its weights in bytes, also before they are loaded.

        0 for a model that is not downloaded yet.
        """
        try:
            return self._holder.memory_bytes or self._estimate(files_here(self.options))
        except NotHereError:
            if not self.options.download:
                raise
            return 0

    def _make(self, progress: Progress, cancelled: threading.Event) -> Made[Engine]:
        progress(0.0, "reading the model's files")
        check_quantization(self.options)
        files = self._fetched(progress, cancelled)
        device = device_of(self.options)
        if not self.options.force:
            eager = self.options.attention == "eager"
            memory.check_fits(
                files.name,
                self._estimate(files),
                device,
                self.options.together,
                memory.attended_bytes(files) if eager else 0,
            )
        loaded = loading.load_engine(
            files,
            self.options,
            device,
            memory.dtype_of(files, self.options),
            progress,
            cancelled,
        )
        return Made(loaded, int(loaded.model.get_memory_footprint()))

    def _answer(self, asked: Sequence[_Asked]) -> Sequence[_Told]:
        with self._holder.in_use() as loaded, named_answer_failures(loaded.files.name):
            memory.forget_peak(loaded.device)
            answers = self._answer_together(loaded, asked)
            peak = memory.peak_bytes(loaded.device)
        return [
            _Told(one.generated, one.measured, peak, seconds)
            for one, seconds in answers
        ]

    def _answer_together(
        self, loaded: Engine, asked: Sequence[_Asked]
    ) -> Sequence[tuple[Told, float]]:
        """Answer plain questions together, and those with extra measures individually.

        Each comes with its seconds; questions answered together share the time equally.
        """
        if any(one.request.highlight or one.request.measures for one in asked):
            return [self._answer_alone(loaded, one) for one in asked]
        started = time.perf_counter()
        wanted = [
            Wanted(conversation(one.request), self._seed(one), one.stop)
            for one in asked
        ]
        answers = [Told(answer, None) for answer in engine.generate(loaded, wanted)]
        share = (time.perf_counter() - started) / len(asked)
        return [(one, share) for one in answers]

    def _answer_alone(self, loaded: Engine, asked: _Asked) -> tuple[Told, float]:
        started = time.perf_counter()
        try:
            answer = ask(loaded, asked.request, self._seed(asked), asked.stop)
        except WrongUseError as error:
            raise wish_refused(error) from error
        return answer, time.perf_counter() - started

    def _seed(self, asked: _Asked) -> int:
        return self.options.seed + asked.request.facts.repeat

    def _files(self) -> ModelFiles:
        """Return the files, downloaded if that is allowed; ``interrupt`` stops it."""
        found, unwanted = self._found, self._holder.unwanted
        if found is not None:
            return found
        with self._holder.telling(silent) as tell:
            return self._fetched(tell, unwanted)

    def _fetched(self, progress: Progress, cancelled: threading.Event) -> ModelFiles:
        with taken(self._finding, cancelled):
            if self._found is None:
                self._found = files_fetched(self.options, progress, cancelled)
            return self._found

    def _estimate(self, files: ModelFiles) -> int:
        dtype = memory.dtype_of(files, self.options)
        return memory.weight_bytes(files, dtype, self.options.quantization)

    def _local_code(self, files: ModelFiles) -> dict[str, str]:
        return {
            **library_versions(self.options),
            "device": device_class(device_of(self.options)),
            "dtype": memory.dtype_of(files, self.options),
            "quantization": self.options.quantization,
            "attention": self.options.attention,
            "chat_template_sha256": files.template_sha256,
            "architecture": files.model_type,
        }


_Q = TypeVar("_Q")
_A = TypeVar("_A")


class Batcher(Generic[_Q, _A]):
    """Batches questions that wait at the same time, up to ``most``, in order.

    No question waits for others to arrive: the first is answered at once, and those
    that arrive meanwhile are answered together next. If a batch fails, each of its
    questions is asked individually, so that one failure does not affect the others.
    """

    def __init__(
        self, answer: Callable[[Sequence[_Q]], Sequence[_A]], most: int
    ) -> None:
        self._answer, self._most = answer, most
        self._waiting: deque[tuple[_Q, Future[_A]]] = deque()
        self._answering = threading.Lock()

    def __call__(self, question: _Q) -> _A:
        """Return the answer, or raise the error of this question."""
        mine: Future[_A] = Future()
        self._waiting.append((question, mine))
        with self._answering:
            # Whoever had the lock before may have answered this question as well.
            while not mine.done():
                self._answer_next()
        return mine.result()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Answer no question meanwhile."""
        with self._answering:
            yield

    def _answer_next(self) -> None:
        count = min(self._most, len(self._waiting))
        taken = [self._waiting.popleft() for _ in range(count)]
        if not self._answered(taken) and len(taken) > 1:
            for one in taken:
                self._answered([one])

    def _answered(self, taken: list[tuple[_Q, Future[_A]]]) -> bool:
        try:
            answers = self._answer([question for question, _ in taken])
        except BaseException as error:  # noqa: BLE001 - raised where it was asked
            if len(taken) == 1:
                taken[0][1].set_exception(error)
            return False
        for (_, future), answer in zip(taken, answers, strict=True):
            future.set_result(answer)
        return True
