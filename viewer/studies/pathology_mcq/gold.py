"""What is right of a question, for whoever judges its replies without this program."""

from collections.abc import Mapping

from viewer.studies.asking import Turn
from viewer.studies.pathology_mcq.params import Params
from viewer.studies.pathology_mcq.questions import mcq_of


def gold(turn: Turn, params: Params) -> Mapping[str, object]:  # noqa: ARG001 - right is right
    """Return the options in their order and which is right, counted from 0.

    ``written`` and ``letter`` are options and answer as the data set's table has them,
    for the authors' own reading. What is no such question has no truth.
    """
    if not isinstance(turn.item.reference.get("option"), int):
        return {}
    mcq = mcq_of(turn.item)
    return {
        "options": list(mcq.options),
        "order": list(range(len(mcq.options))),
        "right": mcq.correct,
        "written": list(mcq.written),
        "letter": mcq.answer,
    }
