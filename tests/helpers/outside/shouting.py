"""An adapter of another distribution: whoever it asks says the same."""

from viewer.domain.exchange import (
    ModelIdentity,
    ModelProfile,
    ModelReply,
    ModelRequest,
    RawReply,
)
from viewer.models.protocol import AdapterSpec, Setting
from viewer.models.reading import plain_reply, read_reply


class Shouting:
    """Answers what its profile says, in capitals."""

    def __init__(self, profile: ModelProfile) -> None:
        self._says = str(profile.settings["says"]).upper()

    def identity(self, repeat: int) -> ModelIdentity:
        endpoint = {"kind": "shouting", "api": "local", "says": self._says}
        return ModelIdentity(endpoint, "shouting", "1")

    def generate(self, request: ModelRequest) -> RawReply:
        return plain_reply(self._says)

    def read(self, raw: RawReply) -> ModelReply:
        return read_reply(raw)


SPEC = AdapterSpec(
    name="shouting",
    summary="always the same answer, in capitals",
    factory="shouting:Shouting",
    settings=(Setting("says", str, "a", "what it answers"),),
)
