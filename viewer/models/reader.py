"""A person who answered in the Review workspace, as a model of a run."""

from viewer.domain.errors import ProviderError, RetryClass
from viewer.domain.exchange import (
    ModelIdentity,
    ModelProfile,
    ModelReply,
    ModelRequest,
    RawReply,
)
from viewer.models.reading import read_reply


class Reader:
    """Reads what a person answered; whoever wants to ask is sent to the person."""

    def __init__(self, profile: ModelProfile) -> None:
        self._name = profile.name
        self._params = dict(profile.settings)

    def identity(self, repeat: int) -> ModelIdentity:  # noqa: ARG002 - read once
        """Return the person's session as parameters, so that another is another."""
        endpoint = {"kind": "reader", "api": "person"}
        return ModelIdentity(endpoint, self._name, "1", self._params)

    def generate(self, request: ModelRequest) -> RawReply:  # noqa: ARG002 - a person
        """Raise, so that what was not read stays pending."""
        raise ProviderError(
            f"{self._name} is a person and has not read this case.",
            "Continue the session in the Review workspace, then enter it again.",
            retry_class=RetryClass.STOP_RUN,
            reason="not_read",
        )

    def read(self, raw: RawReply) -> ModelReply:
        """Read a stored reply."""
        return read_reply(raw)
