"""Locations in JSON: boxes and points under their keys, or bare lists of numbers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from viewer.domain.places import Flag
from viewer.models.coordinates.json_numbers import (
    box_in_words,
    four_in,
    is_half_a_box,
    keyed_numbers,
    named_corners,
    numbers_of,
    opposite_corners,
    plain_key,
)
from viewer.models.coordinates.lenient_json import Document, Pairs, documents
from viewer.models.coordinates.marks import Found, Kind, Mark

X_FIRST_KEYS = frozenset({"bbox2d", "bboxes2d", "point2d", "points2d"})
Y_FIRST_KEYS = frozenset({"box2d", "boxes2d"})
_BOX_KEYS = frozenset(
    {
        *("bbox", "bboxes", "box", "boxes", "boundingbox", "boundingboxes", "xyxy"),
        *("rect", "rectangle", "bbox2d", "bboxes2d", "box2d", "boxes2d"),
    }
)
_EITHER_KEYS = frozenset({"coordinates", "coords", "region", "location", "position"})
_POINT_KEYS = frozenset(
    {"point2d", "points2d", "point", "points", "center", "centre", "click"}
)
_LABEL_KEYS = (
    *("label", "labels", "name", "class", "category", "finding", "phrase", "text"),
    *("description", "caption", "object", "title"),
)
_CONTAINER_KEYS = frozenset(
    {
        *("findings", "detections", "objects", "results", "annotations", "items"),
        *("predictions", "abnormalities", "regions", "answer", "output", "data"),
    }
)
_MOST_AROUND = 200
"""Fences and blanks around a document are shorter than this."""
_MEASURE_KEYS = frozenset(
    {
        *("confidence", "confidences", "score", "scores", "probability"),
        *("probabilities", "size", "imagesize", "imageshape", "shape"),
        *("resolution", "dimensions", "imagedimensions", "image", "crop"),
    }
)
"""Keys whose numbers say how sure or how large something is, and not where."""
_NOTHING = frozenset({"", "none", "null", "nothing", "na", "notvisible", "notpresent"})
_KEYED = re.compile(r"\b(?:bbox|box|point)(?:_2d)?[\"']?\s*:\s*[\[({][^\n]{0,80}")


@dataclass(frozen=True, slots=True)
class JsonRules:
    """Which axis comes first, and which keys belong to another convention."""

    y_first: bool = False
    with_masks: bool = False

    @property
    def foreign(self) -> frozenset[str]:
        """Keys that belong to the other order of axes."""
        return X_FIRST_KEYS if self.y_first else Y_FIRST_KEYS


def find_in_json(text: str, rules: JsonRules) -> Found:
    """Return the locations in every list and object of a text."""
    walk, complete, blocks = _Walk(rules), True, 0
    for document in documents(text):
        before = len(walk.marks)
        walk.document(document, text)
        # Only the last document can be cut off: its reader went to the end of the text.
        complete = document.complete
        blocks += len(walk.marks) > before
    if complete and walk.found_nothing:
        walk.without_brackets(text)
    return Found(
        tuple(_once(walk.marks) if blocks > 1 else walk.marks),
        tuple(walk.malformed),
        tuple(walk.foreign),
        walk.empty,
        complete,
    )


def _once(marks: Sequence[Mark]) -> list[Mark]:
    """Return the locations of several documents without duplicates, flagged if any.

    A reply that names a box in a sentence and again in JSON means one box; a parser
    cannot decide between two different ones.
    """
    distinct: dict[tuple[float, ...], Mark] = {}
    for mark in marks:
        known = distinct.get(mark.values)
        distinct[mark.values] = mark if known is None or not known.label else known
    flags = (Flag.SEVERAL_BLOCKS,) if len(distinct) > 1 else ()
    return [replace(mark, flags=(*mark.flags, *flags)) for mark in distinct.values()]


@dataclass
class _Walk:
    """Collects the locations in documents."""

    rules: JsonRules
    marks: list[Mark] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    empty: bool = False

    @property
    def found_nothing(self) -> bool:
        """Whether no document mentioned a location."""
        return not (self.marks or self.malformed or self.foreign or self.empty)

    def without_brackets(self, text: str) -> None:
        """Collect the one box that a text describes in words; see `box_in_words`."""
        if numbers := four_in(text):
            self._add(Kind.BOX, numbers, "")
        elif named := box_in_words(text):
            self._add(Kind.BOX, named, "", named=True)
        elif keyed := _KEYED.search(text):
            self.malformed.append(keyed[0][:80])

    def document(self, document: Document, text: str) -> None:
        """Collect from a document; bare pairs count only if they are the whole text."""
        alone = _is_alone(document, text)
        if document.value in ([], Pairs(())):
            self.empty = self.empty or (document.complete and alone)
        elif isinstance(document.value, Pairs):
            self._object(document.value, "")
        else:
            self._bare(document.value, alone=alone)

    def _bare(self, members: list[object], label: str = "", *, alone: bool) -> None:
        numbers = numbers_of(members)
        if numbers is None and _mixes_levels(members):
            self.malformed.append(_written(members))
        elif numbers is None:
            named = len(members) == 2 and isinstance(members[0], str)
            label = str(members[0]).strip() if named else label
            for member in members:
                self._nested(member, label, alone=alone)
        elif len(numbers) == 4:
            self._add(Kind.BOX, numbers, label)
        elif alone and len(numbers) == 2:
            self._add(Kind.POINT, numbers, label)
        elif alone:
            self.malformed.append(_written(members))

    def _nested(self, value: object, label: str, *, alone: bool = False) -> None:
        if isinstance(value, Pairs):
            self._object(value, label)
        elif isinstance(value, list):
            self._bare(value, label, alone=alone)

    def _object(self, value: Pairs, label: str) -> None:
        label = _label(value) or label
        if named := named_corners(value):
            self._add(
                Kind.BOX if len(named) == 4 else Kind.POINT, named, label, named=True
            )
        elif corners := opposite_corners(value):
            by_axis = any(isinstance(member, Pairs) for _, member in value.pairs)
            self._add(Kind.BOX, corners, label, named=by_axis)
        elif is_half_a_box(value) and not _keys_of_places(value):
            self.malformed.append(_written_object(value))
        else:
            self._members(value, label)

    def _members(self, value: Pairs, label: str) -> None:
        """Collect from every member; a repeated location key means several."""
        before, mask = (
            len(self.marks),
            _mask(value) if self.rules.with_masks else None,
        )
        keyed = _keys_of_places(value)
        for key, member in value.pairs:
            plain = plain_key(key)
            if plain in self.rules.foreign:
                self.foreign.append(key)
            elif counts := _counts(plain):
                self._keyed(member, counts, label, mask)
            elif plain not in {*_LABEL_KEYS, *_MEASURE_KEYS}:
                name = "" if plain in _CONTAINER_KEYS else key
                self._member(member, _label(value) or name, numbers_count=not keyed)
        if len(set(keyed)) < len(keyed):
            self.marks[before:] = _once(self.marks[before:])

    def _member(self, value: object, label: str, *, numbers_count: bool) -> None:
        """Collect from a member without a known key, which may be the label.

        Beside a location key, numbers under other keys are not locations.
        """
        numbers = numbers_of(value) if isinstance(value, list) else None
        if numbers is not None and len(numbers) == 4 and numbers_count:
            self._add(Kind.BOX, numbers, label)
        elif isinstance(value, list) and not value:
            self.empty = True
        elif numbers is None:
            self._each(value, label)

    def _each(self, value: object, label: str) -> None:
        for member in value if isinstance(value, list) else [value]:
            numbers = numbers_of(member) if isinstance(member, list) else None
            if numbers is not None and len(numbers) == 4:
                self._add(Kind.BOX, numbers, label)
            else:
                self._nested(member, label if isinstance(member, Pairs) else "")

    def _keyed(
        self, value: object, counts: frozenset[int], label: str, mask: str | None
    ) -> None:
        """Collect from a location key with two or four numbers."""
        if value is None or _says_nothing(value):
            self.empty = True
            return
        numbers = keyed_numbers(value, corners=4 in counts)
        if numbers is not None and len(numbers) in counts:
            kind = Kind.BOX if len(numbers) == 4 else Kind.POINT
            self._add(kind, numbers, label, mask)
        elif isinstance(value, Pairs):
            self._object(value, label)
        elif isinstance(value, list) and _nests_only(value):
            for member in value:
                self._keyed(member, counts, label, mask)
        else:
            self.malformed.append(_written(value))

    def _add(
        self,
        kind: Kind,
        numbers: Sequence[float],
        label: str,
        mask: str | None = None,
        *,
        named: bool = False,
    ) -> None:
        values = tuple(numbers)
        # Numbers under keys such as "x0" say themselves which axis they are on.
        if self.rules.y_first and not named:
            values = tuple(
                v
                for y, x in zip(values[::2], values[1::2], strict=True)
                for v in (x, y)
            )
        self.marks.append(Mark(kind, values, label, _written(list(numbers)), mask))


def _counts(key: str) -> frozenset[int]:
    """Return how many numbers a location may have under a key; none for other keys."""
    if key in _BOX_KEYS:
        return frozenset({4})
    if key in _POINT_KEYS:
        return frozenset({2})
    return frozenset({2, 4}) if key in _EITHER_KEYS else frozenset()


def _keys_of_places(value: Pairs) -> list[str]:
    plain = (plain_key(key) for key, _ in value.pairs)
    return [key for key in plain if _counts(key)]


def _is_alone(document: Document, text: str) -> bool:
    """Tell whether a document is surrounded only by code fences and blanks."""
    if len(text) - (document.end - document.start) > _MOST_AROUND:
        return False
    around = text[: document.start] + text[document.end :]
    return not re.sub(r"```(?:json|python)?|[\s.`]", "", around)


def _nests_only(members: list[object]) -> bool:
    """Tell whether a list contains only lists or objects, and no numbers."""
    nests = any(isinstance(member, list | Pairs) for member in members)
    return nests and not _mixes_levels(members)


def _mixes_levels(members: list[object]) -> bool:
    """Tell whether a number is beside a list or object: a malformed location."""
    nests = any(isinstance(member, list | Pairs) for member in members)
    return nests and any(isinstance(member, float) for member in members)


def _label(value: Pairs) -> str:
    members = {plain_key(key): member for key, member in value.pairs}
    found = (_label_text(members[key]) for key in _LABEL_KEYS if key in members)
    return next((text for text in found if text), "")


def _label_text(value: object) -> str:
    """Return a label's text, also from a list of labels or a nested label."""
    if isinstance(value, list):
        return "; ".join(text for text in map(_label_text, value) if text)
    if isinstance(value, Pairs):
        texts = (_label_text(member) for _, member in value.pairs)
        return next((text for text in texts if text), "")
    return value.strip() if isinstance(value, str) else ""


def _mask(value: Pairs) -> str | None:
    masks = [
        v for key, v in value.pairs if plain_key(key) in {"mask", "segmentationmask"}
    ]
    return masks[0] if masks and isinstance(masks[0], str) else None


def _says_nothing(value: object) -> bool:
    if isinstance(value, list):
        return all(member is None for member in value)
    return isinstance(value, str) and plain_key(value) in _NOTHING


def _written_object(value: Pairs) -> str:
    members = (f"{key}: {_written(member)}" for key, member in value.pairs[:8])
    return "{" + ", ".join(members) + "}"


def _written(value: object) -> str:
    """Return a value as short text, to list it as rejected."""
    if isinstance(value, list):
        return "[" + ", ".join(_written(member) for member in value[:16]) + "]"
    if isinstance(value, float):
        return f"{value:g}"
    return "{…}" if isinstance(value, Pairs) else str(value)[:80]
