"""Which models give access to their attention and likelihoods."""

from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile, ModelRequest
from viewer.models.protocol import AdapterSpec


def is_interpretable(spec: AdapterSpec, profile: ModelProfile) -> bool:
    """Return whether a model supports a request's highlight and measures.

    A model with prepared answers does if its profile says so.
    """
    return spec.interpretable or bool(profile.settings.get("interpretable"))


def check_interpretable(
    spec: AdapterSpec, profile: ModelProfile, request: ModelRequest
) -> None:
    """Raise if a request needs attention or likelihoods that a model does not give.

    Raises
    ------
    WrongUseError
        With the reason.
    """
    asked = request.highlight is not None or request.measures is not None
    if asked and not is_interpretable(spec, profile):
        raise WrongUseError(
            f"The model '{profile.name}' is asked through {spec.name}, which gives no "
            "access to its attention and likelihoods.",
            "Choose a model on this machine through transformers_local, or an "
            "approximation.",
        )


def why_no_attention(spec: AdapterSpec, profile: ModelProfile) -> str:
    """Return why a model's attention cannot be measured, "" if it can."""
    settings = {s.key: s.default for s in spec.settings} | dict(profile.settings)
    if not spec.interpretable:
        return (
            f"{spec.name} gives no access to a model's attention; transformers_local, "
            "for models on this machine, does."
        )
    if settings.get("attention") != "eager":
        return (
            f"The attention of {profile.name} can be measured only with "
            'attention = "eager" in its settings.'
        )
    return ""
