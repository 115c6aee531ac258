"""Who judges an output, and of what, for whoever counts without this program."""

from collections.abc import Mapping

from viewer.studies.rubric_reading.params import Params, Work
from viewer.studies.rubric_reading.plan import task_named
from viewer.studies.steps import Turn


def gold(turn: Turn, params: Params) -> Mapping[str, object]:
    """Return that readers judge an output; what curation proposes nobody does.

    Beside it stand whether its task can be answered, and how many images the model is
    shown, of which each may be graded.
    """
    if params.work is Work.CURATION:
        return {}
    asked = task_named(turn.item, turn.trial.item)
    return {
        "by": "readers",
        "answerable": str(asked.task.answerable),
        "images": len(asked.shown_to(turn.trial.model, params).images),
    }
