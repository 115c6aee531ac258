"""Places between tags and special tokens, one finder for each family of models.

The tags are those of studies.md 3.6. Every finder is written so that special tokens
which a server strips from the text leave a readable rest where the format allows it.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from viewer.domain.places import Flag
from viewer.models.coordinates.json_places import JsonRules, find_in_json
from viewer.models.coordinates.marks import Found, Kind, Mark

KOSMOS_SIDE = 32
SEG_CODES = 16
MAIRA_BINS = 100

_N = r"\s*([-+]?\d+(?:\.\d+)?)\s*"
_QWEN_PLACE = re.compile(
    rf"(?:<\|object_ref_start\|>(?P<ref>[^<]*)<\|object_ref_end\|>\s*"
    rf"|<ref>(?P<tag>[^<]*)</ref>\s*)?"
    rf"(?:<\|(?:box|point)_start\|>|<box>)?\s*"
    rf"\({_N},{_N}\)(?:\s*,\s*\({_N},{_N}\))?"
)
_QWEN_EMPTY = re.compile(r"<\|box_start\|>\s*<\|box_end\|>|<box>\s*</box>")
_QWEN_OPEN = re.compile(
    r"<\|(?:box|point)_start\|>(?:(?!<\|(?:box|point)_end\|>)[^<])*\Z"
    r"|\([\d\s.]*(?:,[\d\s.]*)?\Z|\(\s*\d+\s*,\s*\d+\s*\)\s*,\s*\Z"
)

_LOC4 = re.compile(r"((?:[ \t]*<loc\d{1,5}>)+)((?:\s*<seg\d{1,4}>)*)([^<;\n]*)")
_LOC = re.compile(r"<loc(\d{1,5})>")
_SEG = re.compile(r"<seg(\d{1,4})>")
_TAG_OPEN = re.compile(r"<[a-z/|_\d]{0,40}\Z")

_POINT_TAG = re.compile(
    r"<points?\b(?P<attributes>[^<>]*)>(?:(?P<text>[^<]*)</points?>)?"
)
_ATTRIBUTE = re.compile(
    r"""\b([xy])(\d*)\s*=\s*["']?\s*([-+]?\d+(?:\.\d+)?)\s*%?\s*["']?"""
)
_ALT = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_POINT_OPEN = re.compile(r"<(?:p(?:o(?:i(?:nt?)?)?)?)?\Z|<points?\b[^<>]*\Z")

_FLORENCE_PIECE = r"<(?:loc_\d{1,5}|sep|poly|/poly)>"
_FLORENCE_RUN = re.compile(rf"{_FLORENCE_PIECE}(?:\s*{_FLORENCE_PIECE})*")
_FLORENCE_LOC = re.compile(r"<loc_(\d{1,5})>")
_FLORENCE_OPEN = re.compile(
    r"<(?:l(?:o(?:c(?:_\d*)?)?)?|/?p(?:o(?:ly?)?)?|/|s(?:ep?)?)?\Z"
)
_FLORENCE_STRIP = re.compile(r"</?(?:od|ground|obj|box|bbox|cap|ncap|dcap|region_cap)>")

_KOSMOS = re.compile(
    r"(?:<phrase>(?P<phrase>[^<]*)</phrase>\s*)?<object>(?P<pairs>.*?)</object>",
    re.DOTALL,
)
_KOSMOS_PATCH = re.compile(r"<patch_index_(\d{1,5})>")
_KOSMOS_SPLIT = re.compile(r"</?delimiter_of_multi_objects/?>")

_DET = re.compile(
    r"(?:<\|ref\|>(?P<label>[^<]*)<\|/ref\|>\s*)?<\|det\|>(?P<boxes>[^<]*)<\|/det\|>"
)
_BOX = re.compile(r"(?:<ref>(?P<label>[^<]*)</ref>\s*)?<box>(?P<boxes>[^<]*)</box>")

_MAIRA_OBJECT = re.compile(r"<obj>(.*?)(?:</obj>|(?=<obj>)|\Z)", re.DOTALL)
_MAIRA_BOX = re.compile(r"<box>(.*?)</box>", re.DOTALL)
_MAIRA_NUMBERS = re.compile(
    r"\s*<x(\d{1,5})>\s*<y(\d{1,5})>\s*<x(\d{1,5})>\s*<y(\d{1,5})>\s*"
)


def find_qwen2_vl(text: str) -> Found:
    """Read ``<|box_start|>(x1,y1),(x2,y2)<|box_end|>``, with or without its tokens."""
    marks = []
    for match in _QWEN_PLACE.finditer(text):
        values = tuple(float(v) for v in match.groups()[2:] if v is not None)
        label = (match["ref"] or match["tag"] or "").strip()
        kind = Kind.BOX if len(values) == 4 else Kind.POINT
        marks.append(Mark(kind, values, label, match[0].strip()))
    return Found(
        tuple(marks),
        empty=_QWEN_EMPTY.search(text) is not None,
        complete=_QWEN_OPEN.search(text) is None,
    )


def find_paligemma(text: str) -> Found:
    """Read ``<locY1><locX1><locY2><locX2> label`` with 16 ``<segNNN>`` or none."""
    marks, malformed, complete = [], [], not _TAG_OPEN.search(text)
    for match in _LOC4.finditer(text):
        numbers = [float(n) for n in _LOC.findall(match[1])]
        codes = tuple(int(n) for n in _SEG.findall(match[2]))
        at_end = match.end() == len(text) and not match[3].strip()
        whole = len(numbers) == 4 and len(codes) in {0, SEG_CODES}
        if whole:
            y0, x0, y1, x1 = numbers
            flags = (Flag.MASK_NOT_DECODED,) if codes else ()
            label, written = match[3].strip(), match[0].strip()
            box = (x0, y0, x1, y1)
            marks.append(Mark(Kind.BOX, box, label, written, None, codes, flags))
        elif at_end:
            complete = False
        else:
            malformed.append(match[0].strip())
    return Found(tuple(marks), tuple(malformed), complete=complete)


def find_molmo(text: str) -> Found:
    """Read ``<point x= y=>`` and ``<points x1= y1= x2= y2=>``, in percent."""
    marks, malformed = [], []
    for match in _POINT_TAG.finditer(text):
        alt = _ALT.search(match["attributes"])
        label = (alt[1] or alt[2] or "") if alt else (match["text"] or "")
        points = list(_paired(_ALT.sub("", match["attributes"])))
        if not points or None in points:
            malformed.append(match[0].strip())
        marks += [
            Mark(Kind.POINT, point, label.strip(), match[0])
            for point in points
            if point
        ]
    return Found(
        tuple(marks), tuple(malformed), complete=_POINT_OPEN.search(text) is None
    )


def _paired(attributes: str) -> Iterator[tuple[float, float] | None]:
    """Yield the point of each index that has an x or a y; None where one is missing."""
    axes: dict[str, dict[str, float]] = {}
    for axis, index, value in _ATTRIBUTE.findall(attributes):
        axes.setdefault(index, {})[axis] = float(value)
    for pair in axes.values():
        yield (pair["x"], pair["y"]) if len(pair) == 2 else None


def find_florence2(text: str) -> Found:
    """Read ``label<loc_x1><loc_y1><loc_x2><loc_y2>`` and outlines in ``<poly>``."""
    text = _FLORENCE_STRIP.sub("", text)
    marks: list[Mark] = []
    malformed: list[str] = []
    whole = _FLORENCE_OPEN.sub("", text)
    complete = whole == text
    label_start = 0
    for match in _FLORENCE_RUN.finditer(whole):
        label = whole[label_start : match.start()].rpartition(">")[2].strip()
        label_start = match.end()
        found = list(_florence_marks(label, match[0]))
        marks += [mark for mark in found if mark]
        if None in found and match.end() == len(whole):
            complete = False
        elif None in found:
            malformed.append(label + match[0])
    return Found(tuple(marks), tuple(malformed), complete=complete)


def _florence_marks(label: str, run: str) -> Iterator[Mark | None]:
    """Yield the places of one run of location tokens, None for a part that is none.

    Groups of four are boxes, as transformers reads them; only in ``<poly>`` or between
    ``<sep>``, or where the count is no multiple of four, are they an outline.
    """
    if "poly>" in run or "<sep>" in run:
        yield from (
            _outline(label, part)
            for part in re.split(r"<[a-z/]+>", run)
            if part.strip()
        )
        return
    numbers = tuple(float(n) for n in _FLORENCE_LOC.findall(run))
    if len(numbers) % 4:
        yield _outline(label, run)
        return
    flags = (Flag.MAY_BE_POLYGON,) if len(numbers) > 4 else ()
    for i in range(0, len(numbers), 4):
        written = "".join(f"<loc_{n:g}>" for n in numbers[i : i + 4])
        yield Mark(Kind.BOX, numbers[i : i + 4], label, written, flags=flags)


def _outline(label: str, part: str) -> Mark | None:
    numbers = tuple(float(n) for n in _FLORENCE_LOC.findall(part))
    if len(numbers) < 6 or len(numbers) % 2:
        return None
    return Mark(Kind.POLYGON, numbers, label, part.strip())


def find_kosmos2(text: str) -> Found:
    """Read ``<phrase>…</phrase><object><patch_index_UL><patch_index_LR></object>``.

    The numbers returned count patches: the middle of the corner patches, or their
    outer edges where both lie in one row or one column (transformers does the same).
    """
    marks: list[Mark] = []
    malformed: list[str] = []
    empty = False
    for match in _KOSMOS.finditer(text):
        label, inside = (match["phrase"] or "").strip(), match["pairs"]
        empty = empty or not inside.strip()
        for pair in _KOSMOS_SPLIT.split(inside) if inside.strip() else ():
            indices = [int(n) for n in _KOSMOS_PATCH.findall(pair)]
            if len(indices) == 2:
                marks.append(Mark(Kind.BOX, _patches(*indices), label, pair.strip()))
            else:
                malformed.append(pair.strip())
    rest = text[text.rfind("<object>") :] if "<object>" in text else ""
    complete = "</object>" in (rest or "</object>") and not _TAG_OPEN.search(text)
    return Found(tuple(marks), tuple(malformed), empty=empty, complete=complete)


def _patches(upper_left: int, lower_right: int) -> tuple[float, float, float, float]:
    top, left = divmod(upper_left, KOSMOS_SIDE)
    bottom, right = divmod(lower_right, KOSMOS_SIDE)
    if top == bottom or left == right:
        return left, top, right + 1, bottom + 1
    return left + 0.5, top + 0.5, right + 0.5, bottom + 0.5


def find_deepseek_vl2(text: str) -> Found:
    """Read ``<|ref|>…<|/ref|><|det|>[[x1, y1, x2, y2]]<|/det|>``."""
    return _find_bracketed(text, _DET, "<|det|>", "<|/det|>")


def find_internvl(text: str) -> Found:
    """Read ``<ref>…</ref><box>[[x1, y1, x2, y2]]</box>``."""
    return _find_bracketed(text, _BOX, "<box>", "</box>")


def _find_bracketed(
    text: str, pattern: re.Pattern[str], opening: str, closing: str
) -> Found:
    """Read lists of boxes between tags, or bare where a server stripped the tags."""
    if opening not in text and closing not in text and "{" not in text:
        bare = find_in_json(text, JsonRules())
        return replace(bare, complete=bare.complete and not _TAG_OPEN.search(text))
    marks: list[Mark] = []
    malformed: list[str] = []
    empty = False
    for match in pattern.finditer(text):
        label, inside = (match["label"] or "").strip(), match["boxes"].strip()
        found = find_in_json(inside, JsonRules())
        nothing = inside in {"", "[]", "[[]]"}
        empty = empty or nothing
        marks += [replace(m, label=label or m.label, flags=()) for m in found.marks]
        if found.malformed or not (found.marks or nothing):
            malformed.append(match[0])
    last = text.rfind(opening)
    if last >= 0 and closing not in text[last:]:
        cut = find_in_json(text[last + len(opening) :], JsonRules())
        return Found((*marks, *cut.marks), tuple(malformed), complete=False)
    complete = not _TAG_OPEN.search(text)
    return Found(tuple(marks), tuple(malformed), empty=empty, complete=complete)


def find_maira2(text: str) -> Found:
    """Read ``<obj>phrase <box><x55><y45><x70><y56></box></obj>``.

    A text of phrases without any box is MAIRA-2's way of placing nothing. Without
    tags, lists of numbers from 0 to 1 are read as its processor returns them.
    """
    if "<" not in text:
        return _maira_processed(text)
    marks: list[Mark] = []
    malformed: list[str] = []
    phrases = _MAIRA_OBJECT.findall(text)
    for phrase in phrases or [text]:
        label = phrase.split("<box>")[0].strip()
        for inside in _MAIRA_BOX.findall(phrase):
            numbers = _MAIRA_NUMBERS.fullmatch(inside)
            if numbers:
                values = tuple(float(n) for n in numbers.groups())
                marks.append(Mark(Kind.BOX, values, label, inside.strip()))
            else:
                malformed.append(inside.strip())
    complete = all(
        text.count(f"<{tag}>") == text.count(f"</{tag}>") for tag in ("obj", "box")
    ) and not _TAG_OPEN.search(text)
    empty = bool(phrases) and not marks and not malformed
    return Found(tuple(marks), tuple(malformed), empty=empty, complete=complete)


def _maira_processed(text: str) -> Found:
    """Read boxes as fractions of the square; a fraction f lies at f · 100 − ½."""
    found = find_in_json(text, JsonRules())
    marks = tuple(
        replace(mark, values=tuple(v * MAIRA_BINS - 0.5 for v in mark.values))
        for mark in found.marks
    )
    return replace(found, marks=marks)
