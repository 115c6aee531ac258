"""The study's tables as specifications."""

from typing import Final

from viewer.domain.question_kinds import SCORED
from viewer.results.spec import PERCENT, Key, Shown, Spec, TableSpec
from viewer.studies.image_dependence import CARD_SPECS, mean_scores
from viewer.studies.question_set.arms import PLAIN
from viewer.studies.question_set.frames import GROUPS
from viewer.studies.tables import RATE, counts

BY_GROUP: Final = TableSpec(
    "by_group",
    (Key("group"), Key("value", ascending=True), Key("condition"), Key("model")),
    (*counts(), *RATE),
    "Accuracy by group",
    "Accuracy in per cent with the image, by the columns that the data set names.",
    frame=GROUPS,
    outer=("group", "value"),
    shown=(
        *("group", "value", "model", Shown("k", "k"), Shown("n", "n")),
        Shown("hit_rate", "accuracy", PERCENT),
        Shown("ci_low", "95 % interval", PERCENT, also="ci_high"),
        Shown("chance", "chance", PERCENT),
    ),
    printed={"condition": (PLAIN,)},
)
"""The rates of each value of each column that the data set is tabulated by."""
SCORES: Final = mean_scores(
    (Key("task", "kind"),),
    (
        Shown("kind", "Score", words=dict[object, str](SCORED.items())),
        Shown("control", "Control"),
    ),
    (0.0, 1.0),
)
"""Mean scores with the image and under controls, where answers have a score."""
SPECS: Final[tuple[Spec, ...]] = (*CARD_SPECS, SCORES, BY_GROUP)
