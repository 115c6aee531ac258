"""Small cases with several pieces of evidence, for the tests of the evidence study."""

from pathlib import Path

from tests.helpers.phantom_folders import write_phantom
from viewer.domain.case import Dataset
from viewer.domain.evidence import Evidence, EvidenceCase, EvidenceType, Language
from viewer.domain.exchange import ModelReply
from viewer.domain.geometry import SizePx
from viewer.readers.datasets.medsyn import read
from viewer.services.synthetic.make_cases import make_cases

ENGLISH = EvidenceCase(
    "case-1",
    Language.ENGLISH,
    "Rheumatology",
    "A 41-year-old man has had a dry cough for three months.",
    "Raised nodules over both shins.",
    (
        Evidence("e1", EvidenceType.LABORATORY, ("lab",), "Calcium is raised."),
        Evidence("e2", EvidenceType.CT, ("ct1", "ct2"), "Large hilar nodes.", "day 2"),
        Evidence("e3", EvidenceType.MICROSCOPY, ("slide",), "Granulomas, no necrosis."),
        Evidence("e4", EvidenceType.CT, ("ct3",), "Smaller nodes.", "day 90"),
    ),
    ("Sarcoidosis", "Tuberculosis", "Lymphoma", "Histoplasmosis"),
    0,
    "Sarcoidosis",
)
CHINESE = EvidenceCase(
    "case-2",
    Language.CHINESE,
    "Haematology",
    "男性，63岁，骨痛半年。",
    "",
    (
        Evidence("e1", EvidenceType.LABORATORY, ("zlab",), "血红蛋白降低。"),
        Evidence("e2", EvidenceType.X_RAY, ("zx",), "多发溶骨性病变。"),
    ),
    ("多发性骨髓瘤", "骨转移癌", "甲状旁腺功能亢进", "淋巴瘤"),
    0,
    "多发性骨髓瘤",
)


def reply(text: str, finish: str = "stop", refusal: str | None = None) -> ModelReply:
    """Return a reply with a text."""
    return ModelReply(text, finish_reason=finish, refusal=refusal)


def cases_dataset(folder: Path, n: int = 4) -> Dataset:
    """Write synthetic cases and return them as a data set."""
    write_phantom(make_cases, folder, n, 1, SizePx(128, 128))
    return read(folder, "cases")
