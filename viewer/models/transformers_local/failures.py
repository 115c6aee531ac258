"""Failures of local models, as two sentences each."""

import contextlib
from collections.abc import Iterator

from viewer.domain.errors import (
    MissingDependencyError,
    OverreadError,
    ProviderError,
    RetryClass,
    WrongUseError,
)
from viewer.models.transformers_local.files import ModelFiles
from viewer.models.transformers_local.foreign import transformers

_OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "not enough memory")


@contextlib.contextmanager
def named_load_failures(files: ModelFiles) -> Iterator[None]:
    """Convert what transformers raises while loading into an OverreadError."""
    try:
        yield
    except OverreadError:
        raise
    except ImportError as error:
        raise MissingDependencyError(
            f"The model {files.name} needs a library that is not installed "
            f"({error.name or type(error).__name__}).",
            "Install what its model page lists, then load it again.",
        ) from error
    except Exception as error:
        raise _load_failure(files, error) from error


@contextlib.contextmanager
def named_answer_failures(name: str) -> Iterator[None]:
    """Convert what a model raises while answering into a ``ProviderError``."""
    try:
        yield
    except OverreadError:
        raise
    except Exception as error:
        if is_out_of_memory(error):
            raise _no_memory_to_answer(name) from error
        raise ProviderError(
            f"The model {name} could not process this question "
            f"({type(error).__name__}).",
            "Check that its files belong together; try a smaller image or prompt.",
            retry_class=RetryClass.FAIL,
            reason="local_model_failed",
        ) from error


def wish_refused(error: WrongUseError) -> ProviderError:
    """Return the error of a highlight or measure as one of this question only."""
    return ProviderError(
        error.what, error.how, retry_class=RetryClass.FAIL, reason="wish_refused"
    )


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether memory ran out, on the CPU or on a GPU."""
    import torch

    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    message = str(error).casefold()
    return isinstance(error, RuntimeError) and any(w in message for w in _OUT_OF_MEMORY)


def _load_failure(files: ModelFiles, error: Exception) -> WrongUseError:
    if is_out_of_memory(error):
        return WrongUseError(
            f"Memory ran out while the model {files.name} was loaded.",
            "Unload another model, or choose a smaller dtype or model, or a "
            "quantization.",
        )
    if not _is_known(files) and "auto_map" in files.config:
        return WrongUseError(
            f"The model {files.name} needs program code from its own folder, which is "
            "never run.",
            "Choose a model whose architecture is part of transformers.",
        )
    if not _is_known(files):
        return WrongUseError(
            f"The model {files.name} is a '{files.model_type}', which the installed "
            "transformers does not load as an image-text model.",
            "Update transformers, or choose a model that answers about images.",
        )
    return WrongUseError(
        f"The model {files.name} cannot be loaded ({type(error).__name__}).",
        "Its files are damaged or do not belong together; download it again.",
    )


def _is_known(files: ModelFiles) -> bool:
    auto = transformers().models.auto.modeling_auto
    known = auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
    return files.model_type in known


def _no_memory_to_answer(name: str) -> ProviderError:
    return ProviderError(
        f"Memory ran out while the model {name} answered.",
        "Unload another model, lower batch_size, or choose a smaller dtype or model.",
        retry_class=RetryClass.STOP_RUN,
        reason="out_of_memory",
    )
