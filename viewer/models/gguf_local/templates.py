"""Chat templates: how a conversation becomes the text that a GGUF model continues.

The file's own template is the default. One without any is of a base model, which is
given the plain text: llama.cpp would write ChatML, whose tokens such a model was never
taught and may repeat for ever.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from viewer.domain.errors import WrongUseError
from viewer.models.file_hash import unreadable_file
from viewer.models.gguf_local.header import GgufHeader

OWN: Final = "file"
PLAIN: Final = "none"
NAMED: Final = (
    *("chatml", "llama2", "llama3", "llama4", "mistral-v1", "mistral-v7", "gemma"),
    *("phi3", "phi4", "vicuna", "zephyr", "deepseek2", "deepseek3", "command-r"),
    *("chatglm4", "granite", "openchat"),
)
"""Templates that llama.cpp knows by name."""
CHOICES: Final = (OWN, PLAIN, *NAMED)
_JOINED: Final = (
    "{% for message in messages %}{{ message['content'] }}"
    "{% if not loop.last %}{{ '\n\n' }}{% endif %}{% endfor %}"
)
"""The messages with an empty line between them, and nothing else."""
_IN_FILE: Final = "tokenizer.chat_template"


@dataclass(frozen=True)
class ChatTemplate:
    """A template for llama.cpp: its text, or a name that llama.cpp knows.

    ``name`` tells it apart in the request key: OWN for the file's own, a name, or the
    SHA-256 of a template's file, whose name is ``file``.
    """

    name: str
    text: str = ""
    file: str = ""

    def apply(self, params: Any) -> None:  # noqa: ANN401 - untyped library
        """Set it in llama.cpp's parameters."""
        if self.text:
            params.chat_template = self.text
            params.use_jinja = self.name not in NAMED


def template_of(settings: Mapping[str, object], model: GgufHeader) -> ChatTemplate:
    """Return the template that a profile's settings choose for a model.

    Raises
    ------
    UnreadableInputError
        If a template's file cannot be read.
    WrongUseError
        If it holds no text.
    """
    path = settings.get("chat_template_file")
    if path is not None:
        return _from_file(Path(str(path)))
    chosen = str(settings.get("chat_template", OWN))
    if chosen == OWN and model.text(_IN_FILE):
        return ChatTemplate(OWN)
    if chosen in (OWN, PLAIN):
        return ChatTemplate(PLAIN, _JOINED)
    return ChatTemplate(chosen, chosen)


def stop_strings(settings: Mapping[str, object]) -> tuple[str, ...]:
    r"""Return the strings that end a reply; ``\n`` and ``\s`` stand for white space."""
    written = str(settings.get("stop", "")).split()
    return tuple(one.replace(r"\n", "\n").replace(r"\s", " ") for one in written)


def completed(name: str, settings: Mapping[str, object]) -> Mapping[str, object]:
    """Return a profile's settings unchanged; raise if they name two templates."""
    chosen = settings.get("chat_template", OWN)
    if settings.get("chat_template_file") and chosen != OWN:
        raise WrongUseError(
            f"The model '{name}' has both a chat_template and a chat_template_file.",
            "Remove one of them.",
        )
    return settings


def _from_file(path: Path) -> ChatTemplate:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable_file(path, error) from error
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = ""
    if not text.strip():
        raise unusable(path.name)
    return ChatTemplate(hashlib.sha256(data).hexdigest(), text, path.name)


def unusable(file: str) -> WrongUseError:
    """Return the error for a template's file that llama.cpp cannot use."""
    return WrongUseError(
        f"llama.cpp cannot use the chat template '{file}'.",
        "Choose the Jinja template that was published with the model, or remove "
        "chat_template_file.",
    )
