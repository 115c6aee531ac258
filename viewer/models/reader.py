"""The adapter for a person who answered in the Review workspace."""

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
    """Returns a person's stored answers; it cannot ask for new ones."""

    def __init__(self, profile: ModelProfile) -> None:
        self._name = profile.name
        self._params = dict(profile.settings)

    def identity(self, repeat: int) -> ModelIdentity:  # noqa: ARG002 - read once
        """Return the person's session as parameters: each session is another model."""
        endpoint = {"kind": "reader", "api": "person"}
        return ModelIdentity(endpoint, self._name, "1", self._params)

    def generate(self, request: ModelRequest) -> RawReply:  # noqa: ARG002 - a person
        """Raise, so that cases without an answer stay pending."""
        raise ProviderError(
            f"{self._name} is a person and has not read this case.",
            "Continue the session in the Review workspace, then enter it again.",
            retry_class=RetryClass.STOP_RUN,
            reason="not_read",
        )

    def read(self, raw: RawReply) -> ModelReply:
        """Parse a stored reply."""
        return read_reply(raw)
