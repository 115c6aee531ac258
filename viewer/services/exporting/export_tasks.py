"""The tasks that a run proposed, as a selection for a radiologist to edit."""

from pathlib import Path

from viewer.domain.errors import WrongUseError
from viewer.domain.task_selection import selection_as_json
from viewer.services.reporting.report_run import run_results
from viewer.services.sessions import datasets
from viewer.store.database import Store
from viewer.studies.rubric_reading.curating import selection
from viewer.writers.files import write_atomically


def export_tasks(store: Store, run: int, out: Path) -> int:
    """Write the tasks chosen for a run's studies; return how many there are.

    A study for which nobody chose has its best candidate.

    The file can be used as ``tasks.json`` of a data set's folder: if the text of a task
    is edited, the candidate beside it keeps the original. A run that proposed nothing
    raises WrongUseError.
    """
    dataset = datasets.dataset_of_run(store, run)
    tasks = selection(run_results(store, run).results, dataset)
    if not tasks:
        raise WrongUseError(
            f"Run {run} has proposed no tasks.",
            'Run the study rubric_reading with work = "curation".',
        )
    write_atomically(out, selection_as_json(tasks))
    return len(tasks)
