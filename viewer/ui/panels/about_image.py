"""What the store knows about an image, fetched off the GUI thread."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from viewer.domain.case import ImageRef, ReferenceBox
from viewer.domain.reference import Mask
from viewer.services.answers import StoredAnswer, answers_about
from viewer.services.privacy import restricted_by
from viewer.services.view_image import reference_boxes, reference_masks
from viewer.services.written_answers import written_about

_DRAWN_AT_ONCE = 3
"""As many models as have colours that stay apart for every eye."""


@dataclass(frozen=True)
class About:
    """An image's answers, newest first, and its reference masks by finding.

    Answers with boxes beside words come after those that are places.

    ``boxes`` are those of findings whose reference was drawn as boxes.
    ``restricted`` names the data set that keeps it on this machine, "" for none.
    """

    ref: ImageRef
    answers: tuple[StoredAnswer, ...] = ()
    masks: Mapping[str, Mask] = field(default_factory=dict)
    restricted: str = ""
    boxes: Mapping[str, tuple[ReferenceBox, ...]] = field(default_factory=dict)


def load_about(store: Path, ref: ImageRef) -> About:
    """Read answers and reference from the store; for a background thread."""
    return About(
        ref,
        (*answers_about(store, ref), *written_about(store, ref)),
        reference_masks(store, ref),
        restricted_by(store, ref),
        reference_boxes(store, ref),
    )


def newest_per_model(answers: Sequence[StoredAnswer], finding: str) -> frozenset[int]:
    """Return the trials to draw at once: the newest answer of each model, three.

    Where none is about the finding, the newest of those with boxes beside words.
    """
    newest: dict[str, int] = {}
    about = [a for a in answers if not a.written and a.finding == finding]
    for answer in about or [a for a in answers if a.written]:
        newest.setdefault(answer.model, answer.trial)
    return frozenset(list(newest.values())[:_DRAWN_AT_ONCE])


def reference_words(masks: Mapping[str, Mask], finding: str) -> str:
    """Say which reference the image has, and whether one is of this finding."""
    if not masks:
        return ""
    others = ", ".join(sorted(masks.keys() - {finding}))
    if finding in masks:
        return f"Reference of {finding}" + (f"; also of {others}" if others else "")
    return f"No reference of {finding or 'this finding'}, but of {others}"
