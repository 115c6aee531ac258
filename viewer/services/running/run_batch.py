"""Ask every pending trial of a run; a generator of events."""

from collections.abc import Generator
from concurrent.futures import Executor
from threading import Event as Flag

from viewer.domain.run import (
    Event,
    RunMark,
)
from viewer.services.privacy.gate import open_gate
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.coordinator import BatchCoordinator
from viewer.services.running.progress_events import LoadWatch
from viewer.services.running.rescue import saving_what_is_lost
from viewer.services.running.run_notes import note_changed_files
from viewer.services.running.stopping import asking_threads
from viewer.services.sessions import datasets
from viewer.services.trials.few_shot import examples_dataset
from viewer.services.trials.run_context import RunContext
from viewer.store import runs, trials
from viewer.store.database import Store, utc_now
from viewer.store.locks import run_lock
from viewer.store.saved_replies import ReplyFile


def cancel_run(store: Store, run: int) -> Generator[Event]:
    """Mark a run that nobody works on as cancelled, and end its batches at providers.

    Answers that they have are taken in. Raises RunHeldError if a process works on it.
    """
    with run_lock(store.path, run, utc_now()):
        runs.run_summary(store, run)  # an unknown one is refused
        runs.mark_run(store, run, RunMark.CANCELLED)
    cancel = Flag()
    cancel.set()
    yield from run_batch(store, run, BatchOptions(), cancel)


def run_batch(
    store: Store,
    run: int,
    options: BatchOptions,
    cancel: Flag,
    executor: Executor | None = None,
) -> Generator[Event]:
    """Ask the pending trials and yield events.

    Setting ``cancel`` lets requests in flight finish and be stored, then ends; if it is
    a `Stop` with a limit, later replies are left open, as after a kill. A local model
    stops between two tokens instead; its trials stay pending. Without an ``executor``
    threads of this process ask. Raises RunHeldError if another process coordinates this
    run.
    """
    with run_lock(store.path, run, utc_now()):
        spec = runs.run_spec(store, run)  # refuses a run that the store does not hold
        dataset = datasets.dataset_of_run(store, run)
        examples = examples_dataset(store, spec)
        gate = open_gate(store, dataset, examples)
        context = RunContext(spec, dataset, gate, examples)
        context.check_models()
        # One that is cancelled before it begins only ends its batches at providers.
        marked = runs.run_mark(store, run) not in {None, RunMark.RESUMED}
        if marked and not cancel.is_set():
            runs.mark_run(store, run, RunMark.RESUMED)
        note_changed_files(store, run, (*spec.models, *spec.helpers))
        if options.retry_failed:
            trials.reopen_failed(store, run)
        with (
            asking_threads(options.most, cancel) as threads,
            LoadWatch(run, context.held_models()) as loading,
            # Opened before anything is asked: it reserves space while there is some.
            ReplyFile(store.path, store.name) as reply_file,
            saving_what_is_lost(store, run, reply_file),
            store.waiting(store.on_wait),
        ):
            # Before the first question: a reply in a file must not be bought again.
            store.store_saved_replies()
            coordinator = BatchCoordinator(
                store,
                run,
                context,
                options,
                cancel,
                executor or threads,
                loading,
                reply_file,
            )
            with store.waiting(coordinator.save_while_waiting):
                yield from coordinator.events()
