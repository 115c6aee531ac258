"""Notes on a run's models; a run with notes has a badge."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from viewer.domain.case import Dataset
from viewer.domain.counting import counted
from viewer.domain.documents import read_json
from viewer.domain.errors import ProviderError
from viewer.domain.exchange import ModelProfile, RawReply
from viewer.domain.run import RunNote, RunSpec
from viewer.models.catalog import reader_for, spec_of
from viewer.services.configuring.served_files import change_of_files, files_of
from viewer.services.running.batched_question import Asked
from viewer.store import consents, runs
from viewer.store.database import Store
from viewer.store.model_checks import latest_check
from viewer.store.trials import TrialReply
from viewer.studies.catalog import study_named

DROPPED: Final = "parameter_dropped"
CHANGED: Final = "model_changed"
STOOD_IN: Final = "stood_in"
UNKNOWN_IMAGES: Final = "unknown_images"


class RunNotes:
    """The notes of one run, each once, even if its batch continues another day."""

    def __init__(self, store: Store, run: int) -> None:
        self._store, self._run = store, run
        self._noted = {*runs.run_notes(store, run)}
        self._first = runs.models_returned(store, run)
        self._known = dict[str, str]()

    def see(self, answered: Iterable[tuple[Asked, TrialReply]]) -> None:
        """Record what replies reveal: rejected parameters, or a changed model."""
        answered = tuple(answered)
        self.see_asked(question for question, _ in answered)
        self._add(
            note
            for question, reply in answered
            for note in self._notes_of(question.profile, reply.raw)
        )

    def see_asked(self, asked: Iterable[Asked]) -> None:
        """Record the caveats of questions."""
        self._add(RunNote(q.model, STOOD_IN, q.note) for q in asked if q.note)

    def _add(self, notes: Iterable[RunNote]) -> None:
        told = dict.fromkeys(notes)
        new = [note for note in told if note not in self._noted]
        if new:
            self._noted.update(new)
            rows = [(note.model, note.kind, note.text) for note in new]
            consents.add_notes(self._store, self._run, rows)

    def _notes_of(self, profile: ModelProfile, raw: RawReply) -> Iterator[RunNote]:
        if not spec_of(profile).remote:
            return
        for name in raw.dropped:
            text = f"{name} was rejected by the endpoint and left out"
            yield RunNote(profile.name, DROPPED, text)
        try:
            returned = reader_for(profile).read(raw).model_returned
        except ProviderError:
            return  # its trial ends as provider_error; it names no model
        # Endpoints that return no name are no change of model.
        first = self._first_name(profile, returned) if returned else ""
        if returned != first:
            text = f"the endpoint answered as {first} and later as {returned}"
            yield RunNote(profile.name, CHANGED, text)

    def _first_name(self, profile: ModelProfile, returned: str) -> str:
        """Return the name a model was checked under, else that of its first reply."""
        if profile.name not in self._known:
            found = latest_check(self._store, profile)
            checked = found.answered_as if found else ""
            self._known[profile.name] = checked or self._first.get(
                profile.name, returned
            )
        return self._known[profile.name]


def note_changed_files(store: Store, run: int, models: Iterable[ModelProfile]) -> None:
    """Add a note on each model whose server has other files than when it was checked.

    The check is the last one before the run was made, which its manifest has.
    """
    created, noted = runs.run_summary(store, run).created_at, runs.run_notes(store, run)
    for profile in models:
        found = latest_check(store, profile, created)
        text = change_of_files(found, files_of(profile)) if found else ""
        if text and RunNote(profile.name, CHANGED, text) not in noted:
            consents.add_notes(store, run, [(profile.name, CHANGED, text)])


def note_unknown_images(
    store: Store, run: int, spec: RunSpec, dataset: Dataset
) -> None:
    """Add notes on models whose prepared answers name images that are not there.

    A misspelled id would otherwise only be a missing answer, which is a miss.
    """
    if not study_named(spec.study).words.places:
        return  # items have ids of their own
    known = {image.key for image in dataset.images}
    for model in spec.models:
        path = model.settings.get("answers_file")
        answered = read_json(Path(str(path)).read_bytes()) if path else {}
        unknown = [key for key in answered if known.isdisjoint(_beginnings(key))]
        if unknown:
            keys = sorted({key.partition("|")[0] for key in unknown})
            text = (
                f"its file has answers for {counted(len(keys), 'image')} that the data "
                f"set does not have, such as {keys[0]}"
            )
            consents.add_notes(store, run, [(model.name, UNKNOWN_IMAGES, text)])


def _beginnings(key: str) -> Iterator[str]:
    """Yield what may be the image's id in ``id|finding``; an id may have a | too."""
    parts = key.split("|")
    return ("|".join(parts[:n]) for n in range(1, len(parts) + 1))
