"""A profile's options for a local model, and their meaning on this machine."""

from dataclasses import dataclass
from importlib import metadata
from typing import Final, Self

from viewer.domain.errors import MissingDependencyError, WrongUseError, where_to_get
from viewer.domain.exchange import ModelProfile
from viewer.models.protocol import Setting

LOCAL_SETTINGS: Final = (
    Setting(
        "model",
        str,
        None,
        "the model's folder, or its name on Hugging Face, owner/model",
        required=True,
        may_be_folder=True,
    ),
    Setting(
        "revision",
        str,
        None,
        "version of a model on Hugging Face: a branch, tag or commit",
    ),
    Setting("download", bool, False, "download the model from Hugging Face if needed"),
    Setting(
        "device",
        str,
        "auto",
        "where the model runs; auto uses a GPU if there is one",
        choices=("auto", "cpu", "cuda", "mps"),
    ),
    Setting(
        "dtype",
        str,
        "auto",
        "number format of the weights; auto keeps the model's own",
        choices=("auto", "float32", "bfloat16", "float16"),
    ),
    Setting(
        "quantization",
        str,
        "none",
        "loads the weights in 8 or 4 bits: less memory, and answers may differ",
        choices=("none", "8bit", "4bit"),
    ),
    Setting(
        "attention",
        str,
        "sdpa",
        "how attention is computed; eager is slower and also shows where it looked",
        choices=("sdpa", "eager"),
    ),
    Setting("max_new_tokens", int, 256, "longest reply in tokens", minimum=1),
    Setting(
        "temperature", float, 0.0, "0 always takes the most likely token", minimum=0
    ),
    Setting("seed", int, 0, "seed of repeat 0 above temperature 0; repeat r adds r"),
    Setting(
        "batch_size",
        int,
        1,
        "questions answered together; above 1 the last digits may change",
        minimum=1,
    ),
    Setting("logprobs", bool, True, "keep token probabilities"),
    Setting(
        "top_logprobs", int, 5, "most likely tokens kept at each position", minimum=0
    ),
    Setting("force", bool, False, "load it even if it seems not to fit in memory"),
)

QUANTIZER: Final = "bitsandbytes"


@dataclass(frozen=True)
class LocalOptions:
    """A profile's settings with their types; see ``LOCAL_SETTINGS``."""

    model: str
    revision: str | None
    download: bool
    device: str
    dtype: str
    quantization: str
    attention: str
    max_new_tokens: int
    temperature: float
    seed: int
    batch_size: int
    logprobs: bool
    top_logprobs: int
    force: bool

    @classmethod
    def of(cls, profile: ModelProfile) -> Self:
        """Return the options of a profile, defaults filled in.

        Settings that say how its answers are read are none of them.
        """
        settings = profile.settings
        options = {s.key: settings.get(s.key, s.default) for s in LOCAL_SETTINGS}
        return cls(**options)  # type: ignore[arg-type]

    @property
    def samples(self) -> bool:
        """True if answers are sampled instead of always the most likely."""
        return self.temperature > 0

    @property
    def together(self) -> int:
        """Questions answered at once; sampled ones must not depend on their batch."""
        return 1 if self.samples else self.batch_size

    def generation(self, repeat: int) -> dict[str, object]:
        """Return every setting that can change an answer, for the request's key."""
        drawn = {"seed": self.seed + repeat} if self.samples else {}
        return {
            "temperature": self.temperature,
            "max_new_tokens": self.max_new_tokens,
            "top_logprobs": self.top_logprobs if self.logprobs else None,
            "batch_size": self.together,
            **drawn,
        }


def device_of(options: LocalOptions) -> str:
    """Return cuda, mps or cpu; raises if the one requested is not available."""
    return device_named(options.device)


def device_named(named: str) -> str:
    """Return the device for a setting, including ``auto``, as ``device_of`` does."""
    import torch

    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if named == "auto":
        return next(name for name, is_there in there.items() if is_there)
    if not there[named]:
        raise WrongUseError(
            f"The model is set to run on {named}, which torch does not find.",
            "Set device to auto or cpu, or install torch for this GPU.",
        )
    return named


def device_class(device: str) -> str:
    """Return the kind of device, whose arithmetic affects an answer."""
    if device != "cuda":
        return device
    import torch

    return f"cuda {torch.cuda.get_device_name()}"


def library_versions(options: LocalOptions) -> dict[str, str]:
    """Return the versions of the libraries that affect an answer, by name."""
    quantizing = () if options.quantization == "none" else (QUANTIZER,)
    # with torchvision, transformers resizes images another way
    names = ("torch", "torchvision", "transformers", *quantizing)
    return {name: _version(name) for name in names}


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "none"


def check_quantization(options: LocalOptions) -> None:
    """Raise if quantized weights are requested without bitsandbytes."""
    from importlib.util import find_spec

    if options.quantization == "none":
        return
    for library in (QUANTIZER, "accelerate"):
        if find_spec(library) is None:
            raise MissingDependencyError(
                f"Weights of {options.quantization} need {library}, which is not "
                "installed.",
                f"Install it ({where_to_get(library)}), or set quantization to none.",
            )
