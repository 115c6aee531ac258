"""Why the right answer to a question is right, in the words of its data set."""

from dataclasses import dataclass
from typing import Final

from viewer.domain.run import RunSpec, Trial
from viewer.domain.study_words import Pair
from viewer.store import cases, committed, items
from viewer.store.database import Store
from viewer.studies.catalog import study_named


@dataclass(frozen=True, slots=True)
class Explanation:
    """Texts under headings; it tells the truth, as the reference does.

    ``read`` is whether a reading of each of the question's images is committed: with
    *Read first* on, nothing of it may be shown before.
    """

    reasons: tuple[Pair, ...] = ()
    read: bool = False

    @property
    def text(self) -> str:
        """All of it, each text below its heading."""
        return "\n\n".join(f"{heading}\n{words}" for heading, words in self.reasons)


NOT_EXPLAINED: Final = Explanation()


def explanation(store: Store, run: int, spec: RunSpec, trial: Trial) -> Explanation:
    """Return the data set's explanation of a trial's right answer."""
    reasons = reasons_of(store, run, spec, trial)
    if not reasons:
        return NOT_EXPLAINED
    images = items.item_of_run(store, run, trial.item).images
    refs = cases.image_refs_of_run(store, run)
    return Explanation(
        reasons, all(committed.is_committed(store, refs[key]) for key in images)
    )


def reasons_of(store: Store, run: int, spec: RunSpec, trial: Trial) -> tuple[Pair, ...]:
    """Return the texts of an explanation, without looking who has read the images."""
    explained = study_named(spec.study).words.explained
    if explained is None:
        return ()
    return explained(items.item_of_run(store, run, trial.item), trial.condition.name)
