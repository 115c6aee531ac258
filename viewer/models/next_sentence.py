"""A text encoder that picks the option most likely to follow the question (E003-10).

PathMMU asks how far a question can be guessed from its words alone: BERT and its
relatives were trained to tell whether one sentence follows another, and the option with
the highest probability is the answer. No image is used.
"""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from viewer.domain.choice import letter_of
from viewer.domain.errors import OverreadError, ProviderError, RetryClass, WrongUseError
from viewer.domain.exchange import (
    ModelIdentity,
    ModelProfile,
    ModelReply,
    ModelRequest,
    RawReply,
)
from viewer.domain.interpretability import Choices, Measured, Spelled
from viewer.models.file_hash import about_the_model
from viewer.models.loaded import (
    Held,
    Holder,
    Made,
    Progress,
    check_cancelled,
    loading_alone,
)
from viewer.models.reading import local_reply, read_reply
from viewer.models.transformers_local.failures import (
    named_answer_failures,
    named_load_failures,
)
from viewer.models.transformers_local.files import ModelFiles, folder_of, model_files
from viewer.models.transformers_local.foreign import Foreign, transformers
from viewer.models.transformers_local.loading import release_memory
from viewer.models.transformers_local.memory import check_fits, weight_bytes
from viewer.models.transformers_local.options import device_class, device_named

_DTYPE: Final = "float32"
_FOLLOWS: Final = 0
"""The class that says that the second sentence follows the first (Devlin 2019)."""
_HEAD: Final = "seq_relationship"


@dataclass(frozen=True)
class _Loaded:
    model: Foreign
    words: Foreign
    device: str


class NextSentence(Held[_Loaded]):
    """One model folder; thread-safe. Asking loads it first.

    The constructor reads no file, so that stored replies can be parsed even if the
    model is gone.
    """

    def __init__(self, profile: ModelProfile) -> None:
        self._model = str(profile.settings["model"])
        self._device = str(profile.settings.get("device", "auto"))
        self._holder = Holder(self._make, release_memory)

    def memory_bytes(self) -> int:
        """Return the size of its weights in bytes, also before they are loaded."""
        return self._holder.memory_bytes or weight_bytes(self._files(), _DTYPE)

    @about_the_model()
    def identity(self, repeat: int) -> ModelIdentity:  # noqa: ARG002 - every one is equal
        """Return the hash of the model's files, and the versions of the libraries.

        Raises
        ------
        WrongUseError
            If the model is not on this machine.
        """
        files = self._files()
        versions = {name: version(name) for name in ("torch", "transformers")}
        return ModelIdentity(
            {"kind": "next_sentence", "api": "local"},
            files.name,
            files.revision,
            {},
            {**versions, "device": device_class(device_named(self._device))},
        )

    def generate(self, request: ModelRequest) -> RawReply:
        """Return the letter of the option that most likely follows the question.

        The probability of each option is returned as a log-probability.

        Raises
        ------
        ProviderError
            If the question has no options, or the model cannot be loaded or asked.
        """
        choices = request.facts.choices
        if choices is None or not choices.options:
            raise _no_choices()
        with self._holder.in_use() as loaded:
            started = time.perf_counter()  # what loading takes is none of its latency
            with named_answer_failures(Path(self._model).name):
                options = _follows(loaded, choices)
        best = max(range(len(options)), key=lambda i: options[i].logprob)
        return local_reply(
            letter_of(best),
            model=Path(self._model).name,
            measured=Measured(tuple((option,) for option in options)),
            latency_ms=round((time.perf_counter() - started) * 1000),
        )

    def read(self, raw: RawReply) -> ModelReply:
        """Parse a stored reply."""
        return read_reply(raw)

    def _files(self) -> ModelFiles:
        folder = folder_of(self._model)
        if folder is None:
            raise WrongUseError(
                f"The model {self._model} is named without its folder.",
                "Download it, and name its folder.",
            )
        return model_files(folder.name, folder)

    def _make(self, progress: Progress, cancelled: threading.Event) -> Made[_Loaded]:
        files = self._files()
        device = device_named(self._device)
        check_fits(files.name, weight_bytes(files, _DTYPE), device)
        progress(0.1, "loading the model")
        with named_load_failures(files), loading_alone(cancelled):
            loaded = _loaded(files, device)
        check_cancelled(cancelled)
        progress(1.0, "loaded")
        return Made(loaded, int(loaded.model.get_memory_footprint()))


def _loaded(files: ModelFiles, device: str) -> _Loaded:
    library = transformers()
    model, loading_info = library.AutoModelForNextSentencePrediction.from_pretrained(
        files.folder,
        local_files_only=True,
        use_safetensors=True,
        output_loading_info=True,
    )
    if any(_HEAD in name for name in loading_info["missing_keys"]):
        raise WrongUseError(
            f"The model {files.name} has no next-sentence head.",
            "Choose a model trained on next-sentence prediction, such as BERT.",
        )
    words = library.AutoTokenizer.from_pretrained(files.folder, local_files_only=True)
    return _Loaded(model.to(device).eval(), words, device)


def _follows(loaded: _Loaded, choices: Choices) -> Sequence[Spelled]:
    """Return the probability of each option to follow the question."""
    import torch

    found = []
    for option in choices.options:  # one by one: no padding, so no neighbour matters
        pair = loaded.words(
            choices.question,
            option,
            truncation=True,
            max_length=loaded.model.config.max_position_embeddings,
            return_tensors="pt",
        ).to(loaded.device)
        with torch.inference_mode():
            logits = loaded.model(**pair).logits[0].double()
        chance = float(torch.log_softmax(logits, dim=-1)[_FOLLOWS])
        tokens = loaded.words(option, add_special_tokens=False)["input_ids"]
        found.append(Spelled(option, len(tokens), chance))
    return found


def _no_choices() -> OverreadError:
    return ProviderError(
        "This baseline chooses among options, but the question has none.",
        "Use it in a multiple-choice study.",
        retry_class=RetryClass.STOP_RUN,
        reason="no_choices",
    )
