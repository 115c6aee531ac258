"""The one gate that a question passes on its way to a remote endpoint.

Nothing is sent unless a person allowed the endpoint for this data set; then only a
freshly written PNG, of an image whose pixels were reviewed, and the prompt, without
anything from the header (docs/privacy.md).
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
from viewer.models.endpoint import LOCAL_ONLY, Allowance, endpoint_at
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
    """A question that passed the gate: destination, hash of the body, and consent.

    ``left_out`` are the body members that its server is known to reject; ``looked_at``
    has the SHA-256 of the source pixels of its images and of its item's text, and
    ``deidentified`` the codes of what was done to all of those pixels and their
    headers.
    """

    endpoint: str
    body_sha256: str
    consent: int
    left_out: frozenset[str] = frozenset()
    looked_at: tuple[str, ...] = ()
    deidentified: tuple[str, ...] = ()

    @property
    def allowance(self) -> Allowance:
        """The allowance for this question's endpoint only."""
        return Allowance(frozenset({self.endpoint}))

    def now(self, profile: ModelProfile, request: ModelRequest) -> "OutgoingRequest":
        """Return the question as sent now, without what its server has rejected."""
        adapter = cast("RemoteAdapter", adapter_for(profile, self.allowance))
        if adapter.left_out == self.left_out:
            return self
        left_out, body_sha256 = _leaving(adapter, request)
        return replace(self, body_sha256=body_sha256, left_out=left_out)

    def drop_rejected_params(
        self, profile: ModelProfile, rejected: Iterable[str]
    ) -> bool:
        """Leave out what the server rejected; True if it was sent with any of it."""
        adapter = cast("RemoteAdapter", adapter_for(profile, self.allowance))
        adapter.leave_out(rejected)  # which another process may have sent
        return not self.left_out.issuperset(rejected)


def _leaving(
    adapter: "RemoteAdapter", request: ModelRequest
) -> tuple[frozenset[str], str]:
    """Return the members left out of a body, and the body's hash."""
    left_out = adapter.left_out  # read first: what is refused meanwhile is heard of
    return left_out, hashlib.sha256(adapter.body(request)).hexdigest()


@dataclass(frozen=True, slots=True)
class Looked:
    """A source image of a question, and the hash of its pixels.

    ``window`` is the one used for it, None for the file's own.
    """

    image: DatasetImage
    pixels_sha256: str
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class About:
    """The images of a question, and their reviewed sources.

    ``pngs`` are the only images that may be sent, ``looked`` their sources, ``known``
    our own texts that occur in every patient's question. ``beside`` are images that the
    text may describe without showing them, ``item`` is the item whose text is sent,
    None if only a finding is named.
    """

    looked: tuple[Looked, ...]
    pngs: frozenset[bytes]
    known: tuple[str, ...] = ()
    beside: tuple[DatasetImage, ...] = ()
    item: Item | None = None

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The hashes under which decisions about its pixels and text are stored."""
        words = () if self.item is None else (words_sha256(self.item),)
        return (*dict.fromkeys(one.pixels_sha256 for one in self.looked), *words)

    @property
    def images(self) -> tuple[DatasetImage, ...]:
        """Every image that a question shows or describes, without duplicates."""
        shown = (*self.beside, *(one.image for one in self.looked))
        return tuple({(image.key, image.sha256): image for image in shown}.values())


@dataclass(frozen=True)
class Gate:
    """The decisions that applied when a batch began.

    ``dataset`` is its name, "" for images in no registered data set; ``consents`` by
    endpoint, ``restricted`` data set names by a file's SHA-256, ``reviews`` by the
    SHA-256 of an image's pixels or of an item's text. ``stays`` is True if the data set
    itself is restricted, including its texts. ``examples`` is the gate of the data set
    whose images are shown as examples with every question, None without any: both must
    be open. An empty gate is closed.
    """

    dataset: str = ""
    consents: Mapping[str, Consent] = field(default_factory=dict)
    restricted: Mapping[str, str] = field(default_factory=dict)
    reviews: Mapping[str, PixelReview] = field(default_factory=dict)
    stays: bool = False
    examples: "Gate | None" = None

    def check_model(
        self, profile: ModelProfile, images: Sequence[DatasetImage]
    ) -> None:
        """Raise PrivacyError if none of these images may be sent to a model."""
        origin = remote_origin(profile)
        if origin is None:
            return
        endpoint_at(origin).check_policy()
        self.check_restricted(profile, images)
        check_key(profile)
        if origin not in self.consents:
            whose = f"nothing of '{self.dataset}'" if self.dataset else "no image"
            raise PrivacyError(
                f"The model '{profile.name}' sends to {origin}, and {whose} may leave "
                "this machine yet.",
                how_to_allow(origin, self.named),
            )
        if self.examples is not None:
            self.examples.check_model(profile, images)

    @property
    def named(self) -> str:
        """The data set's name on the command line; ``any`` if none is registered."""
        return shlex.quote(self.dataset) if self.dataset else "any"

    def check_restricted(
        self, profile: ModelProfile, images: Sequence[DatasetImage]
    ) -> None:
        """Raise PrivacyError if a licence keeps images from a model."""
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
        """Return an image with the blacked-out regions, whoever is asked.

        Local models get the same pixels, so that answers can be compared.
        """
        # Hashing every image's pixels pays only if something is blacked out at all.
        if not any(r.boxes for r in self.reviews.values()):
            return image
        review = self.reviews.get(pixels_sha256(image))
        if review is None or review.decision is not ReviewDecision.BLACKED_OUT:
            return image
        return black_out(image, review.boxes)

    def passed(
        self, profile: ModelProfile, request: ModelRequest, about: About
    ) -> OutgoingRequest | None:
        """Return the outgoing request, None if it stays on this machine.

        Parameters
        ----------
        profile, request : ModelProfile, ModelRequest
            The model, and the request.
        about : About
            The images it is about, whose pixels passed `check_pixels`.

        Raises
        ------
        PrivacyError
            If anything keeps it on this machine.
        """
        origin = remote_origin(profile)
        if origin is None:
            return None
        self.check_model(profile, about.images)
        check_request(request)
        # By bytes: whoever made the request, only what was drawn here may leave.
        if any(image.png not in about.pngs for image in request.images):
            raise PrivacyError(
                "A question was not sent: it contains an image that was not reviewed.",
                "Ask again; if that does not help, report it.",
            )
        text = _text(request)
        check_prompt(text, tuple(_headers(about.images)), about.known)
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
        """Return the codes that apply to every image that a question shows."""
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

    def check_case(
        self, images: Sequence[DatasetImage], told: str, item: Item | None
    ) -> None:
        """Raise PrivacyError if a case shown to a person elsewhere must stay here.

        Restriction and words decide as they do for a question; ``told`` are all words
        of the case, ``item`` is the one they come from. Pixels are checked apart.
        """
        restricted = [self.dataset] if self.stays else []
        restricted += [
            self.restricted[i.sha256] for i in images if i.sha256 in self.restricted
        ]
        if restricted:
            raise PrivacyError(
                f"'{restricted[0]}' is restricted: its images may not leave this "
                "machine.",
                "If its licence allows it after all, import it again with "
                "--unrestricted.",
            )
        check_prompt(told, tuple(_headers(images)))
        if item is not None:
            check_words(item, told, self.reviews)

    def check_unchanged(
        self,
        now: "Gate",
        profile: ModelProfile,
        images: Sequence[DatasetImage],
        outgoing: OutgoingRequest,
    ) -> None:
        """Raise PrivacyError for a question that passed but would not pass ``now``.

        Decisions during a batch apply from the next question on.
        """
        now.check_model(profile, images)
        same = all(_decided(self, x) == _decided(now, x) for x in outgoing.looked_at)
        agreed = now.consents[outgoing.endpoint].id == outgoing.consent
        if not (same and agreed and _agree(self.examples, now.examples, outgoing)):
            raise PrivacyError(
                "A question was not sent: the decision about what may leave has "
                "changed.",
                "Continue the run; its questions are then sent as you decided.",
            )


def _agree(then: Gate | None, now: Gate | None, outgoing: OutgoingRequest) -> bool:
    """Tell whether the consent to send examples is still the same."""
    consents = [gate and gate.consents.get(outgoing.endpoint) for gate in (then, now)]
    return consents[0] == consents[1]


def _decided(gate: Gate, sha256: str) -> object:
    review = gate.reviews.get(sha256)
    return review and (review.decision, review.boxes)


def deidentified(facts: BurnedInFacts, review: PixelReview | None) -> tuple[str, ...]:
    """Return how an outgoing image was de-identified (codes of PS3.16 CID 7050).

    No header, overlay, structured content or descriptor is ever sent, and no image
    before its pixels were reviewed. Recognizable visual features count as removed if a
    person reviewed the image, or if the header says so.
    """
    known = review is not None or facts.recognizable == "NO"
    return tuple(sorted({*WITHOUT_HEADER, *((CLEAN_FEATURES,) if known else ())}))


CLOSED: Final = Gate()
"""Nothing leaves this machine."""


def open_gate(store: Store, dataset: Dataset, examples: Dataset | None = None) -> Gate:
    """Return the gate of a data set, and of its examples', as the store has it now."""
    return Gate(
        dataset=dataset.name if consents.is_registered(store, dataset.name) else "",
        consents={
            c.endpoint: c for c in consents.standing_consents(store, dataset.name)
        },
        restricted=consents.restricted_files(store),
        reviews=consents.reviews(store),
        stays=dataset.name in consents.restricted_datasets(store),
        examples=None if examples is None else open_gate(store, examples),
    )


class GateWatch:
    """Tells whether a question that passed a gate would still pass it.

    Parameters
    ----------
    store : Store
        Where decisions are stored; read before every transmission.
    dataset : Dataset
        The images asked about.
    gate : Gate
        The gate as it was opened.
    examples : Dataset or None
        The data set of the examples shown with every question, if there are any.
    """

    def __init__(
        self,
        store: Store,
        dataset: Dataset,
        gate: Gate,
        examples: Dataset | None = None,
    ) -> None:
        self._store, self._datasets = store, (dataset, examples)
        self._then = self._now = gate
        self._read_at: tuple[object, ...] | None = None

    def check(
        self,
        profile: ModelProfile,
        images: Sequence[DatasetImage],
        outgoing: OutgoingRequest,
    ) -> None:
        """Raise ``PrivacyError`` if a person has decided otherwise since."""
        # A few numbers first: this is asked before every question.
        latest = consents.decided_until(self._store)
        if latest != self._read_at:
            self._read_at, self._now = latest, open_gate(self._store, *self._datasets)
        self._then.check_unchanged(self._now, profile, images, outgoing)


def remote_origin(profile: ModelProfile) -> str | None:
    """Return scheme, host and port of a remote model, else None."""
    endpoint = endpoint_of(profile)
    return None if endpoint is None or endpoint.is_here else endpoint.origin


def check_key(profile: ModelProfile) -> None:
    """Raise ``PrivacyError`` if a model's key could be read on the way."""
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
    """Return a stamp that changes when a file is replaced."""
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _headers(images: Iterable[DatasetImage]) -> Iterator[Identifier]:
    """Yield the header values of a question's images; a missing file has none."""
    for image in images:
        path = image.ref.path
        if path.exists():
            yield from _identifiers(path, _stamp(path))


@lru_cache(maxsize=_HEADERS_KEPT)
def _identifiers(path: Path, _: tuple[int, int]) -> tuple[Identifier, ...]:
    return identifiers(path)
