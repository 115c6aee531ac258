"""A model that answers in one convention, with the truth that the facts tell it."""

from dataclasses import replace
from random import Random

from viewer.domain.exchange import ModelIdentity, ModelReply, ModelRequest, RawReply
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.grid import Grid
from viewer.domain.places import Place
from viewer.models.coordinates.conventions import convention_named
from viewer.models.coordinates.frame import Frame
from viewer.models.coordinates.marks import Kind
from viewer.models.prices import png_size
from viewer.models.provider_view import provider_view_named
from viewer.models.reading import plain_reply, read_reply


class SpeaksOneConvention:
    """Writes the marker's box through `Convention.write`, whatever it is asked.

    ``view`` is what it sees of an image; ``noise_px`` moves every edge by up to so
    much, and ``words`` are put around the answer.
    """

    def __init__(
        self, convention: str, view: str = "none", noise_px: float = 0, words: str = ""
    ) -> None:
        self._convention = convention_named(convention)
        self._view, self._words = provider_view_named(view), words
        self._noise_px, self._dice = noise_px, Random(0)

    def identity(self, repeat: int) -> ModelIdentity:
        """Return no more than a name."""
        return ModelIdentity({}, self._convention.name, str(repeat))

    def generate(self, request: ModelRequest) -> RawReply:
        """Answer with the box that the condition names."""
        sent = png_size(request.images[0].png)
        grid = Grid(request.facts.rows, request.facts.columns)
        frame = replace(Frame.of_sent(sent, self._view.seen(sent)), grid=grid)
        told = request.facts.condition.partition("@")[2].split(",")
        noise = (self._dice.uniform(-self._noise_px, self._noise_px) for _ in told)
        box = BoxPx(*(float(n) + off for n, off in zip(told, noise, strict=True)))
        place = Place(self._shape(box), request.facts.finding)
        return plain_reply(self._words + self._convention.write([place], frame))

    def _shape(self, box: BoxPx) -> BoxPx | PointPx:
        if Kind.BOX in self._convention.kinds:
            return box
        return PointPx((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)

    def read(self, raw: RawReply) -> ModelReply:
        """Read a reply."""
        return read_reply(raw)
