"""The one gate that a question passes on its way to a remote endpoint.

Local only, unless a person allowed the endpoint for this data set; then only a freshly
written PNG and the prompt, of an image whose pixels were looked at, and with nothing
of its header in the text (docs/privacy.md).
"""

import hashlib
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from viewer.domain.case import Dataset, DatasetImage
from viewer.domain.errors import PrivacyError
from viewer.domain.exchange import ModelProfile, ModelRequest, TextPart
from viewer.domain.image import PixelImage, Window
from viewer.domain.item import Item
from viewer.domain.privacy import (
    CLEAN_FEATURES,
    WITHOUT_HEADER,
    Consent,
    PixelReview,
    ReviewDecision,
    how_to_allow,
    pixels_sha256,
)
from viewer.imaging.png import is_bare_png
from viewer.imaging.redaction import black_out
from viewer.models.catalog import adapter_for, endpoint_of
from viewer.models.endpoint import LOCAL_ONLY, Allowance
from viewer.readers.identifiers import (
    BurnedInFacts,
    Identifier,
    burned_in_facts,
    identifiers,
)
from viewer.services.privacy.prompt_scan import check_prompt
from viewer.services.privacy.word_scan import check_words, words_sha256
from viewer.store import consents
from viewer.store.database import Store

if TYPE_CHECKING:
    from viewer.models.protocol import RemoteAdapter

_HEADERS_KEPT: Final = 64


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """A question that passed the gate: where it goes, its body's hash, the consent.

    ``left_out`` are the members of a body that its server is known not to take;
    ``looked_at`` names the pixels that its images were drawn from and the words of its
    item, by their SHA-256, and ``deidentified`` tells what was done to all of those
    pixels and to their headers.
    """

    endpoint: str
    body_sha256: str
    consent: int
    left_out: frozenset[str] = frozenset()
    looked_at: tuple[str, ...] = ()
    deidentified: tuple[str, ...] = ()

    @property
    def allowance(self) -> Allowance:
        """What lets this question, and no other endpoint's, leave."""
        return Allowance(frozenset({self.endpoint}))

    def now(self, profile: ModelProfile, request: ModelRequest) -> "OutgoingRequest":
        """Return how the question leaves now, after what its server has rejected."""
        adapter = cast("RemoteAdapter", adapter_for(profile, self.allowance))
        left_out, body_sha256 = _leaving(adapter, request)
        return replace(self, body_sha256=body_sha256, left_out=left_out)

    def drop_rejected_params(
        self, profile: ModelProfile, rejected: Iterable[str]
    ) -> bool:
        """Leave out what the server refused, here too; True if it was sent with any.

        The question may have been put by another process.
        """
        adapter = cast("RemoteAdapter", adapter_for(profile, self.allowance))
        adapter.leave_out(rejected)
        return not self.left_out.issuperset(rejected)


def _leaving(
    adapter: "RemoteAdapter", request: ModelRequest
) -> tuple[frozenset[str], str]:
    """Return what is left out of a body, and the body's hash."""
    left_out = adapter.left_out  # read first: what is refused meanwhile is heard of
    return left_out, hashlib.sha256(adapter.body(request)).hexdigest()


@dataclass(frozen=True, slots=True)
class Looked:
    """An image that a question was drawn from, and the hash of its pixels.

    ``window`` is the one it was shown with, None for the file's own.
    """

    image: DatasetImage
    pixels_sha256: str
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class About:
    """The images of a question, and what of them was looked at.

    ``pngs`` are the only images that may leave, ``looked`` what they were drawn from,
    ``known`` are texts of ours that every patient's question holds. ``beside`` are
    images that the text may tell of without showing them, ``item`` is whose words it
    tells, None if there are none but a finding's.
    """

    looked: tuple[Looked, ...]
    pngs: frozenset[bytes]
    known: tuple[str, ...] = ()
    beside: tuple[DatasetImage, ...] = ()
    item: Item | None = None

    @property
    def looked_at(self) -> tuple[str, ...]:
        """What decisions about its pixels and words are kept under."""
        words = () if self.item is None else (words_sha256(self.item),)
        return (*dict.fromkeys(one.pixels_sha256 for one in self.looked), *words)

    @property
    def images(self) -> tuple[DatasetImage, ...]:
        """Every image that a question shows or tells of, each once."""
        shown = {one.image.key: one.image for one in self.looked}
        return tuple(({i.key: i for i in self.beside} | shown).values())


@dataclass(frozen=True)
class Gate:
    """What a person decided, as it stood when a batch began.

    ``dataset`` is its name, "" for images that no registered data set holds;
    ``consents`` by endpoint, ``restricted`` names of data sets by a file's SHA-256,
    ``reviews`` by the SHA-256 of an image's pixels or of an item's words. ``stays``
    tells that the data set itself is restricted, its texts too. An empty gate is
    closed.
    """

    dataset: str = ""
    consents: Mapping[str, Consent] = field(default_factory=dict)
    restricted: Mapping[str, str] = field(default_factory=dict)
    reviews: Mapping[str, PixelReview] = field(default_factory=dict)
    stays: bool = False

    def check_model(
        self, profile: ModelProfile, images: Sequence[DatasetImage]
    ) -> None:
        """Raise the sentence of a model that none of these images may be sent to."""
        origin = remote_origin(profile)
        if origin is None:
            return
        self.check_restricted(profile, images)
        check_key(profile)
        if origin not in self.consents:
            whose = f"nothing of '{self.dataset}'" if self.dataset else "no image"
            raise PrivacyError(
                f"The model '{profile.name}' sends to {origin}, and {whose} may leave "
                "this machine yet.",
                how_to_allow(origin, self.named),
            )

    @property
    def named(self) -> str:
        """The data set's name on the command line; any, if none is registered."""
        return shlex.quote(self.dataset) if self.dataset else "any"

    def check_restricted(
        self, profile: ModelProfile, images: Sequence[DatasetImage]
    ) -> None:
        """Raise the sentence of images whose licence keeps them from a model."""
        origin = remote_origin(profile)
        if origin is not None and self.stays:
            raise PrivacyError(
                f"'{self.dataset}' is restricted: its images may not go to {origin}.",
                "Use a model on this machine.",
            )
        for image in images:
            if origin is not None and image.sha256 in self.restricted:
                raise PrivacyError(
                    f"'{self.restricted[image.sha256]}' is restricted: its images may "
                    f"not go to {origin}.",
                    "Use a model on this machine.",
                )

    def allowance(self, profile: ModelProfile) -> Allowance:
        """Return the servers that a model may be asked at: its endpoint, if allowed."""
        origin = remote_origin(profile)
        if origin is None or origin not in self.consents:
            return LOCAL_ONLY
        return Allowance(frozenset({origin}))

    def as_sent(self, image: PixelImage) -> PixelImage:
        """Return an image with what a person blacked out, whoever is asked.

        Models on this machine get the same pixels, so that answers can be compared.
        """
        if not any(r.boxes for r in self.reviews.values()):
            return image
        review = self.reviews.get(pixels_sha256(image))
        if review is None or review.decision is not ReviewDecision.BLACKED_OUT:
            return image
        return black_out(image, review.boxes)

    def passed(
        self, profile: ModelProfile, request: ModelRequest, about: About
    ) -> OutgoingRequest | None:
        """Return how a question leaves, None if it stays on this machine.

        Parameters
        ----------
        profile, request : ModelProfile, ModelRequest
            Who is asked what.
        about : About
            The images it is about, whose pixels passed `check_pixels`.

        Raises
        ------
        PrivacyError
            Where anything keeps it on this machine.
        """
        origin = remote_origin(profile)
        if origin is None:
            return None
        self.check_model(profile, about.images)
        check_request(request)
        if any(image.png not in about.pngs for image in request.images):
            raise PrivacyError(
                "A question was not sent: it contains an image that was not reviewed.",
                "Ask again; if that does not help, report it.",
            )
        text = _text(request)
        check_prompt(text, tuple(_headers(about)), about.known)
        if about.item is not None:
            check_words(about.item, text, self.reviews)
        adapter = cast("RemoteAdapter", adapter_for(profile, self.allowance(profile)))
        left_out, body_sha256 = _leaving(adapter, request)
        return OutgoingRequest(
            origin,
            body_sha256,
            self.consents[origin].id,
            left_out,
            about.looked_at,
            self._deidentified(about),
        )

    def _deidentified(self, about: About) -> tuple[str, ...]:
        """Return the codes that hold of every image that a question shows."""
        codes = [
            frozenset(
                deidentified(
                    burned_in_facts(one.image.ref.path),
                    self.reviews.get(one.pixels_sha256),
                )
            )
            for one in about.looked
        ]
        return tuple(sorted(frozenset.intersection(*codes))) if codes else ()

    def check_unchanged(
        self,
        now: "Gate",
        profile: ModelProfile,
        images: Sequence[DatasetImage],
        outgoing: OutgoingRequest,
    ) -> None:
        """Raise the sentence of a question that passed here and would not pass ``now``.

        What a person decides while a batch is asked holds from the next question on.
        """
        now.check_model(profile, images)
        same = all(_decided(self, x) == _decided(now, x) for x in outgoing.looked_at)
        if not same or now.consents[outgoing.endpoint].id != outgoing.consent:
            raise PrivacyError(
                "A question was not sent: the decision about what may leave has "
                "changed.",
                "Continue the run; its questions are then sent as you decided.",
            )


def _decided(gate: Gate, sha256: str) -> object:
    review = gate.reviews.get(sha256)
    return review and (review.decision, review.boxes)


def deidentified(facts: BurnedInFacts, review: PixelReview | None) -> tuple[str, ...]:
    """Return the codes of how an image that leaves was de-identified (PS3.16 CID 7050).

    No header, overlay, structured content or descriptor ever leaves, and no image
    before its pixels were looked at. That nobody can be recognised in them is told
    where a person looked, or where the header says so.
    """
    known = review is not None or facts.recognizable == "NO"
    return tuple(sorted({*WITHOUT_HEADER, *((CLEAN_FEATURES,) if known else ())}))


CLOSED: Final = Gate()
"""Nothing leaves this machine."""


def open_gate(store: Store, dataset: Dataset) -> Gate:
    """Return the gate of a data set as the store has it now."""
    return Gate(
        dataset=dataset.name if consents.is_registered(store, dataset.name) else "",
        consents={
            c.endpoint: c for c in consents.standing_consents(store, dataset.name)
        },
        restricted=consents.restricted_files(store),
        reviews=consents.reviews(store),
        stays=dataset.name in consents.restricted_datasets(store),
    )


class GateWatch:
    """Tells whether a question that passed a gate would still pass it.

    Parameters
    ----------
    store : Store
        Where decisions are kept; read before every departure.
    dataset : Dataset
        The images that are asked about.
    gate : Gate
        The gate as it was opened.
    """

    def __init__(self, store: Store, dataset: Dataset, gate: Gate) -> None:
        self._store, self._dataset = store, dataset
        self._then = self._now = gate
        self._read_at: tuple[object, ...] | None = None

    def check(
        self,
        profile: ModelProfile,
        images: Sequence[DatasetImage],
        outgoing: OutgoingRequest,
    ) -> None:
        """Raise ``PrivacyError`` where a person decided otherwise meanwhile."""
        latest = consents.decided_until(self._store)
        if latest != self._read_at:
            self._read_at, self._now = latest, open_gate(self._store, self._dataset)
        self._then.check_unchanged(self._now, profile, images, outgoing)


def remote_origin(profile: ModelProfile) -> str | None:
    """Return scheme, host and port of a model beyond this machine, else None."""
    endpoint = endpoint_of(profile)
    return None if endpoint is None or endpoint.is_here else endpoint.origin


def check_key(profile: ModelProfile) -> None:
    """Raise ``PrivacyError`` where a model's key could be read on its way."""
    endpoint = endpoint_of(profile)
    if endpoint is not None:
        endpoint.check_key(profile.settings.get("api_key_env"))


def check_request(request: ModelRequest) -> None:
    """Raise ``PrivacyError`` for an image that is more than freshly written pixels."""
    for image in request.images:
        if image.media_type != "image/png" or not is_bare_png(image.png):
            raise PrivacyError(
                "An image was not sent: it is more than the pixels of a PNG.",
                "Report this with the output of overread doctor.",
            )


def _text(request: ModelRequest) -> str:
    return "\n".join(
        part.text
        for message in request.messages
        for part in message.parts
        if isinstance(part, TextPart)
    )


def _stamp(path: Path) -> tuple[int, int]:
    """Return what is another once a file is replaced by another one."""
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _headers(about: About) -> Iterator[Identifier]:
    """Yield what the headers of a question's images name; a lost file names nothing."""
    for image in about.images:
        path = image.ref.path
        if path.exists():
            yield from _identifiers(path, _stamp(path))


@lru_cache(maxsize=_HEADERS_KEPT)
def _identifiers(path: Path, _: tuple[int, int]) -> tuple[Identifier, ...]:
    return identifiers(path)
