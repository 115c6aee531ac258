"""Which stack hangs in which viewport, by a hanging protocol."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from viewer.domain.case import View
from viewer.domain.hanging import NEXT, PROJECTIONS, SERIES, TILE, Place, Protocol
from viewer.domain.hanging import Stage as PlannedStage
from viewer.domain.image_geometry import ImageGeometry
from viewer.ui.panels.read.hanging import Chosen, Hung, Stack

Rows = tuple[tuple[Hung | None, ...], ...]
_Study = Sequence[Stack]


@dataclass(frozen=True, slots=True)
class Stage:
    """What hangs at one stage, row by row; None is a viewport without an image."""

    words: str
    rows: Rows

    @property
    def stacks(self) -> list[Stack]:
        """The stacks that hang."""
        return [hung.stack for hung in chain(*self.rows) if hung]

    @property
    def shown(self) -> frozenset[tuple[str, int]]:
        """What hangs: the keys of the stacks, and the tiles."""
        hung = (hung for hung in chain(*self.rows) if hung)
        return frozenset((one.stack.key, one.tile) for one in hung)


def fitting(protocols: Iterable[Protocol], chosen: Chosen) -> list[Protocol]:
    """Return the protocols that fit what was chosen, in order of preference."""
    return [protocol for protocol in protocols if stages(protocol, chosen)]


def stages(protocol: Protocol, chosen: Chosen) -> tuple[Stage, ...]:
    """Return a protocol's stages, or none if it does not fit.

    A stage needs an image of the current study, and one that shows nothing new is left
    out. A protocol fits if the chosen stack hangs, and one of its stages compares
    something, or was made for one image.
    """
    if not (protocol.is_for(chosen.stack.modality) and _asks_for(protocol, chosen)):
        return ()
    chosen = _narrowed(chosen)
    priors = _comparable(protocol, chosen)
    hung, alone = list[Stage](), False
    for planned in protocol.stages:
        stage = _stage(planned, chosen, priors)
        current = any(stack in chosen.study for stack in stage.stacks)
        if current and not any(stage.shown <= known.shown for known in hung):
            hung.append(stage)
            alone = alone or len(planned.places) == 1
    compares = any(len(stage.stacks) > 1 for stage in hung)
    shown = any(chosen.stack in stage.stacks for stage in hung)
    return tuple(hung) if shown and (compares or alone) else ()


def stage_of(hung: Sequence[Stage], chosen: Chosen) -> int:
    """Return the number of the first stage that shows the chosen stack."""
    return next(n for n, stage in enumerate(hung) if chosen.stack in stage.stacks)


def _asks_for(protocol: Protocol, chosen: Chosen) -> bool:
    """Tell at once, however many siblings there are, whether the choice can hang."""
    places = (place for stage in protocol.stages for place in stage.places)
    shown = _projection(chosen.stack)
    return any(p.shown not in PROJECTIONS or p.shown == shown for p in places)


def _narrowed(chosen: Chosen) -> Chosen:
    """Return what was chosen with only those stacks that compare with it."""
    here = chosen.stack
    studies = (chosen.study, *chosen.priors)
    alike = [tuple(s for s in study if _same_kind(s, here)) for study in studies]
    return replace(chosen, siblings=alike[0], priors=tuple(alike[1:]))


def _comparable(protocol: Protocol, chosen: Chosen) -> list[_Study]:
    """Return the earlier studies with an image that the protocol asks priors for."""
    wanted = {place for stage in protocol.stages for place in stage.places}
    asked = [place for place in wanted if place.prior]
    return [
        study
        for study in chosen.priors
        if any(next(_matching(place, study, chosen), None) for place in asked)
    ]


def _stage(planned: PlannedStage, chosen: Chosen, priors: list[_Study]) -> Stage:
    taken: list[Hung] = []
    rows = []
    for row in planned.rows:
        hung = []
        for place in row:
            one = _hung(place, chosen, priors, taken)
            hung.append(one)
            taken.extend([one] if one else [])
        rows.append(hung)
    if not any(place.prior for place in planned.places):
        rows = [[one and replace(one, role="") for one in row] for row in rows]
    return Stage(planned.words, _without_gaps(rows))


def _hung(
    place: Place, chosen: Chosen, priors: list[_Study], taken: Sequence[Hung]
) -> Hung | None:
    if place.shown == TILE:
        tile = Hung(chosen.stack, len(taken))
        return tile if len(taken) < len(chosen.stack.images) else None
    if place.prior > len(priors):
        return None
    study = priors[place.prior - 1] if place.prior else chosen.study
    hung = {one.stack.key for one in taken}
    free = (s for s in _matching(place, study, chosen) if s.key not in hung)
    role = f"Prior {place.prior}" if place.prior > 1 else "Prior"
    role = role if place.prior else "Current"
    return next((Hung(stack, role=role) for stack in free), None)


def _matching(place: Place, study: _Study, chosen: Chosen) -> Iterator[Stack]:
    """Yield the stacks of a study that a viewport may show, the best first."""
    here = chosen.stack
    if place.shown in PROJECTIONS:
        found = [s for s in study if _projection(s) == place.shown]
        found = [s for s in found if place.side in {"", _side(s)}]
        yield from sorted(found, key=lambda s: s.key != here.key)
    elif place.shown == SERIES and not place.prior:
        yield here
    elif place.shown == SERIES:
        yield from sorted(study, key=lambda s: (s.name != here.name, _turn(s, here)))
    elif place.shown == NEXT:
        at = study.index(here) if here in study else -1
        yield from (*study[at + 1 :], *study[: at + 1])


def _same_kind(stack: Stack, other: Stack) -> bool:
    """Tell whether both are of one kind of modality, and of the same region."""
    regions = {s.images[0].body_part for s in (stack, other)} - {""}
    return _kind(stack) == _kind(other) and len(regions) < 2


def _kind(stack: Stack) -> str:
    """Return the modality; the names of a radiograph's are one."""
    radiograph = stack.modality in {"CR", "DX", "DR", "RG"}
    return "DX" if radiograph else stack.modality


def _projection(stack: Stack) -> str:
    """Return the projection that the header names, or that its directions tell."""
    image = stack.images[0]
    if stack.modality == "MG":
        return image.view_position.upper()
    if image.view is not View.UNKNOWN:
        return image.view.value
    return _by_directions(image.geometry) if stack.modality else ""


def _by_directions(geometry: ImageGeometry) -> str:
    """Return the projection of a radiograph by Patient Orientation, "" if unknown."""
    first = {letters[:1] for letters in geometry.letters}
    if first in ({"L", "F"}, {"R", "F"}):
        return View.FRONTAL.value
    return View.LATERAL.value if first in ({"A", "F"}, {"P", "F"}) else ""


def _side(stack: Stack) -> str:
    return stack.images[0].geometry.laterality.strip().upper()


def _turn(stack: Stack, other: Stack) -> bool:
    """Tell whether the slices of two stacks are differently oriented."""
    return stack.images[0].geometry.letters != other.images[0].geometry.letters


def _without_gaps(rows: Sequence[Sequence[Hung | None]]) -> Rows:
    """Return the rows without rows and columns in which nothing hangs."""
    kept = [row for row in rows if any(row)]
    columns = [n for n, _ in enumerate(rows[0]) if any(row[n] for row in kept)]
    return tuple(tuple(row[n] for n in columns) for row in kept)
