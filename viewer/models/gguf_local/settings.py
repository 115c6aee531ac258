"""The settings of the adapter for GGUF models."""

from pathlib import Path
from typing import Final

from viewer.models.gguf_local.templates import CHOICES, OWN
from viewer.models.protocol import Setting

GGUF_SETTINGS: Final = (
    Setting(
        "model", Path, None, "the model's .gguf file", required=True, ending=".gguf"
    ),
    Setting(
        "projector",
        Path,
        None,
        "the second file (mmproj), which lets the model see images",
        ending=".gguf",
    ),
    Setting(
        "chat_template",
        str,
        OWN,
        "how messages are written for the model: file takes its file's own template, "
        "none asks for a plain completion, as base models need; the others llama.cpp "
        "knows by name",
        choices=CHOICES,
    ),
    Setting(
        "chat_template_file",
        Path,
        None,
        "a Jinja template to use instead",
        ending=".jinja",
    ),
    Setting(
        "stop",
        str,
        None,
        r"strings that end the reply, such as <|im_end|>, separated by blanks; \n "
        r"stands for a line break, \s for a blank",
    ),
    Setting("n_ctx", int, 4096, "longest question and answer in tokens", minimum=64),
    Setting(
        "n_gpu_layers",
        int,
        -1,
        "layers computed on a GPU; -1 as many as fit, 0 none",
        minimum=-1,
    ),
    Setting("threads", int, -1, "CPU threads; -1 one per core", minimum=-1),
    Setting("max_tokens", int, 256, "longest reply in tokens", minimum=1),
    Setting(
        "temperature", float, 0.0, "0 always takes the most likely token", minimum=0
    ),
    Setting("top_p", float, None, "nucleus sampling", minimum=0, maximum=1),
    Setting(
        "top_k", int, None, "number of most likely tokens to sample from", minimum=0
    ),
    Setting(
        "min_p",
        float,
        None,
        "minimum probability relative to the most likely token",
        minimum=0,
        maximum=1,
    ),
    Setting("seed", int, 0, "seed of repeat 0; repeat r has seed + r", minimum=0),
    Setting(
        "logprobs",
        int,
        5,
        "number of alternatives kept for each token of the reply",
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
        "rehearse",
        bool,
        True,
        "test the files in a separate process first: wrong files can crash llama.cpp",
    ),
    Setting(
        "timeout_s", float, 600.0, "time limit of a reply in seconds", minimum=0.01
    ),
)
"""The settings in the order that a form shows them."""
