"""Locations between tags and special tokens, one finder for each model family.

The tags are those of `conventions`. Where the format allows it, finders also parse what
remains when a server strips special tokens from the text.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from viewer.domain.places import Flag
from viewer.models.coordinates.json_places import JsonRules, find_in_json
from viewer.models.coordinates.marks import Found, Kind, Mark

KOSMOS_SIDE = 32
SEG_CODES = 16
SEG_CODEBOOK = 128
MAIRA_BINS = 100
_MOST_WRITTEN = 80

_N = r"\s*([-+]?\d+(?:\.\d+)?)\s*"
_QWEN_REF = (
    r"(?:<\|object_ref_start\|>(?P<ref>[^<]*)<\|object_ref_end\|>\s*"
    r"|<ref>(?P<tag>[^<]*)</ref>\s*)?"
)
_QWEN_TAGGED = re.compile(
    _QWEN_REF + r"(?:<\|(?:box|point|quad)_start\|>|<box>)(?P<inside>[^<]*)"
    r"(?P<end><\|(?:box|point|quad)_end\|>|</box>)?"
)
_QWEN_PAIR = re.compile(rf"\({_N},{_N}\)")
_QWEN_RUN = re.compile(
    _QWEN_REF + rf"(?P<inside>\({_N},{_N}\)(?:\s*,\s*\({_N},{_N}\))*)"
)
_QWEN_OPEN = re.compile(
    r"\([-+\d\s.]*(?:,[-+\d\s.]*)?\Z|\(\s*\d+\s*,\s*\d+\s*\)\s*,\s*\Z"
)
_AROUND_PAIR = " \t\r\n.`"

_LOC4 = re.compile(
    r"(<loc[^<>]{0,12}>(?:[ \t]*<loc[^<>]{0,12}>)*)((?:\s*<seg[^<>]{0,8}>)*)([^<;\n]*)"
)
_LOC = re.compile(r"<loc(\d{1,5})>")
_SEG = re.compile(r"<seg(\d{1,4})>")
_TAG_OPEN = re.compile(r"<[a-z/|_\d]{0,40}\Z")

_POINT_TAG = re.compile(
    r"<points?\b(?P<attributes>[^<>]*)>(?:(?P<text>[^<]*)</points?>)?"
)
_ATTRIBUTE = re.compile(
    r"""\b([xy])(\d{0,4})\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))"""
)
_PERCENT = re.compile(r"[-+]?\d+(?:\.\d*)?%?")
_ALT = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_POINT_OPEN = re.compile(r"<(?:p(?:o(?:i(?:nt?)?)?)?)?\Z|<points?\b[^<>]*\Z")

_FLORENCE_PIECE = r"<(?:loc_[^<>]{1,12}|sep|poly|/poly)>"
_FLORENCE_RUN = re.compile(rf"{_FLORENCE_PIECE}(?:\s*{_FLORENCE_PIECE})*")
_FLORENCE_LOC = re.compile(r"<loc_(\d{1,5})>")
_FLORENCE_BAD = re.compile(r"<loc_(?!\d{1,5}>)[^<>]*>")
_FLORENCE_OPEN = re.compile(
    r"<(?:l(?:o(?:c(?:_\d*)?)?)?|/?p(?:o(?:ly?)?)?|/|s(?:ep?)?)?\Z"
)
_FLORENCE_STRIP = re.compile(r"</?(?:od|ground|obj|box|bbox|cap|ncap|dcap|region_cap)>")

_KOSMOS = re.compile(
    r"(?:<phrase>(?P<phrase>[^<]*)</phrase>\s*)?"
    r"<object>(?P<pairs>(?:(?!</?object>).)*)(?P<end></object>)?",
    re.DOTALL,
)
_KOSMOS_PATCH = re.compile(r"<patch_index_(\d{1,5})>")
_KOSMOS_SPLIT = re.compile(r"</?delimiter_of_multi_objects/?>")

_DET = re.compile(
    r"(?:<\|ref\|>(?P<label>[^<]*)<\|/ref\|>\s*)?<\|det\|>(?P<boxes>[^<]*)<\|/det\|>"
)
_LAST_REF = re.compile(r"<\|?ref\|?>([^<]*)<\|?/ref\|?>\s*\Z")
_BOX = re.compile(r"(?:<ref>(?P<label>[^<]*)</ref>\s*)?<box>(?P<boxes>[^<]*)</box>")

_MAIRA_OBJECT = re.compile(r"<obj>(.*?)(?:</obj>|(?=<obj>)|\Z)", re.DOTALL)
_MAIRA_BOX = re.compile(r"<box>((?:(?!</?box>).)*)</box>", re.DOTALL)
_MAIRA_LOOSE = re.compile(r"<x\d{1,5}>")
_MAIRA_NONE = re.compile(r",\s*None\s*\)")
_MAIRA_NUMBERS = re.compile(
    r"\s*<x(\d{1,5})>\s*<y(\d{1,5})>\s*<x(\d{1,5})>\s*<y(\d{1,5})>\s*"
)


def find_qwen2_vl(text: str) -> Found:
    """Parse ``<|box_start|>(x1,y1),(x2,y2)<|box_end|>``, with or without its tokens."""
    tagged = list(_QWEN_TAGGED.finditer(text))
    found = _qwen_tagged(tagged, len(text)) if tagged else _qwen_bare(text)
    cut = _TAG_OPEN.search(text) or (not tagged and _QWEN_OPEN.search(text))
    return replace(found, complete=found.complete and not cut)


def _qwen_tagged(tagged: list[re.Match[str]], length: int) -> Found:
    """Parse text between tokens; a reference labels every location up to the next."""
    marks, malformed, label, empty, complete = [], [], "", False, True
    for match in tagged:
        inside = match["inside"].strip()
        reference = match["tag"] if match["ref"] is None else match["ref"]
        label = label if reference is None else reference.strip()
        mark = _qwen_mark(inside, label, match[0].strip())
        cut = match["end"] is None and match.end() == length
        if mark is not None and not (cut and mark.kind is Kind.POINT):
            marks.append(mark)
        elif inside and not cut:
            malformed.append(match[0].strip())
        empty = empty or not (inside or cut)
        complete = complete and not cut
    return Found(tuple(marks), tuple(malformed), empty=empty, complete=complete)


def _qwen_bare(text: str) -> Found:
    """Parse pairs whose tokens a server stripped: two for a box, or a single point."""
    marks, malformed = [], []
    for match in _QWEN_RUN.finditer(text):
        written = match[0].strip()
        label = (match["ref"] or match["tag"] or "").strip()
        mark = _qwen_mark(match["inside"].strip(), label, written)
        if mark is None:
            malformed.append(written)
        elif mark.kind is Kind.BOX or written == text.strip(_AROUND_PAIR):
            marks.append(mark)
    return Found(tuple(marks), tuple(malformed))


def _qwen_mark(inside: str, label: str, written: str) -> Mark | None:
    """Return the location of one pair or two, None if anything else is there."""
    rest = _QWEN_PAIR.sub("", inside).replace(",", "").strip()
    values = tuple(float(n) for pair in _QWEN_PAIR.findall(inside) for n in pair)
    if rest or len(values) not in {2, 4}:
        return None
    return Mark(Kind.BOX if len(values) == 4 else Kind.POINT, values, label, written)


def find_paligemma(text: str) -> Found:
    """Parse ``<locY1><locX1><locY2><locX2> label`` with 16 ``<segNNN>`` or none."""
    marks, malformed, complete = [], [], not _TAG_OPEN.search(text)
    for match in _LOC4.finditer(text):
        numbers = [float(n) for n in _LOC.findall(match[1])]
        codes = tuple(int(n) for n in _SEG.findall(match[2]))
        tokens = match[1].count("<"), match[2].count("<")
        right = tokens == (len(numbers), len(codes))
        if right and len(numbers) == 4 and len(codes) in {0, SEG_CODES}:
            y0, x0, y1, x1 = numbers
            label, written = match[3].strip(), match[0].strip()
            box, flags = (x0, y0, x1, y1), _code_flags(codes)
            marks.append(Mark(Kind.BOX, box, label, written, None, codes, flags))
        elif right and _may_go_on(match, text, numbers, codes):
            complete = False
        else:
            malformed.append(match[0].strip())
    return Found(tuple(marks), tuple(malformed), complete=complete)


def _may_go_on(
    match: re.Match[str], text: str, numbers: list[float], codes: tuple[int, ...]
) -> bool:
    """Tell whether there are too few tokens because the text may be truncated."""
    rest = _TAG_OPEN.sub("", text[match.end() :])
    too_few = len(numbers) < 4 if not codes else len(codes) < SEG_CODES
    return too_few and not rest.strip() and not match[3].strip()


def _code_flags(codes: tuple[int, ...]) -> tuple[Flag, ...]:
    if not codes:
        return ()
    known = max(codes) < SEG_CODEBOOK
    return (Flag.MASK_NOT_DECODED if known else Flag.MASK_UNREADABLE,)


def find_molmo(text: str) -> Found:
    """Parse ``<point x= y=>`` and ``<points x1= y1= x2= y2=>``, in percent."""
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
    """Yield the point of each index that has an x or a y.

    None stands for an index whose other axis is missing, repeated or not a number.
    """
    axes: dict[str, dict[str, list[str]]] = {}
    for axis, index, *values in _ATTRIBUTE.findall(attributes):
        of_index = axes.setdefault(index, {"x": [], "y": []})
        of_index[axis].append("".join(values).strip())
    for pair in axes.values():
        numbers = [value for axis in "xy" for value in pair[axis]]
        once = all(len(pair[axis]) == 1 for axis in "xy")
        if once and all(_PERCENT.fullmatch(value) for value in numbers):
            x, y = (float(value.rstrip("%")) for value in numbers)
            yield x, y
        else:
            yield None


def find_florence2(text: str) -> Found:
    """Parse ``label<loc_x1><loc_y1><loc_x2><loc_y2>`` and outlines in ``<poly>``."""
    text = _FLORENCE_STRIP.sub("", text)
    marks: list[Mark] = []
    malformed: list[str] = []
    whole = _FLORENCE_OPEN.sub("", text)
    complete = whole == text
    label_start = 0
    for match in _FLORENCE_RUN.finditer(whole):
        label = whole[label_start : match.start()].rpartition(">")[2].strip()
        label_start = match.end()
        bad = _FLORENCE_BAD.search(match[0])
        found = [] if bad else list(_florence_marks(label, match[0]))
        malformed += [label + match[0]] if bad else []
        marks += [mark for mark in found if mark]
        if None in found and match.end() == len(whole):
            complete = False
        elif None in found:
            malformed.append(label + match[0])
    return Found(tuple(marks), tuple(malformed), complete=complete)


def _florence_marks(label: str, run: str) -> Iterator[Mark | None]:
    """Yield the locations of one run of location tokens, None for an invalid part.

    Groups of four are boxes, as transformers reads them; they are an outline only in
    ``<poly>`` or between ``<sep>``, or if the count is not a multiple of four.
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
    """Parse ``<phrase>…</phrase><object><patch_index_UL><patch_index_LR></object>``.

    The numbers returned are in patches: the centres of the corner patches, or their
    outer edges if both are in one row or one column (as in transformers).
    """
    marks: list[Mark] = []
    malformed: list[str] = []
    empty = False
    complete = not _TAG_OPEN.search(text)
    for match in _KOSMOS.finditer(text):
        label, inside = (match["phrase"] or "").strip(), match["pairs"]
        closed = match["end"] is not None
        empty, complete = empty or (closed and not inside.strip()), complete and closed
        for pair in _KOSMOS_SPLIT.split(inside) if inside.strip() else ():
            indices = [int(n) for n in _KOSMOS_PATCH.findall(pair)]
            if len(indices) == 2:
                marks.append(_patches(indices[0], indices[1], label, pair.strip()))
            elif closed:
                malformed.append(pair.strip())
    if "<object>" not in text and _KOSMOS_PATCH.search(text):
        malformed += [match[0] for match in _KOSMOS_PATCH.finditer(text)]
    return Found(tuple(marks), tuple(malformed), empty=empty, complete=complete)


def _patches(upper_left: int, lower_right: int, label: str, written: str) -> Mark:
    """Return the box between two corner patches, which are sorted first.

    In the wrong order the outer edges of patches in one row would be inner ones.
    """
    top, left = divmod(upper_left, KOSMOS_SIDE)
    bottom, right = divmod(lower_right, KOSMOS_SIDE)
    flags = (Flag.TRANSPOSED,) if left > right or top > bottom else ()
    (left, right), (top, bottom) = sorted((left, right)), sorted((top, bottom))
    near, far = (0.0, 1.0) if top == bottom or left == right else (0.5, 0.5)
    corners = (left + near, top + near, right + far, bottom + far)
    return Mark(Kind.BOX, corners, label, written, flags=flags)


def find_deepseek_vl2(text: str) -> Found:
    """Parse ``<|ref|>…<|/ref|><|det|>[[x1, y1, x2, y2]]<|/det|>``."""
    return _find_bracketed(text, _DET, "<|det|>", "<|/det|>")


def find_internvl(text: str) -> Found:
    """Parse ``<ref>…</ref><box>[[x1, y1, x2, y2]]</box>``."""
    return _find_bracketed(text, _BOX, "<box>", "</box>")


def _find_bracketed(
    text: str, pattern: re.Pattern[str], opening: str, closing: str
) -> Found:
    """Parse box lists between tags, or without tags if a server stripped them."""
    if opening not in text and closing not in text and "{" not in text:
        bare = _only_boxes(find_in_json(text, JsonRules()))
        return replace(bare, complete=bare.complete and not _TAG_OPEN.search(text))
    marks: list[Mark] = []
    malformed: list[str] = []
    empty = False
    for match in pattern.finditer(text):
        label, inside = (match["label"] or "").strip(), match["boxes"].strip()
        found = _only_boxes(find_in_json(inside, JsonRules()))
        nothing = inside in {"", "[]", "[[]]"}
        empty = empty or nothing
        marks += [replace(m, label=label or m.label, flags=()) for m in found.marks]
        if found.malformed or not (found.marks or nothing):
            malformed.append(match[0])
    last = text.rfind(opening)
    if last >= 0 and closing not in text[last:]:
        cut = _only_boxes(find_in_json(text[last + len(opening) :], JsonRules()))
        label = _LAST_REF.search(text[:last])
        named = (replace(m, label=label[1].strip() if label else "") for m in cut.marks)
        return Found((*marks, *named), tuple(malformed), complete=False)
    complete = not _TAG_OPEN.search(text)
    return Found(tuple(marks), tuple(malformed), empty=empty, complete=complete)


def _only_boxes(found: Found) -> Found:
    """Count pairs of numbers as malformed: these families write no points."""
    boxes = tuple(mark for mark in found.marks if mark.kind is Kind.BOX)
    points = (mark.written for mark in found.marks if mark.kind is not Kind.BOX)
    return replace(found, marks=boxes, malformed=(*found.malformed, *points))


def find_maira2(text: str) -> Found:
    """Parse ``<obj>phrase <box><x55><y45><x70><y56></box></obj>``.

    Phrases without any box are MAIRA-2's way of locating nothing. Without tags, lists
    of numbers from 0 to 1 are parsed as its processor returns them.
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
    if not (marks or malformed) and complete and _MAIRA_LOOSE.search(text):
        malformed.append(text[:_MOST_WRITTEN])
    empty = bool(phrases) and not marks and not malformed
    return Found(tuple(marks), tuple(malformed), empty=empty, complete=complete)


def _maira_processed(text: str) -> Found:
    """Parse boxes as fractions of the square; a fraction f lies at f · 100 − ½."""
    found = _only_boxes(find_in_json(text, JsonRules()))
    marks = tuple(
        replace(mark, values=tuple(v * MAIRA_BINS - 0.5 for v in mark.values))
        for mark in found.marks
    )
    nothing = not (marks or found.malformed) and _MAIRA_NONE.search(text)
    return replace(found, marks=marks, empty=found.empty or nothing is not None)
