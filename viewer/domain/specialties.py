"""The 17 specialties of MEDSYN and their 8 groups (appendix A.4)."""

from collections.abc import Mapping
from typing import Final

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "General & Emergency Medicine": (
        "General (internal) medicine",
        "Emergency medicine",
    ),
    "Infectious & Tropical Diseases": ("Infectious diseases", "Tropical medicine"),
    "Haemato-Oncology": ("Haematology", "Medical oncology"),
    "Endocrinology, Rheumatology & Clinical Genetics": (
        "Endocrinology and diabetes mellitus",
        "Rheumatology",
        "Clinical genetics",
    ),
    "Neurology & Psychiatry": ("Neurology", "General psychiatry"),
    "Cardiology & Respiratory Medicine": ("Cardiology", "Respiratory medicine"),
    "Renal & Gastrointestinal Medicine": ("Renal medicine", "Gastro-enterology"),
    "Obstetrics, Gynaecology & Paediatrics": (
        "Obstetrics and gynaecology",
        "Paediatrics",
    ),
}
"""Each group's specialties, in the order of the paper's Table 11."""

SPECIALTIES: Final = tuple(sorted(s for of in GROUPS.values() for s in of))
"""Every specialty, in the order of the paper's Table 10."""

_GROUP_OF: Final = {s: group for group, of in GROUPS.items() for s in of}
_SPELLINGS: Final = {
    "general medicine": "General (internal) medicine",
    "internal medicine": "General (internal) medicine",
    "gastroenterology": "Gastro-enterology",
    "hematology": "Haematology",
    "oncology": "Medical oncology",
    "endocrinology": "Endocrinology and diabetes mellitus",
    "genetics": "Clinical genetics",
    "psychiatry": "General psychiatry",
    "respiratory": "Respiratory medicine",
    "pulmonology": "Respiratory medicine",
    "nephrology": "Renal medicine",
    "obstetrics and gynecology": "Obstetrics and gynaecology",
    "pediatrics": "Paediatrics",
} | {specialty.casefold(): specialty for specialty in SPECIALTIES}


def group_of(specialty: str) -> str:
    """Return the group of a specialty; KeyError if it is unknown."""
    return _GROUP_OF[specialty]


def specialty_named(name: str) -> str | None:
    """Return the specialty for a name in any case or a common spelling."""
    plain = " ".join(name.replace("&", "and").casefold().split())
    return _SPELLINGS.get(plain)
