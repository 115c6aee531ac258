"""The tasks that a run proposed, as a selection for a radiologist to edit."""

from pathlib import Path

from viewer.domain.errors import WrongUseError
from viewer.domain.task_selection import selection_as_json
from viewer.services.reporting.report_run import report_data
from viewer.store.database import Store
from viewer.studies.rubric_reading.curating import draft_selection
from viewer.writers.files import write_atomically


def export_tasks(store: Store, run: int, out: Path) -> int:
    """Write the best candidate of each study of a run; return how many there are.

    The file can be used as ``tasks.json`` of a data set's folder: if the text of a task
    is edited, the candidate beside it keeps the original. A run that proposed nothing
    raises WrongUseError.
    """
    tasks = draft_selection(report_data(store, run).results)
    if not tasks:
        raise WrongUseError(
            f"Run {run} has proposed no tasks.",
            'Run the study rubric_reading with work = "curation".',
        )
    write_atomically(out, selection_as_json(tasks))
    return len(tasks)
