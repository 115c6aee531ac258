"""What is right of a question, for whoever judges its replies without this program."""

from collections.abc import Mapping

from viewer.studies.grounded_vqa.arms import change_of, is_perturbed, is_sham
from viewer.studies.grounded_vqa.items import Unreadable, question_of
from viewer.studies.grounded_vqa.params import Params
from viewer.studies.grounded_vqa.vocabulary import NO_FINDING, canonical
from viewer.studies.steps import Turn


def gold(turn: Turn, params: Params) -> Mapping[str, object]:
    """Return whether yes is right, or the findings that are there.

    Of a perturbed question no is right, of a sham yes. ``words`` are the anatomy and
    the finding that a closed one asks about, and its template. ``none`` is the label of
    an item without a finding. An item that is no question has no truth.
    """
    asked = question_of(turn.item, params.findings)
    if isinstance(asked, Unreadable):
        return {}
    if not asked.closed:
        labels = dict.fromkeys(canonical(x, params.findings) for x in asked.labels)
        return {"labels": list(labels), "none": NO_FINDING}
    condition = turn.trial.condition.name
    change = change_of(turn.trial.item, condition)
    template = asked.template if change.template is None else change.template
    return {
        "yes": is_sham(condition) if is_perturbed(condition) else asked.yes,
        "words": [*(change.pair or asked.pair), template],
    }
