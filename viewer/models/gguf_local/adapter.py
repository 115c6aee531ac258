"""The adapter of a GGUF model and its projector, run by llama.cpp in this process."""

import base64
import threading
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from viewer.domain.errors import TOO_LONG, ProviderError, RetryClass
from viewer.domain.exchange import (
    ImagePart,
    Message,
    ModelIdentity,
    ModelProfile,
    ModelReply,
    ModelRequest,
    RawReply,
    TextPart,
    Usage,
)
from viewer.models.file_hash import about_the_model
from viewer.models.gguf_local.engine import (
    Collected,
    EngineSettings,
    check_memory,
    device_class,
    make_engine,
)
from viewer.models.gguf_local.files import GgufModel, open_model
from viewer.models.gguf_local.rehearsal import rehearse
from viewer.models.gguf_local.templates import OWN, stop_strings, template_of
from viewer.models.loaded import (
    Held,
    Holder,
    Made,
    Progress,
    cancelled_answer,
    check_cancelled,
)
from viewer.models.reading import local_reply, read_reply
from viewer.models.reply_parts import openai_logprobs
from viewer.models.structured import schema_of

_SAMPLING: Final = ("temperature", "top_p", "top_k", "min_p", "max_tokens")
_QUOTED_AT_MOST: Final = 200


class GgufAdapter(Held[Any]):
    """One GGUF model, with its projector if it accepts images.

    The constructor reads no file, so that stored replies can be parsed even if the
    model is gone; the files' headers are read at first use.
    """

    def __init__(self, profile: ModelProfile) -> None:
        settings = profile.settings
        self._settings = settings
        self._engine = EngineSettings(
            _int(settings, "n_ctx", 4096),
            _int(settings, "n_gpu_layers", -1),
            _int(settings, "threads", -1),
        )
        self._timeout_s = float(str(settings.get("timeout_s", 600.0)))
        self._interruptions = 0
        self._loaded_files: GgufModel | None = None
        self._holder: Holder[Any] = Holder(self._make, self._release)

    def memory_bytes(self) -> int:
        """Return the bytes of its files and of the context's key-value cache."""
        files = self._files()
        return files.weights_bytes + files.cache_bytes(self._engine.context)

    def interrupt(self) -> None:
        """Stop answers in progress, between two tokens, and loading."""
        self._interruptions += 1
        self._holder.interrupt()

    @about_the_model()
    def identity(self, repeat: int) -> ModelIdentity:
        """Return the hashes of both files, the settings and llama.cpp's version.

        Raises
        ------
        WrongUseError
            If files are not what they should be, or do not match.
        """
        files = self._files()
        local = {
            "projector_sha256": files.projector_sha256,
            "xllamacpp": version("xllamacpp"),
            "device": device_class(self._engine.gpu_layers),
            "n_gpu_layers": str(self._engine.gpu_layers),
        }
        template = template_of(self._settings, files.llm).name
        if template != OWN:
            local["chat_template"] = template
        return ModelIdentity(
            {"kind": "gguf_local", "api": "local"},
            files.name,
            files.revision,
            {**self._params(repeat), "n_ctx": self._engine.context},
            local,
        )

    def generate(self, request: ModelRequest) -> RawReply:
        """Ask once; the answer can be interrupted between two tokens."""
        # Counted before loading: an interruption meanwhile stops this answer too.
        interruptions = self._interruptions
        body = self._body(request)
        with self._holder.in_use() as engine:
            name = self._files().name
            self._check_eye(request, name)
            started = time.perf_counter()
            watch = _Watch(self, interruptions, started + self._timeout_s)
            _ask(engine, body, watch)
        watch.check(self._timeout_s)
        milliseconds = round((time.perf_counter() - started) * 1000)
        return _reply(watch.collected, name, milliseconds)

    def read(self, raw: RawReply) -> ModelReply:
        """Parse a stored reply."""
        return read_reply(raw)

    def stopped_since(self, interruptions: int) -> bool:
        """Tell whether ``interrupt`` was called since a number of earlier calls."""
        return self._interruptions != interruptions

    def _make(self, progress: Progress, cancelled: threading.Event) -> Made[Any]:
        progress(0.0, "reading the model's files")
        check_cancelled(cancelled)
        files = self._files()
        check_memory(files, self._engine)
        if self._settings.get("rehearse", True):
            progress(0.1, "testing the files in a separate process")
            rehearse(files, self._engine, cancelled)
        progress(0.5, "loading the model")
        template = template_of(self._settings, files.llm)
        engine = make_engine(files, self._engine, template)
        self._loaded_files = files
        check_cancelled(cancelled)
        progress(1.0, "loaded")
        return Made(engine, self.memory_bytes())

    def _release(self) -> None:
        """Drop the files; llama.cpp's memory is freed with the last reference to it."""
        self._loaded_files = None

    @about_the_model()
    def _files(self) -> GgufModel:
        """Return the checked files: the loaded ones, else the current ones."""
        if self._loaded_files is not None:
            return self._loaded_files
        projector = self._settings.get("projector")
        return open_model(
            Path(str(self._settings["model"])),
            None if projector is None else Path(str(projector)),
        )

    def _check_eye(self, request: ModelRequest, name: str) -> None:
        if request.images and self._settings.get("projector") is None:
            raise ProviderError(
                f"The model '{name}' has no projector, so it cannot see images.",
                "Give the model's mmproj file as projector.",
                retry_class=RetryClass.STOP_RUN,
                reason="no_projector",
            )

    def _params(self, repeat: int) -> dict[str, Any]:
        settings = self._settings
        named = {k: settings[k] for k in _SAMPLING if settings.get(k) is not None}
        top = _int(settings, "logprobs", 0)
        beside = {"top_logprobs": top} if top else {}
        seed = _int(settings, "seed", 0) + repeat
        form = {"structured": True} if settings.get("structured") else {}
        stop = list(stop_strings(settings))
        ends = {"stop": stop} if stop else {}
        return {**named, "seed": seed, "logprobs": True, **beside, **ends, **form}

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        params = self._params(request.facts.repeat)
        if params.pop("structured", False):
            form = {"name": "answer", "strict": True, "schema": schema_of(request)}
            params["response_format"] = {"type": "json_schema", "json_schema": form}
        return {
            "messages": [_message(message) for message in request.messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            **params,
        }


class _Watch:
    """Collects the pieces of an answer, and stops it if it should end early."""

    def __init__(
        self, adapter: GgufAdapter, interruptions: int, deadline: float
    ) -> None:
        self._adapter, self._interruptions = adapter, interruptions
        self._deadline = deadline
        self._late = self._stopped = False
        self.collected = Collected()

    def __call__(self, piece: Mapping[str, Any]) -> bool:
        """Handle a piece; returning True stops llama.cpp."""
        self.collected.add(piece)
        # The answer is complete; what still comes are the counts of its tokens.
        if self.collected.finish_reason:
            return False
        self._stopped = self._adapter.stopped_since(self._interruptions)
        self._late = time.perf_counter() > self._deadline
        return self._stopped or self._late

    def check(self, timeout_s: float) -> None:
        """Raise ``ProviderError`` for an answer that was not completed."""
        if self._stopped:
            raise cancelled_answer()
        if self._late:
            raise ProviderError(
                f"The model did not finish its reply within {timeout_s:g} s.",
                "Raise timeout_s, or choose a smaller model.",
                retry_class=RetryClass.FAIL,
                reason="timeout",
            )
        if self.collected.error is not None:
            raise _refused(self.collected.error)


def _ask(engine: Any, body: dict[str, Any], watch: _Watch) -> None:  # noqa: ANN401 - untyped library
    try:
        engine.handle_chat_completions(body, watch)
    except (RuntimeError, ValueError) as error:
        raise _refused({"message": str(error)}) from error


def _refused(error: Mapping[str, Any]) -> ProviderError:
    """Return the error for a question that llama.cpp rejects."""
    if error.get("type") == "exceed_context_size_error":
        return ProviderError(
            f"The question is {error.get('n_prompt_tokens')} tokens long, longer than "
            f"the context of {error.get('n_ctx')}.",
            "Raise n_ctx, or send smaller images.",
            retry_class=RetryClass.FAIL,
            reason=TOO_LONG,
        )
    message = " ".join(str(error.get("message", "")).split())[:_QUOTED_AT_MOST]
    return ProviderError(
        f"llama.cpp rejects the question ({message}).",
        "Check that model and projector belong together.",
        retry_class=RetryClass.FAIL,
        reason="not_taken",
    )


def _reply(collected: Collected, model: str, latency_ms: int) -> RawReply:
    thought = "".join(collected.thought)
    text = "".join(collected.text)
    usage = collected.usage
    return local_reply(
        f"<think>{thought}</think>{text}" if thought else text,
        model=model,
        finish_reason=collected.finish_reason,
        usage=Usage(usage.get("prompt_tokens"), usage.get("completion_tokens")),
        logprobs=openai_logprobs(collected.logprobs),
        latency_ms=latency_ms,
    )


def _message(message: Message) -> dict[str, Any]:
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    if len(texts) == len(message.parts):
        return {"role": message.role, "content": "\n".join(texts)}
    return {"role": message.role, "content": [_part(part) for part in message.parts]}


def _part(part: TextPart | ImagePart) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    data = base64.b64encode(part.png).decode("ascii")
    url = f"data:{part.media_type};base64,{data}"
    return {"type": "image_url", "image_url": {"url": url}}


def _int(settings: Mapping[str, object], key: str, default: int) -> int:
    return int(str(settings.get(key, default)))
