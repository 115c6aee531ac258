"""What stays the same while the trials of a run are asked, whatever its study asks."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from viewer.domain.case import Dataset, DatasetImage, ImageRef
from viewer.domain.errors import PrivacyError
from viewer.domain.exchange import ModelProfile, ModelRequest
from viewer.domain.image import PixelImage, Window
from viewer.domain.privacy import pixels_sha256
from viewer.domain.result import Score
from viewer.domain.run import RunSpec, Trial
from viewer.models.catalog import adapter_for, endpoint_of
from viewer.models.loaded import Loadable
from viewer.readers.pixels import load_pixels
from viewer.services.burned_in import check_pixels
from viewer.services.gate import CLOSED, About, Gate
from viewer.services.memo import Memo
from viewer.store.trials import StoredReply
from viewer.studies.asking import Sources, Step
from viewer.studies.study import Study

if TYPE_CHECKING:
    from viewer.models.endpoint import Endpoint

PIXEL_IMAGES_KEPT: Final = 4
ANSWER: Final = Step("answer")
"""The one question of a trial that takes no more."""


@dataclass(frozen=True)
class Kept:
    """A reply of a trial that is in the store, and the step that it answers."""

    step: Step
    reply: StoredReply


@dataclass(frozen=True, slots=True)
class Judged:
    """Replies read and scored; ``parsed`` is the answer as JSON for the store."""

    parsed: str
    score: Score


@dataclass(frozen=True)
class Draft:
    """A question as its study wrote it, its prompt, and what it was made of.

    ``note`` is what a reader of the results must know of it, "" for nothing.
    """

    request: ModelRequest
    prompt: tuple[str, str]
    about: About
    note: str = ""


class Bench(ABC):
    """Everything that stays the same while a run's trials are asked.

    Safe to use from threads; it holds no store. ``has_grid`` tells whether its answers
    are places on an image that was sent with a grid.
    """

    study: Study
    has_grid: ClassVar[bool]

    def __init__(
        self, spec: RunSpec, study: Study, dataset: Dataset, gate: Gate = CLOSED
    ) -> None:
        self.spec, self.study, self.gate = spec, study, gate
        self.params: Any = study.read_params(spec.preset, dict(spec.params))
        self.dataset = dataset
        self.images: Mapping[str, DatasetImage] = {i.key: i for i in dataset.images}
        self.profiles: Mapping[str, ModelProfile] = {
            m.name: m for m in (*spec.models, *spec.helpers)
        }
        self.pixels = Memo[ImageRef, PixelImage](load_pixels, PIXEL_IMAGES_KEPT)
        self._looks = Memo[tuple[str, Window | None, str], None](self._look, 1 << 20)

    @abstractmethod
    def next_step(self, trial: Trial, kept: Sequence[Kept]) -> Step | None:
        """Return what a trial is to be asked next, None where it has all it needs."""

    @abstractmethod
    def profile_for(self, trial: Trial, step: Step) -> ModelProfile:
        """Return the model that answers a step."""

    @abstractmethod
    def draft(self, trial: Trial, step: Step, kept: Sequence[Kept]) -> Draft:
        """Return the question of a step, made of the replies so far."""

    @abstractmethod
    def judged(self, trial: Trial, kept: Sequence[Kept]) -> Judged:
        """Read and score a trial's replies; unreadable ones raise ProviderError."""

    @abstractmethod
    def gold(self, trial: Trial) -> Mapping[str, object]:
        """Return what is right of a trial as JSON, {} where no program can tell."""

    @abstractmethod
    def prompts(self) -> tuple[tuple[str, str], ...]:
        """Return the name and template of every prompt that models are asked with."""

    def sources(self) -> Sources | None:
        """Return the images for who makes pictures of a run, None without items."""
        return None

    def endpoint_of(self, model: str) -> "Endpoint | None":
        """Return the endpoint that a model is asked at, None for a model here."""
        return endpoint_of(self.profiles[model])

    def models_of(self, trial: Trial) -> tuple[ModelProfile, ...]:
        """Return every model that a trial may ask: its own, and those with a role."""
        return (self.profiles[trial.model], *self.spec.helpers)

    def check_models(self) -> None:
        """Raise the sentence of a model that cannot be asked, before any is."""
        for profile in self.profiles.values():
            self.gate.check_model(profile, self.dataset.images)
            adapter_for(profile, self.gate.allowance(profile))

    def held_models(self) -> Iterator[tuple[str, Loadable]]:
        """Yield the models that this process holds in memory, with their names."""
        for profile in self.profiles.values():
            adapter = adapter_for(profile, self.gate.allowance(profile))
            if isinstance(adapter, Loadable):
                yield profile.name, adapter

    def interrupt_models(self) -> None:
        """Stop what models held in this process write, and their loading."""
        for _, adapter in self.held_models():
            adapter.interrupt()

    def check_pixels(self, image: str, window: Window | None, sha256: str) -> None:
        """Raise the sentence of an image whose pixels keep it on this machine.

        Pixels with the hash given are looked at as they would be sent, and no others:
        a file may change while it is asked about.
        """
        self._looks((image, window, sha256))

    def _look(self, key: tuple[str, Window | None, str]) -> None:
        name, window, sha256 = key
        ref = self.images[name].ref
        image = self.pixels(ref)
        if pixels_sha256(image) != sha256:
            raise PrivacyError(
                "An image was not sent: its file changed while it was asked about.",
                "Ask again.",
            )
        check_pixels(ref, image, self.gate.reviews, window)
