"""What is known about each kind of server before anything is asked.

A probe tests what a server really does; this table only avoids questions that are known
to fail, and has the defaults that differ.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from viewer.domain.errors import WrongUseError
from viewer.models.batching import BATCH
from viewer.models.endpoint import endpoint_at

Api = Literal["chat", "responses"]


@dataclass(frozen=True)
class Server:
    """A kind of server.

    ``base_url`` is its default address, "" if there is none, and ``key`` the name under
    which its key is usually kept, "" if it needs none. ``token_cap`` is Chat
    Completions' name for the maximum reply length and ``system_role`` its name for a
    system message. ``sampling`` is sent unless the profile sets another value, for
    servers whose own defaults come from the model's files. ``untaken`` are settings
    known to be rejected or silently ignored. ``has_batches``: it may have a batch
    endpoint of OpenAI's kind.
    """

    name: str
    title: str
    base_url: str = ""
    key: str = ""
    token_cap: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"  # noqa: S105 - a parameter's name
    system_role: Literal["system", "developer"] = "system"
    sampling: Mapping[str, object] = field(default_factory=dict)
    untaken: Mapping[Api, frozenset[str]] = field(default_factory=dict)
    has_batches: bool = False

    @property
    def is_remote(self) -> bool:
        """True for a company's service, or for a server that may be anywhere."""
        return bool(self.key) or self.name == "custom"

    def takes(self, api: Api, setting: str) -> bool:
        """Tell whether a setting is worth sending."""
        return setting not in self.untaken.get(api, frozenset())


def _untaken(chat: str = "", responses: str = "") -> Mapping[Api, frozenset[str]]:
    return MappingProxyType(
        {"chat": frozenset(chat.split()), "responses": frozenset(responses.split())}
    )


_OPEN_MODELS: Final = "top_k min_p repetition_penalty"

_SERVERS: Final = (
    Server("custom", "Another server", has_batches=True),
    Server(
        "openai",
        "OpenAI",
        "https://api.openai.com/v1",
        key="OPENAI_API_KEY",
        token_cap="max_completion_tokens",  # noqa: S106 - a parameter's name
        system_role="developer",
        untaken=_untaken(_OPEN_MODELS, f"seed {_OPEN_MODELS}"),
        has_batches=True,
    ),
    Server(
        "azure",
        "Azure OpenAI",
        key="AZURE_OPENAI_API_KEY",
        token_cap="max_completion_tokens",  # noqa: S106 - a parameter's name
        untaken=_untaken(_OPEN_MODELS, f"seed {_OPEN_MODELS}"),
        has_batches=True,
    ),
    Server(
        "anthropic",
        "Anthropic",
        "https://api.anthropic.com/v1",
        key="ANTHROPIC_API_KEY",
        # ignored in silence: docs.anthropic.com/en/api/openai-sdk
        untaken=_untaken(f"seed logprobs structured reasoning_effort {_OPEN_MODELS}"),
    ),
    Server(
        "google",
        "Google",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        key="GEMINI_API_KEY",
    ),
    Server(
        "openrouter",
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        key="OPENROUTER_API_KEY",
    ),
    Server(
        "ollama",
        "Ollama",
        "http://127.0.0.1:11434/v1",
        untaken=_untaken(f"detail {_OPEN_MODELS}", f"detail {_OPEN_MODELS}"),
    ),
    Server(
        "vllm",
        "vLLM",
        "http://127.0.0.1:8000/v1",
        # it would take these from the model's generation_config.json
        sampling=MappingProxyType(
            {
                "temperature": 1.0,
                "top_p": 1.0,
                "top_k": -1,
                "min_p": 0.0,
                "repetition_penalty": 1.0,
            }
        ),
        untaken=_untaken("detail", "detail"),
    ),
    Server(
        "lm_studio",
        "LM Studio",
        "http://127.0.0.1:1234/v1",
        untaken=_untaken("detail logprobs", "detail logprobs"),
    ),
    Server(
        "llama_cpp",
        "llama.cpp",
        "http://127.0.0.1:8080/v1",
        # measured: Responses takes both and passes over them in silence
        untaken=_untaken("detail", "detail logprobs structured"),
    ),
)

SERVERS: Final[Mapping[str, Server]] = MappingProxyType({s.name: s for s in _SERVERS})
"""The kinds of server by name."""

AZURE_API_VERSION: Final = "2024-10-21"
"""The version of Azure's interface that is asked for unless a profile names one."""


def server_of(settings: Mapping[str, object]) -> Server:
    """Return the kind of server in a profile's settings."""
    return SERVERS[str(settings.get("server", "custom"))]


def completed(name: str, settings: Mapping[str, object]) -> dict[str, object]:
    """Return a profile's settings, with its server's default address if it has none.

    Raises
    ------
    WrongUseError
        If neither the profile nor its kind of server has an address, or a setting
        belongs to another kind.
    """
    server = server_of(settings)
    if not settings.get("base_url") and not server.base_url:
        raise WrongUseError(
            f"The model '{name}' has no base_url.",
            "Add base_url: the server's address, up to /v1.",
        )
    if "api_version" in settings and server.name != "azure":
        raise WrongUseError(
            f"The model '{name}' has an api_version, which only Azure OpenAI knows.",
            'Remove it, or add server = "azure".',
        )
    address = str(settings.get("base_url") or server.base_url)
    if settings.get("answers") == BATCH:
        _check_batches(name, server, address)
    model = str(settings.get("model", ""))
    if in_ollamas_cloud(model) and endpoint_at(address).is_here:
        raise WrongUseError(
            f"The model '{name}' is on the computers of Ollama's company, to which "
            "this one would send the images on.",
            f"Choose a model other than '{model}' whose name does not end in cloud.",
        )
    return {"base_url": server.base_url, **settings}


def _check_batches(name: str, server: Server, address: str) -> None:
    """Raise WrongUseError if the server is known to lack a batch endpoint."""
    if not server.has_batches:
        raise WrongUseError(
            f"{server.title} has no batch endpoint, so '{name}' can only be asked at "
            "once.",
            "Remove answers from its settings.",
        )
    # Its older addresses have one path for each deployment and none for batches.
    if server.name == "azure" and not endpoint_at(address).path.endswith("/v1"):
        raise WrongUseError(
            f"The address of '{name}' has no batch endpoint.",
            "Write Azure's newer address, which ends in /openai/v1.",
        )


def in_ollamas_cloud(model: str) -> bool:
    """Tell whether a name's tag is that of a model in Ollama's cloud.

    An Ollama on this machine lists such models as its own and sends their questions on.
    """
    _, colon, tag = model.rpartition(":")
    return bool(colon) and (tag == "cloud" or tag.endswith("-cloud"))
