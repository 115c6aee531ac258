"""What HEAL-MedVQA prints, as reference rows that no run edits (X-05, App. B.3).

Open-source models were fine-tuned on the benchmark's training set, proprietary ones
were not (E002-05). Where the text and its tables disagree, the tables are listed and
the sentence has a row of its own.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from viewer.studies.published import PublishedValue, Unit

SOURCE: Final = "HEAL-MedVQA, IJCAI 2025, arXiv 2505.00744"
FINE_TUNED: Final = "fine-tuned on the training set"
NOT_TUNED: Final = "not fine-tuned"
LOBA: Final = "LobA"
LLAVA_MED: Final = "LLaVA-Med"
PROPRIETARY: Final = ("Gemini-1.5-Flash-8B", "GPT-4o", "GPT-4V")

DATASETS: Final = ("MIMIC", "VinDr")
FORMATS: Final = ("Yes/No", "Open")
MEASURES: Final = ("F1", "precision", "recall")
TABLE_2: Final = tuple(
    (measure, f"{dataset} {form}")
    for dataset in DATASETS
    for form in FORMATS
    for measure in MEASURES
)
"""The measure and subject of each column of Table 2, from the left."""

_ACCURACY: Final = (
    (
        "Gemini-1.5-Flash-8B",
        ".548 .520 .569 .091 .127 .024 .571 .604 .543 .038 .098 .023",
    ),
    ("GPT-4o", ".646 .706 .556 .109 .143 .089 .599 .660 .487 .097 .087 .069"),
    ("GPT-4V", ".521 .652 .409 .087 .093 .067 .568 .637 .424 .074 .053 .072"),
    ("CheXagent", ".677 .621 .695 .425 .450 .416 .610 .628 .603 .374 .342 .330"),
    ("BioMedGPT", ".708 .734 .672 .397 .387 .412 .624 .606 .631 .289 .265 .310"),
    ("MedFlamingo", ".562 .574 .552 .365 .390 .310 .584 .600 .547 .301 .285 .322"),
    ("LLaVA-Med", ".722 .712 .709 .551 .541 .565 .703 .708 .699 .523 .519 .530"),
    ("LISA", ".716 .692 .728 .524 .556 .511 .707 .712 .694 .521 .509 .534"),
    ("PH+LLaVA-Med", ".735 .754 .724 .563 .589 .540 .716 .725 .698 .522 .510 .527"),
    ("VCD+LLaVA-Med", ".716 .708 .721 .566 .583 .538 .652 .699 .591 .501 .547 .497"),
    ("CRG+LLaVA-Med", ".731 .715 .725 .544 .563 .554 .689 .667 .702 .509 .524 .494"),
    (
        "LobA w/o self-prompt",
        ".727 .716 .731 .544 .557 .535 .724 .745 .706 .511 .526 .507",
    ),
    (LOBA, ".752 .759 .743 .581 .593 .572 .728 .758 .711 .542 .533 .560"),
)
_TEXTUAL: Final = (
    ("Gemini-1.5", ".532 .510 .521 .487"),
    ("GPT-4o", ".594 .603 .509 .596"),
    ("CheXagent", ".621 .650 .689 .650"),
    ("BioMedGPT", ".687 .610 .623 .612"),
    ("LLaVA-Med", ".764 .762 .751 .734"),
    ("PH+LLaVA-Med", ".783 .774 .724 .762"),
    ("VCD+LLaVA-Med", ".744 .788 .740 .750"),
    ("CRG+LLaVA-Med", ".731 .771 .742 .738"),
    (LOBA, ".792 .801 .770 .748"),
)
_VISUAL: Final = (
    ("Gemini-1.5", ".410 .403"),
    ("GPT-4o", ".557 .581"),
    ("CheXagent", ".631 .671"),
    ("BioMedGPT", ".647 .653"),
    ("LLaVA-Med", ".696 .680"),
    ("PH+LLaVA-Med", ".720 .698"),
    ("VCD+LLaVA-Med", ".678 .654"),
    ("CRG+LLaVA-Med", ".682 .693"),
    (LOBA, ".734 .701"),
)
_ABLATION: Final = (
    ("TPT", "perturbation", ".763 .772 .797"),
    ("VPT", "perturbation", ".743 .738 .759"),
    ("F1", "MIMIC Yes/No", ".722 .727 .752"),
    ("F1", "MIMIC Open", ".551 .544 .581"),
    ("F1", "VinDr Yes/No", ".703 .724 .728"),
    ("F1", "VinDr Open", ".523 .511 .542"),
)
ABLATION: Final = (LLAVA_MED, "LobA w/o self-prompt", LOBA)
"""The columns of Table 5: with neither part, with localization, with both."""
_WEIGHTS: Final = (
    ("Yes/No", ".694 .698 .720 .728 .712"),
    ("Open", ".476 .510 .545 .542 .501"),
)
WEIGHTS: Final = (0.5, 1.0, 2.0, 3.0, 4.0)
"""The added weights of Table 8; its fourth row is LobA's in Table 2."""
_COST: Final = (
    ("CheXagent", 113.4, 23406),
    ("Med-Flamingo", 126.5, 26453),
    ("LLaVA-Med", 87.0, 17729),
    (LOBA, 101.2, 25254),
)
_GENERAL: Final = (
    ("Gemini-1.5-Pro", ".583 .078"),
    ("Claude-3.7", ".610 .062"),
    ("Qwen2.5-VL-7B", ".660 .413"),
    ("InternVL2.5-8B", ".654 .378"),
    (LOBA, ".728 .542"),
)
_CLOSED_API: Final = frozenset(
    {*PROPRIETARY, "Gemini-1.5", "Gemini-1.5-Pro", "Claude-3.7"}
)


def _fraction(
    table: str, measure: str, subject: str, who: str, printed: str, note: str = ""
) -> PublishedValue:
    tuned = NOT_TUNED if who in _CLOSED_API else FINE_TUNED
    return PublishedValue(
        *(SOURCE, table, measure, subject, who, float(printed), 3),
        unit=Unit.FRACTION,
        note=note or tuned,
    )


def _rows(
    table: str,
    columns: Sequence[tuple[str, str]],
    printed: Sequence[tuple[str, str]],
) -> Iterator[PublishedValue]:
    for who, values in printed:
        for (measure, subject), value in zip(columns, values.split(), strict=True):
            yield _fraction(table, measure, subject, who, value)


def _ablation() -> Iterator[PublishedValue]:
    for measure, subject, values in _ABLATION:
        for who, value in zip(ABLATION, values.split(), strict=True):
            yield _fraction("Table 5", measure, subject, who, value)


def _weights() -> Iterator[PublishedValue]:
    for form, values in _WEIGHTS:
        for weight, value in zip(WEIGHTS, values.split(), strict=True):
            note = f"added attention weight {weight:g}"
            yield _fraction(
                "Table 8", f"F1, weight {weight:g}", form, LOBA, value, note
            )


def _costs() -> Iterator[PublishedValue]:
    for who, seconds, megabytes in _COST:
        where = (SOURCE, "Table 6")
        what = ("100 samples, one A100 80GB", who)
        score = Unit.SCORE
        yield PublishedValue(*where, "seconds", *what, seconds, 1, unit=score)
        yield PublishedValue(*where, "GPU memory, MB", *what, megabytes, 0, unit=score)


ACCURACY: Final = tuple(_rows("Table 2", TABLE_2, _ACCURACY))
TEXTUAL: Final = tuple(
    _rows(
        "Table 3",
        tuple(
            (f"TPT {part}", dataset)
            for dataset in DATASETS
            for part in ("anatomy", "disease")
        ),
        _TEXTUAL,
    )
)
VISUAL: Final = tuple(_rows("Table 4", tuple(("VPT", d) for d in DATASETS), _VISUAL))
ABLATION_ROWS: Final = tuple(_ablation())
WEIGHT_ROWS: Final = tuple(_weights())
COSTS: Final = tuple(_costs())
GENERAL: Final = tuple(
    _rows("Table 7", tuple(("F1", f"VinDr {form}") for form in FORMATS), _GENERAL)
)
BELOW_HALF: Final = PublishedValue(
    *(SOURCE, "section 5", "most below", "Yes/No F1", "proprietary models", 50.0, 0),
    note="the accuracy being less than 50 for most models on binary Yes/No questions",
)
"""A sentence; its own Table 2 has all six at 52.1 or more."""
GAIN: Final = PublishedValue(
    *(SOURCE, "section 1", "relative gain", "MIMIC Open F1", LOBA, 5.44, 2),
    note="up to 5.44 %, relative: .551 to .581 over LLaVA-Med",
)
"""The paper's best gain, which is relative (E002-19)."""
SEGMENTED_BADLY: Final = PublishedValue(
    *(SOURCE, "appendix C", "share of samples", "Dice below the threshold", LOBA),
    *(9.47, 2),
    note="the threshold itself is lost",
)
SIZES: Final = {"closed": 45_331, "open": 22_573}
"""Questions of each format (section 3.2)."""

ROWS: Final = (
    *(*ACCURACY, *TEXTUAL, *VISUAL, *ABLATION_ROWS, *COSTS, *GENERAL, *WEIGHT_ROWS),
    *(BELOW_HALF, GAIN, SEGMENTED_BADLY),
)
"""Every printed value, in the order of the paper's tables, then its sentences."""
