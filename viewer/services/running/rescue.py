"""Save the replies of a run whose store is lost, and recover them later."""

import contextlib
import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from viewer.domain.counting import counted
from viewer.domain.errors import StoreError, StoreLostError
from viewer.private_files import make_private_folder
from viewer.settings import read_settings
from viewer.store.database import Store
from viewer.store.rescued import replies_of_run
from viewer.store.saved_replies import (
    ReplyFile,
    SavedReply,
    read_rescue_file,
    write_rescue_file,
)


@dataclass(frozen=True, slots=True)
class Rescued:
    """What was recovered: replies in the file, and those that were new.

    ``was_older`` if the store was an older copy, which is now the current one.
    """

    replies: int
    new: int
    was_older: bool


def rescue(store: Store, path: Path | None) -> Rescued:
    """Store the replies of a rescue file, so that the next run buys none of them again.

    An older copy of a store becomes writable again: the user chose to continue with it.
    Without a ``path`` nothing else is done.
    """
    file = None if path is None else read_rescue_file(path)
    was_older = store.is_older_copy
    new = 0 if file is None else store.take_in(file)
    store.keep_older_copy()
    return Rescued(0 if file is None else len(file.replies), new, was_older)


@contextlib.contextmanager
def saving_what_is_lost(
    store: Store, run: int, reply_file: ReplyFile
) -> Iterator[None]:
    """Write replies that neither store nor reply file can hold to a rescue file.

    The error that ends the run then names the file.
    """
    try:
        yield
    except StoreLostError as error:
        stored = replies_of_run(store, run)
        known = {reply.attempt for reply in stored}
        held = reply_file.give_up()
        replies = (*stored, *(one for one in held if one.attempt not in known))
        what = (
            f"The store '{store.path.name}' was deleted, moved or replaced during run"
            f" {run}, and nothing more was asked."
        )
        how = "Put the store back, or import the data set again"
        raise _where(StoreLostError(what, how), store, replies) from error
    except StoreError as error:
        if not reply_file.failed:
            raise
        raise _where(error, store, reply_file.give_up()) from error


def _where(
    error: StoreError, store: Store, replies: Sequence[SavedReply]
) -> StoreError:
    """Save replies in a rescue file; return the error that names the file."""
    kind, how = type(error), error.how.removesuffix(".")
    if not replies:
        return kind(f"{error.what} No reply was lost.", f"{how}.")
    count = counted(len(replies), "reply", "replies")
    path = _written(store, replies)
    if path is None:
        return kind(f"{error.what} {count} could not be saved anywhere.", f"{how}.")
    return kind(
        f"{error.what} {count} of the run saved in '{path}'.",
        f"{how}, then type: overread rescue {shlex.quote(str(path))}",
    )


def _written(store: Store, replies: Sequence[SavedReply]) -> Path | None:
    """Write a rescue file beside the store, or else in the user's data folder."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    name = f"{store.path.name}.{stamp}-{os.getpid()}.rescue.jsonl"
    at_home = read_settings().home / "rescue"
    with contextlib.suppress(OSError):
        make_private_folder(at_home)
    for folder in (store.path.parent.absolute(), at_home):
        with contextlib.suppress(OSError):
            write_rescue_file(folder / name, store.name, replies)
            return folder / name
    return None
