"""Pseudonyms of patients, images and items that preserve their order.

Resampling draws patients and items in the order of their names, so every number stays
the same to the last digit.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from viewer.domain.box_reference import readers_of
from viewer.domain.case import Dataset, DatasetImage, ImageRef, Notice
from viewer.domain.evidence import with_images_named
from viewer.domain.exchange import ModelProfile
from viewer.domain.item import TASK_MARK, Item
from viewer.domain.physician import is_consensus
from viewer.domain.result import TrialResult
from viewer.domain.rubric import Grades
from viewer.models.catalog import spec_of
from viewer.results.frame import Frame
from viewer.services.trials.run_context import RunContext

_UNREAD: Final = "The file of the readers' grades cannot be read."
_WITHHELD: Final = "(withheld)"
_EXAMPLE: Final = "X"
_READER_AT: Final = {"experts": 1, "physicians": 0, "reviews": 0, "edited_images": 0}
"""Lists of an item's truth whose entries name a reader, and at which place."""
_ASKED_AT: Final = {"edited_images": 1}
"""Lists whose entries name the question, such as an edit and its donor."""


class Pseudonyms:
    """The pseudonyms of a run's patients, images, items and readers.

    ``patients``, ``images``, ``items`` and ``readers`` map names to pseudonyms (P00001,
    I00001, N00001, R00001); ``results`` are the run's under them. ``mark`` is a prefix
    of every pseudonym. A trial without an image stays without one, and the consensus
    of readers has no name to hide.
    """

    def __init__(
        self,
        dataset: Dataset,
        results: Sequence[TrialResult],
        mark: str = "",
        readers: Iterable[str] = (),
    ) -> None:
        people = {i.patient for i in dataset.images} | {r.patient for r in results}
        people |= {item.patient for item in dataset.items}
        images = {i.key for i in dataset.images} | {r.image for r in results if r.image}
        self.patients = _numbered(f"{mark}P", sorted(people))
        # what is asked is called image|finding or item|task, and stays in its order
        self.images = {"": "", **_numbered(f"{mark}I", sorted(images, key=_before))}
        keys = sorted((item.key for item in dataset.items), key=_before)
        self.items = _numbered(f"{mark}N", keys)
        named = {*readers, *(n for item in dataset.items for n in _readers_of(item))}
        named |= {n for image in dataset.images for n in _read_by(image)}
        kept = {name: name for name in named if not name or is_consensus(name)}
        self.readers = {
            "": "",
            **kept,
            **_numbered(f"{mark}R", sorted(named - kept.keys())),
        }
        studies = sorted({i.study for i in dataset.images})
        self._studies = _numbered(f"{mark}S", studies)
        self.results = tuple(self._result(result) for result in results)

    def trials(self, found: Frame) -> Frame:
        """Return a frame of the run's trials under their pseudonyms."""
        return found.having(
            item=[self.item(*pair) for pair in found.each("item", "image")],
            patient=[self.patients[name] for name in found["patient"]],
            image=[self.images[name] for name in found["image"]],
        )

    def item(self, item: str, image: str) -> str:
        """Return a question's name with its item's pseudonym, or its image's.

        A task that contains an image's name gets its pseudonym as well.
        """
        key, task = self._item_and_task(item)
        if key in self.items:
            return f"{self.items[key]}{TASK_MARK if task else ''}{task}"
        return f"{self.images[image]}{item.removeprefix(image)}"

    def grades(self, grades: Grades) -> Grades:
        """Return grades without readers' and items' names and readers' comments."""
        return replace(
            grades,
            grades=tuple(
                replace(
                    grade,
                    reader=self.readers[grade.reader],
                    item=self.item(grade.item, ""),
                    concerns=(_WITHHELD,) * len(grade.concerns),
                    comments={},
                )
                for grade in grades.grades
                if self._item_and_task(grade.item)[0] in self.items
            ),
            withdrawn=tuple(self.readers[name] for name in grades.withdrawn),
            problem=_UNREAD if grades.problem else "",
        )

    def _item_and_task(self, item: str) -> tuple[str, str]:
        """Return the item's key at the start of a name, and its task; "" for none."""
        key = item
        # From the whole name down, because a key may itself contain the mark.
        while key not in self.items:
            key, mark, _ = key.rpartition(TASK_MARK)
            if not mark:
                return "", ""
        task = item.removeprefix(key).removeprefix(TASK_MARK)
        return key, self.images.get(task, task)

    def context(self, context: RunContext) -> RunContext:
        """Return a context without names, paths, or file locations."""
        spec = replace(
            context.spec,
            models=tuple(map(_without_paths, context.spec.models)),
            helpers=tuple(map(_without_paths, context.spec.helpers)),
            params=self.params(context.spec.params),
        )
        return RunContext(spec, self.dataset(context.dataset))

    def params(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters without a reader's name."""
        return {
            name: self.readers.get(value, value) if isinstance(value, str) else value
            for name, value in params.items()
        }

    def dataset(self, dataset: Dataset) -> Dataset:
        """Return the data set without names, paths, or file names in notices."""
        images = tuple(map(self._image, dataset.images))
        notices = tuple(map(self._notice, dataset.notices))
        items = tuple(map(self._item, dataset.items))
        return replace(
            dataset, root=Path(), images=images, notices=notices, items=items
        )

    def _result(self, result: TrialResult) -> TrialResult:
        return replace(
            result,
            item=self.item(result.item, result.image),
            patient=self.patients[result.patient],
            image=self.images[result.image],
        )

    def _image(self, image: DatasetImage) -> DatasetImage:
        return replace(
            image,
            key=self.images[image.key],
            patient=self.patients[image.patient],
            study=self._studies[image.study],
            ref=ImageRef(Path()),
            boxes={
                finding: tuple(replace(b, reader=self.readers[b.reader]) for b in boxes)
                for finding, boxes in image.boxes.items()
            },
            readers=tuple(self.readers[name] for name in image.readers),
        )

    def _item(self, item: Item) -> Item:
        """Return an item without names, dates, or the readers of its truth."""
        known = {k: v for k, v in item.reference.items() if k != "date"}
        for name in _READER_AT:
            if name in known:
                known[name] = [self._entry(name, e) for e in _entries(known[name])]
        return replace(
            item,
            key=self.items[item.key],
            patient=self.patients[item.patient],
            images=tuple(self.images[key] for key in item.images),
            facts=self._facts(item),
            reference=known,
        )

    def _entry(self, name: str, entry: Sequence[Any]) -> list[Any]:
        """Return an entry of a list of an item's truth under pseudonyms."""
        told = list(entry)
        reader, asked = _READER_AT[name], _ASKED_AT.get(name)
        told[reader] = self.readers[told[reader]]
        if asked is not None:
            told[asked] = self.item(told[asked], "")
        return told

    def _facts(self, item: Item) -> dict[str, object]:
        """Return an item's facts with keys replaced by pseudonyms."""
        facts = with_images_named(item.facts, self.images)
        if "tasks" in facts:
            facts["tasks"] = [
                {**dict(task), "item": self.items.get(dict(task)["item"], _WITHHELD)}
                for task in _entries(facts["tasks"])
            ]
        return facts

    def _notice(self, notice: Notice) -> Notice:
        """Return a notice with only its kind and image, nothing about a file."""
        known = {**self.images, **self.items}
        subject = known.get(notice.subject, _WITHHELD) or _WITHHELD
        return Notice(notice.kind, subject, f"{notice.kind.replace('_', ' ')}.")


def examples_without_names(validation: Dataset) -> Dataset:
    """Return the data set of a run's examples under separate pseudonyms, XP and XI.

    Its content hash changes, so that nothing cached for the named one is used for it.
    """
    renamed = Pseudonyms(validation, (), _EXAMPLE).dataset(validation)
    content = hashlib.sha256(f"{_WITHHELD}{validation.root_sha256}".encode())
    return replace(renamed, root_sha256=content.hexdigest())


def _before(key: str) -> str:
    """Return a sort key that keeps names with the same beginning together."""
    return f"{key}{TASK_MARK}"


def _entries(listed: object) -> Iterable[Any]:
    return listed if isinstance(listed, list) else ()


def _readers_of(item: Item) -> Iterator[str]:
    """Yield the readers in an item's truth."""
    for name, place in _READER_AT.items():
        yield from (entry[place] for entry in _entries(item.reference.get(name)))


def _read_by(image: DatasetImage) -> Iterable[str]:
    """Return the readers of an image, and those who drew a box on it."""
    return {*image.readers, *readers_of(image.boxes)}


def _numbered(letter: str, names: Sequence[str]) -> Mapping[str, str]:
    # Padded, so that pseudonyms sort as text like the names they stand for.
    digits = max(5, len(str(len(names))))
    return {name: f"{letter}{i:0{digits}}" for i, name in enumerate(names, 1)}


def _without_paths(profile: ModelProfile) -> ModelProfile:
    files = {s.key for s in spec_of(profile).settings if s.kind is Path}
    settings = {
        key: _WITHHELD if key in files or _is_path(value) else value
        for key, value in profile.settings.items()
    }
    return replace(profile, settings=settings)


def _is_path(value: object) -> bool:
    """Tell whether text is a path on this machine rather than a name on the hub."""
    if not isinstance(value, str) or "://" in value:
        return False
    return Path(value).is_absolute() or "\\" in value
