"""What is right of a question, for whoever judges its replies without this program."""

from collections.abc import Mapping

from viewer.studies.pathology_mcq.params import Params, Work
from viewer.studies.pathology_mcq.questions import mcq_of
from viewer.studies.steps import Turn


def gold(turn: Turn, params: Params) -> Mapping[str, object]:
    """Return the options in their order and which is right, counted from 0.

    ``written`` and ``letter`` are options and answer as the data set's table has them,
    for the authors' own reading. An image that a question is made of has no truth.
    """
    if params.work is Work.BUILDING:
        return {}
    mcq = mcq_of(turn.item)
    return {
        "options": list(mcq.options),
        "order": list(range(len(mcq.options))),
        "right": mcq.correct,
        "written": list(mcq.written),
        "letter": mcq.answer,
    }
