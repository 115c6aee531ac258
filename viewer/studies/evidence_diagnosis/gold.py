"""What is right of a case, for whoever judges its replies without this program."""

from collections.abc import Mapping

from viewer.domain.errors import WrongUseError
from viewer.domain.specialties import GROUPS, SPECIALTIES, group_of
from viewer.studies.evidence_diagnosis.params import Params, Task
from viewer.studies.evidence_diagnosis.preparation import is_report
from viewer.studies.evidence_diagnosis.steps import Asking
from viewer.studies.steps import Turn


def gold(turn: Turn, params: Params) -> Mapping[str, object]:
    """Return the options with what stood at each letter, or the diagnosis.

    ``right`` counts the options in the case's own order from 0; ``covered_from`` is
    the judge's score from which a list covers the diagnosis, None where nobody judges.
    ``arm`` is the intervention, ``turned`` by how many places the options are;
    specialty and group stand behind their places in the paper's tables. A report that
    is prepared has no truth.
    """
    if is_report(turn.item):
        return {}
    asking = Asking(turn, params)
    specialty = asking.case.specialty
    group = group_of(specialty)
    shown = {
        "arm": str(asking.showing.arm or ""),
        "turned": asking.showing.order,
        "specialty": [SPECIALTIES.index(specialty), specialty],
        "group": [list(GROUPS).index(group), group],
    }
    if not asking.case.diagnosis or asking.case.answer < 0:
        raise WrongUseError(
            f"The case '{asking.case.key}' does not say its diagnosis.",
            "Import its data set again, with the right option of each case.",
        )
    if asking.task is Task.FDX:
        return {
            **shown,
            "options": list(asking.case.options),
            "order": list(asking.order()),
            "right": asking.case.answer,
        }
    return {
        **shown,
        "diagnosis": asking.case.diagnosis,
        "covered_from": params.covered_from if params.judge else None,
        "levels": list(asking.levels),
    }
