"""Parsing of text that denies the finding."""

import re
from functools import lru_cache

from viewer.domain.finding_names import concept, plain_name
from viewer.studies.grid_localization.findings import SPELLINGS
from viewer.studies.refusing import ABLE, lowered

_SEEN = (
    r"(?:seen|present|visible|identified|detected|evident|noted|observed|found|shown"
    r"|visuali[sz]ed|appreciated|apparent|demonstrated|discernible)"
)
_GENERIC = re.compile(
    r"\b(?:abnormalit|finding|evidence|opacit|lesion|sign|patholog|disease|it\b|this\b"
    r"|condition|anything|nodule|mass|consolidat|fluid)",
)
_THIS_ONE = r"(?!other|further|additional|more|doubt|question)"
_NOT = r"(?:do not|don't|does not|doesn't|did not|didn't)"
_NO_EVIDENCE = (
    r"\bno (?:\w+ ){0,3}?(?:evidence|signs?|indications?|features|findings?"
    r"|suggestion) (?:of|for|suggest\w*|consistent)\b(?P<subject>[^.;\n]{0,80})"
)
_ABSENCE = r"\b(?:absence|lack) of\b(?P<subject>[^.;,\n]{1,60})"
_NO_IS_SEEN = (
    rf"\bno {_THIS_ONE}(?P<subject>[^.;,:\n]{{1,60}}?)"
    rf" (?:(?:is|are|was|were|can be|could be) )?(?:\w+ly )?{_SEEN}\b"
)
_IS_NOT_SEEN = (
    r"(?P<subject>[^.;:\n]{0,60}) (?:(?:is|are|was|were) (?:not|absent\b)"
    r"|isn't|aren't|wasn't|(?:do|does) not appear(?: to be)?)"
    rf"(?:(?<=absent)| (?:\w+ly )?{_SEEN}\b)"
)
_DOES_NOT_SHOW = (
    rf"\b{_NOT} (?:\w+ly )?(?:show|demonstrate|contain|reveal|have|exhibit|depict)\b"
    r"(?P<subject>[^.;\n]{0,80})"
)
_I_DO_NOT_SEE = (
    rf"\bi {_NOT} (?:see|find|observe|detect|identify|visuali[sz]e)\b"
    r"(?P<subject>[^.;\n]{0,80})"
)
_NO_FINDING = (
    rf"(?:^|[.;\n:]\s*)no {_THIS_ONE}(?:acute |visible |obvious |definite )?"
    r"(?P<subject>[a-z ]{3,40}?)\s*(?:[.;!\n]|$)"
)
_IS_NORMAL = (
    r"\b(?:normal chest|lungs? (?:fields? )?(?:is|are|appear) clear"
    r"|(?:image|radiograph|x-ray|film|study|chest) (?:is|appears|looks) (?:normal"
    r"|unremarkable))(?P<subject>)"
)
_DENIALS = tuple(
    re.compile(pattern)
    for pattern in (
        _NO_EVIDENCE,
        _ABSENCE,
        _NO_IS_SEEN,
        _IS_NOT_SEEN,
        _DOES_NOT_SHOW,
        _I_DO_NOT_SEE,
        _IS_NORMAL,
    )
)
_CANNOT_SEE = (
    rf"\b{ABLE} (?:\w+ly )?(?:see|identify|find|detect|observe|visuali[sz]e|locate"
    r"|appreciate|discern)\b(?P<subject>[^.;\n]{0,80})"
)
_LOOSE_DENIALS = (re.compile(_NO_FINDING), re.compile(_CANNOT_SEE))
"""Denials only where what they are about is a finding."""
_NOTHING = frozenset(
    {
        *("none", "n/a", "na", "not applicable", "no", "nothing", "normal", "absent"),
        *("not present", "not visible", "not seen", "no cell", "no grid cell"),
        *("none of the cells", "no answer"),
    }
)


def denies(text: str, finding: str, *, names_cell: bool) -> bool:
    """Tell whether a text says that the finding is absent.

    If the text also names a cell, only a denial of this very finding counts, or one
    that names no finding at all; otherwise any denial does.
    """
    text = lowered(text)
    if text.strip(" .!\"'") in _NOTHING:
        return True
    subjects = [m["subject"] for pattern in _DENIALS for m in pattern.finditer(text)]
    subjects += [m["subject"] for m in _bare_denial(finding).finditer(text)]
    subjects += [
        m["subject"]
        for pattern in _LOOSE_DENIALS
        for m in pattern.finditer(text)
        if _GENERIC.search(m["subject"]) or _findings_named(m["subject"], finding)
    ]
    return any(not names_cell or _is_about(s, finding) for s in subjects)


@lru_cache(maxsize=64)
def _bare_denial(finding: str) -> re.Pattern[str]:
    """Return the pattern of "no" with a finding's name at most two words later."""
    names = "|".join(re.escape(name) for name in (plain_name(finding), *SPELLINGS))
    return re.compile(rf"\bno {_THIS_ONE}(?:\w+ ){{0,2}}(?P<subject>{names})\b")


def _is_about(subject: str, finding: str) -> bool:
    named = _findings_named(subject, finding)
    return not named or concept(finding) in map(concept, named)


def _findings_named(subject: str, finding: str) -> set[str]:
    known = (*SPELLINGS, plain_name(finding))
    return {name for name in known if name in subject}
