"""Deletion of a data set, a case, a run, a reply or a model, with all kept of it.

What goes and what stays is told first. The store's rows go in one transaction, files
after it; where that is interrupted, the next start of the program does the rest.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from viewer.domain.counting import counted
from viewer.domain.errors import OverreadError, StoreBusyError, WrongUseError
from viewer.domain.escapes import path_text
from viewer.private_files import is_made_here
from viewer.readers.headers import read_file_header
from viewer.services.configuring.model_profiles import (
    apply_edit,
    deleting,
    known_models,
)
from viewer.services.viewing.kept_headers import header_file
from viewer.settings import Settings
from viewer.store import deleting as rows
from viewer.store import deletion_scope
from viewer.store.cases import dataset_summaries
from viewer.store.database import Store, open_store, utc_now
from viewer.store.locks import run_lock, session_lock
from viewer.store.runs import run_summary
from viewer.store.saved_replies import read_rescue_file


class Kind(StrEnum):
    """What can be deleted."""

    DATASET = "dataset"
    CASE = "case"
    RUN = "run"
    REPLY = "reply"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be deleted.

    ``name`` is the name of a data set or model, or the number of a run, or that of the
    trial a reply answers; ``case`` a patient, an image or an item of the data set.
    """

    kind: Kind
    name: str
    case: str = ""

    def __str__(self) -> str:
        noun = {Kind.DATASET: "data set", Kind.REPLY: "reply to trial"}
        words = f"the {noun.get(self.kind, self.kind.value)}"
        if self.kind is Kind.CASE:
            return f"the case '{self.case}' of the data set '{self.name}'"
        number = self.kind in {Kind.RUN, Kind.REPLY}
        return f"{words} {self.name}" if number else f"{words} '{self.name}'"


class StillReadError(StoreBusyError):
    """Something was deleted, but another program still reads the old rows."""


@dataclass(frozen=True)
class Deletion:
    """What goes and what stays, in words; ``counts`` has rows of the store by table.

    ``paths`` are the image files, and folders of data sets, of which nothing is kept.
    """

    target: Target
    goes: tuple[str, ...]
    stays: tuple[str, ...]
    runs: tuple[int, ...]
    counts: Mapping[str, int]
    paths: tuple[Path, ...] = ()


@dataclass(frozen=True)
class _Plan:
    scope: deletion_scope.DeletionScope
    files: tuple[Path, ...]
    rescued: tuple[Path, ...]
    places: tuple[str, ...]
    names: deletion_scope.Names


_COUNTED: Final = (
    (("dataset",), "data set", ""),
    (("image",), "image", ""),
    (("item",), "item", ""),
    (("mask", "reference_box"), "reference mark", ""),
    (("reply", "rescued_reply"), "reply", "replies"),
    (("blob",), "image as it was sent", "images as they were sent"),
    (("reading_session",), "reader's session", "readers' sessions"),
    (("reading",), "reader's answer", "readers' answers"),
    (("image_mark",), "mark on images", "marks on images"),
    (("committed_reading",), "committed reading", ""),
    (("pixel_review",), "review of pixels", "reviews of pixels"),
    (("family",), "declared comparison", ""),
    (("model_check",), "check of the model", "checks of the model"),
)
"""Tables whose rows are counted for the user, with their noun and its plural."""


def deletable_datasets(settings: Settings) -> tuple[str, ...]:
    """Return the names of the registered data sets, the newest first."""
    with open_store(settings.store) as store:
        return tuple(one.name for one in dataset_summaries(store))[::-1]


def cases_of_image(settings: Settings, path: Path) -> tuple[Target, ...]:
    """Return the case that an image file belongs to, of each data set that has it.

    Without a registered one they are those of single questions about it.
    """
    with open_store(settings.store) as store:
        found = deletion_scope.cases_of_file(store, path.absolute())
    return tuple(Target(Kind.CASE, name, case) for name, case in found)


def preview_deletion(settings: Settings, target: Target) -> Deletion:
    """Return what would go and what would stay; nothing is changed."""
    with open_store(settings.store) as store:
        plan = _plan(store, settings, target)
        removed = rows.preview(store, plan.scope, plan.places)
        return _told(store, target, plan, removed)


def delete(settings: Settings, target: Target) -> Deletion:
    """Delete something with everything kept of it; all or nothing.

    Raises
    ------
    WrongUseError
        If nothing has this name, or a model comes with the program.
    RunHeldError, SessionHeldError
        If another process works on one of the runs or sessions.
    StillReadError
        If the rows are gone, but another program still reads the old ones.
    """
    with open_store(settings.store) as store, contextlib.ExitStack() as held:
        plan = _plan(store, settings, target)
        for run in plan.scope.runs:
            held.enter_context(run_lock(store.path, run, utc_now()))
        for session in plan.scope.sessions:
            held.enter_context(session_lock(store.path, session, utc_now()))
        for file in plan.rescued:
            # What other runs need of it stays in the store when the file goes.
            store.take_in(read_rescue_file(file))
        removed = rows.preview(store, plan.scope, plan.places)
        told = _told(store, target, plan, removed)
        files = [path_text(path) for path in (*plan.files, *plan.rescued)]
        rows.remove(store, plan.scope, files, plan.places)
        if target.kind is Kind.MODEL:
            _drop_profile(settings, target.name)
        _finish(store, target)
    return told


def _finish(store: Store, target: Target) -> None:
    try:
        store.finish_deleting()
    except StoreBusyError as error:
        raise StillReadError(
            f"Deleted: {target}; but another program still reads the store.",
            "The space of it is overwritten when Overread starts the next time.",
        ) from error


def _plan(store: Store, settings: Settings, target: Target) -> _Plan:
    scope = _scope(store, settings, target)
    names = deletion_scope.names_of(store, scope)
    requests = deletion_scope.requests_of(store, scope)
    return _Plan(
        scope,
        tuple(dict.fromkeys(_files(settings, names))),
        tuple(_rescue_files(settings, requests)),
        tuple(_series(names.paths)),
        names,
    )


def _scope(
    store: Store, settings: Settings, target: Target
) -> deletion_scope.DeletionScope:
    if target.kind is Kind.DATASET:
        return deletion_scope.of_dataset(store, target.name)
    if target.kind is Kind.CASE:
        return deletion_scope.of_case(store, target.name, target.case)
    if target.kind is Kind.MODEL:
        _check_own(settings, target.name)
        return deletion_scope.of_model(store, target.name)
    of = deletion_scope.of_run if target.kind is Kind.RUN else deletion_scope.of_reply
    return of(store, _number(target))


def _number(target: Target) -> int:
    try:
        return int(target.name)
    except ValueError as error:
        raise WrongUseError(
            f"'{target.name}' is not a number.",
            "overread runs lists the numbers of runs.",
        ) from error


def _check_own(settings: Settings, name: str) -> None:
    own = [m.name for m in known_models(settings.models_file) if m.own]
    if name not in own:
        raise WrongUseError(
            f"No model of your own is named '{name}'.",
            f"Yours: {', '.join(own) or 'none'}; those of the program stay.",
        )


def _drop_profile(settings: Settings, name: str) -> None:
    apply_edit(deleting(name, settings.models_file), settings.models_file)


def _files(settings: Settings, names: deletion_scope.Names) -> Iterator[Path]:
    """Yield the files of the program's own that go; the user's own never do."""
    for root in names.roots:
        if is_made_here(root):
            yield root
    for path in names.paths:
        if is_made_here(path):
            yield path
            yield from _marker_of(settings.home / "unpacked", path)
    for folder in {*names.roots, *(f for p in names.paths for f in p.parents)}:
        if (kept := header_file(settings.home, folder)).exists():
            yield kept
    for text in names.models:
        if text.startswith(str(settings.home)) and is_made_here(Path(text)):
            yield Path(text)
    yield from _naming(settings.home / "crashes", names)


def _marker_of(unpacked: Path, path: Path) -> Iterator[Path]:
    """Yield what says that a ZIP file's copy is whole, which it is no more."""
    if unpacked in path.parents:
        store, copy, *_ = path.relative_to(unpacked).parts
        yield unpacked / store / copy / "complete"


def _naming(folder: Path, names: deletion_scope.Names) -> Iterator[Path]:
    """Yield the files of a folder that name a path that goes."""
    texts = [path_text(path).encode() for path in (*names.paths, *names.roots)]
    for file in folder.iterdir() if folder.is_dir() else ():
        content = file.read_bytes() if file.is_file() else b""
        if any(text in content for text in texts if text):
            yield file


def _rescue_files(settings: Settings, requests: Iterable[str]) -> Iterator[Path]:
    """Yield the rescue files of this store that have replies to some requests."""
    wanted = frozenset(requests)
    for folder in (settings.store.parent, settings.home / "rescue"):
        for file in sorted(folder.glob(f"{settings.store.name}.*.rescue.jsonl")):
            with contextlib.suppress(OverreadError):
                replies = read_rescue_file(file).replies
                if any(reply.request_sha256 in wanted for reply in replies):
                    yield file


def _series(paths: Iterable[Path]) -> Iterator[str]:
    """Yield the series of files that can be read: rows of the case list bear them."""
    for path in paths:
        with contextlib.suppress(OverreadError, OSError):
            if key := read_file_header(path).series_key:
                yield key


def _told(store: Store, target: Target, plan: _Plan, removed: rows.Removed) -> Deletion:
    counts = removed.counts
    made = deletion_scope.made_for_readers(store, plan.scope)
    goes = [
        counted(n, noun, plural)
        for tables, noun, plural in _COUNTED
        if (n := sum(counts.get(table, 0) - made[table] for table in tables))
    ]
    goes[1:1] = [_run_words(store, run) for run in plan.scope.runs]
    if target.kind is Kind.MODEL:
        goes.insert(0, f"the profile of '{target.name}'")
    if made["image"]:
        goes.append(f"{counted(made['image'], 'image')} made for readers")
    files = [file for file in (*plan.files, *plan.rescued) if file.exists()]
    if files:
        words = counted(len(files), "file or folder", "files and folders")
        goes.append(f"{words} that Overread made of it")
    return Deletion(
        target,
        tuple(goes),
        tuple(_stays(store, plan, removed)),
        plan.scope.runs,
        counts,
        (*plan.names.paths, *plan.names.roots),
    )


def _run_words(store: Store, run: int) -> str:
    summary = run_summary(store, run)
    asked = counted(summary.n_planned, "trial")
    models = ", ".join(summary.models)
    one = " (a single question)" if summary.adhoc else ""
    return f"run {run}{one}: {summary.study} on {summary.dataset}, {models}, {asked}"


def _stays(store: Store, plan: _Plan, removed: rows.Removed) -> Iterator[str]:
    scope = plan.scope
    if any(not is_made_here(path) for path in plan.names.paths):
        yield "your image files, where they are"
    for name, n in deletion_scope.also_in(store, scope).items():
        yield f"the data set '{name}', which has {n:,} of these images too"
    if removed.shared:
        replies = counted(removed.shared, "reply", "replies")
        yield f"{replies} that other runs show"
    if sent := deletion_scope.sent_from(store, scope):
        requests = counted(sent, "request")
        yield f"the record that {requests} left this computer, without names"
    if scope.trials:
        trials = counted(len(scope.trials), "trial")
        yield f"{trials}, to be asked again when the run is resumed"
    if scope.shrinking:
        yield "the other cases of the data set"
