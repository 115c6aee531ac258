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
        "whose server it is, for its address and habits where they are known; another "
        "one by default",
        choices=tuple(SERVERS),
    ),
    Setting(
        "base_url",
        str,
        None,
        "the server's address, up to /v1; only Azure and other servers need it",
    ),
    Setting("model", str, None, "the model's name on the server", required=True),
    Setting(
        "api",
        str,
        None,
        "which of OpenAI's interfaces it speaks: Chat Completions by default, or "
        "Responses, where nothing is kept at the provider",
        choices=("chat", "responses"),
    ),
    Setting(
        "api_key_env",
        str,
        None,
        "the name under which the server's key is kept, in the computer's keyring or "
        "as an environment variable, such as MY_SERVER_KEY; never the key itself",
    ),
    Setting(
        "api_version", str, None, "the version of Azure's interface, such as 2024-10-21"
    ),
    Setting(
        "temperature",
        float,
        None,
        "how much chance there is in an answer, 0 for as little as possible; the "
        "server's default if unset",
        minimum=0,
    ),
    Setting(
        "top_p",
        float,
        None,
        "draws only from the most likely tokens that together have this probability; "
        "the server's default if unset",
        minimum=0,
    ),
    Setting(
        "top_k",
        int,
        None,
        "draws only from this many of the most likely tokens; -1 for all",
        minimum=-1,
    ),
    Setting(
        "min_p",
        float,
        None,
        "leaves out tokens less likely than this part of the most likely one",
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
    Setting(
        "seed",
        int,
        None,
        "start of the random numbers of repeat 0; repeat r sends seed + r",
    ),
    Setting(
        "max_tokens",
        int,
        1024,
        "longest reply in tokens, about four per three words",
        minimum=1,
    ),
    Setting(
        "max_completion_tokens",
        int,
        None,
        "sent instead of max_tokens, for servers that use this name",
        minimum=1,
    ),
    Setting(
        "reasoning_effort",
        str,
        None,
        "how much a reasoning model thinks, such as low, medium or high",
    ),
    Setting(
        "logprobs",
        int,
        None,
        "keeps the probability of each token, with those of this many alternatives",
        minimum=0,
        maximum=20,
    ),
    Setting(
        "structured",
        bool,
        None,
        "has the answer written as JSON, in the form of its coordinates, instead of "
        "free text; may cost accuracy",
    ),
    Setting(
        "detail",
        str,
        None,
        "in how much detail the server looks at an image, where it lets one choose",
        choices=("low", "high", "auto", "original"),
    ),
    Setting(
        "answers",
        str,
        None,
        "when answers come: at once by default; as a batch of the provider they take "
        "up to a day and cost less",
        choices=(BATCH,),
    ),
    Setting(
        "batch_rate",
        float,
        None,
        "the part of the usual price that a batch costs; 0.5 by default",
        minimum=0,
        maximum=1,
    ),
    Setting(
        "timeout_s", float, 120.0, "time limit of a reply in seconds", minimum=0.01
    ),
    Setting(
        "proxy",
        str,
        None,
        "address of a proxy on the way to the server; none by default",
    ),
    Setting(
        "ca_file",
        Path,
        None,
        "PEM file of the authority that signed the server's certificate",
    ),
)
"""The settings in the order that a form shows them; prices follow."""
