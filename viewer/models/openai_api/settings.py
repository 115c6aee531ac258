"""The settings of the adapter for OpenAI-compatible servers."""

from pathlib import Path
from typing import Final

from viewer.models.batching import BATCH
from viewer.models.openai_api.servers import SERVERS
from viewer.models.protocol import Setting

OPENAI_SETTINGS: Final = (
    Setting(
        "server",
        str,
        None,
        "kind of server, with its known defaults and quirks; custom by default",
        choices=tuple(SERVERS),
    ),
    Setting(
        "base_url",
        str,
        None,
        "the server's address, up to /v1; needed for azure and custom",
    ),
    Setting("model", str, None, "the model's name on the server", required=True),
    Setting(
        "api",
        str,
        None,
        "Chat Completions by default, or Responses with storage turned off",
        choices=("chat", "responses"),
    ),
    Setting(
        "api_key_env", str, None, "the environment variable that holds the server's key"
    ),
    Setting("api_version", str, None, "the version of Azure's interface"),
    Setting(
        "temperature",
        float,
        None,
        "sampling temperature; the server's default if unset",
        minimum=0,
    ),
    Setting(
        "top_p",
        float,
        None,
        "nucleus sampling; the server's default if unset",
        minimum=0,
    ),
    Setting(
        "top_k",
        int,
        None,
        "number of most likely tokens to sample from; -1 for all",
        minimum=-1,
    ),
    Setting(
        "min_p",
        float,
        None,
        "minimum probability relative to the most likely token",
        minimum=0,
        maximum=1,
    ),
    Setting(
        "repetition_penalty",
        float,
        None,
        "penalty on repeated tokens; 1 for none",
        minimum=0,
    ),
    Setting("seed", int, None, "sampling seed of repeat 0; repeat r sends seed + r"),
    Setting("max_tokens", int, 1024, "longest reply in tokens", minimum=1),
    Setting(
        "max_completion_tokens",
        int,
        None,
        "sent instead of max_tokens, for servers that use this name",
        minimum=1,
    ),
    Setting("reasoning_effort", str, None, "how much a reasoning model thinks"),
    Setting(
        "logprobs",
        int,
        None,
        "return token probabilities, with this many alternatives per token",
        minimum=0,
        maximum=20,
    ),
    Setting(
        "structured",
        bool,
        None,
        "answer as JSON in its convention's form instead of free text; may cost "
        "accuracy",
    ),
    Setting(
        "detail",
        str,
        None,
        "image detail that the server uses",
        choices=("low", "high", "auto", "original"),
    ),
    Setting(
        "answers",
        str,
        None,
        "a provider's batch takes up to a day and costs less; at once by default",
        choices=(BATCH,),
    ),
    Setting(
        "batch_rate",
        float,
        None,
        "the part of the price that a batch costs; 0.5 by default",
        minimum=0,
        maximum=1,
    ),
    Setting(
        "timeout_s", float, 120.0, "time limit of a reply in seconds", minimum=0.01
    ),
    Setting("proxy", str, None, "proxy to use; none by default"),
    Setting(
        "ca_file",
        Path,
        None,
        "PEM file of the authority that signed the server's certificate",
    ),
)
"""The settings in the order that a form shows them; prices follow."""
