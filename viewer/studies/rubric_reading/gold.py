"""Who judges an output, for whoever counts outputs without this program."""

from collections.abc import Mapping

from viewer.studies.asking import Turn
from viewer.studies.rubric_reading.params import Params, Work


def gold(turn: Turn, params: Params) -> Mapping[str, object]:  # noqa: ARG001 - alike for all
    """Return that readers judge an output; what curation proposes nobody does."""
    return {} if params.work is Work.CURATION else {"by": "readers"}
