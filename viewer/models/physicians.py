"""A data set's physicians as a model, so that a judge can score their answers."""

from viewer.domain.exchange import (
    ModelIdentity,
    ModelProfile,
    ModelReply,
    ModelRequest,
    RawReply,
)
from viewer.models.reading import plain_reply, read_reply
from viewer.models.recorded import not_recorded


class Physicians:
    """Returns the recorded answer; the facts that contain it are part of the key."""

    def __init__(self, profile: ModelProfile) -> None:
        self._name = profile.adapter

    def identity(self, repeat: int) -> ModelIdentity:  # noqa: ARG002 - the facts hold it
        """Return that people answered, and nothing about them."""
        endpoint = {"kind": self._name, "api": "person"}
        return ModelIdentity(endpoint, self._name, "1")

    def generate(self, request: ModelRequest) -> RawReply:
        """Return the recorded answer; a missing one raises ``ProviderError``."""
        if not request.facts.written:
            raise not_recorded("No physician answered this case.")
        return plain_reply(request.facts.written)

    def read(self, raw: RawReply) -> ModelReply:
        """Parse a stored reply."""
        return read_reply(raw)
