"""The frames that the study's tables are made of.

``groups`` has a row for each trial and each column that the data set is tabulated by;
those of the image-dependence card are shared with other studies.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from viewer.domain.item import Item
from viewer.domain.result import TrialResult
from viewer.results.frame import Frame
from viewer.results.records import records
from viewer.results.spec import TRIALS
from viewer.studies.image_dependence import card_frames
from viewer.studies.question_set.arms import BLIND, CONTROLS, PLAIN
from viewer.studies.question_set.questions import groups_of

GROUPS: Final = "groups"


def frames(
    results: Sequence[TrialResult], items: Mapping[str, Item]
) -> dict[str, Frame]:
    """Return the frames of a run about items of a data set."""
    trials = records(results)
    return {
        TRIALS: trials,
        GROUPS: group_frame(trials, items),
        **card_frames(trials, PLAIN, CONTROLS, BLIND),
    }


def group_frame(trials: Frame, items: Mapping[str, Item]) -> Frame:
    """Return each trial once for each grouping column in which its item has a value."""
    groups = {key: groups_of(item) for key, item in items.items()}
    rows = [
        (place, group, value)
        for place, item in enumerate(trials["item"])
        for group, value in groups.get(item, {}).items()
    ]
    return trials.take(place for place, *_ in rows).having(
        group=[group for _, group, _ in rows], value=[value for *_, value in rows]
    )
