"""Hanging protocols: what hangs where, for whatever a patient's studies have."""

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from viewer.domain.case import ImageHeader, ImageRef, View
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import SizePx
from viewer.domain.hanging import read_stage
from viewer.domain.image_geometry import ImageGeometry
from viewer.services.viewing.hanging_protocols import (
    FILE,
    default_protocols,
    own_protocols,
    read_protocols,
)
from viewer.ui.panels.read.hanging import Chosen, Stack
from viewer.ui.panels.read.protocols import fitting, stage_of, stages

PROTOCOLS = default_protocols()
Names = list[list[str | None]]


def _stack(
    name: str,
    view: View = View.UNKNOWN,
    *,
    modality: str = "DX",
    position: str = "",
    side: str = "",
    letters: tuple[str, ...] = (),
    body_part: str = "CHEST",
    count: int = 1,
) -> Stack:
    geometry = ImageGeometry(SizePx(4, 6), patient_orientation=letters, laterality=side)
    images = tuple(
        ImageHeader(
            ImageRef(Path(name), n), geometry, count, modality, view,
            "p", "s", name, body_part, position,
        )
        for n in range(count)
    )  # fmt: skip
    return Stack(name, modality, images, name)


def _hung(chosen: Chosen, protocol: str = "") -> list[Names]:
    """Return the names that hang at each stage, by the protocol that fits best."""
    fit = fitting(PROTOCOLS, chosen)
    used = next(p for p in fit if protocol in {"", p.name})
    return [
        [[one.stack.name if one else None for one in row] for row in stage.rows]
        for stage in stages(used, chosen)
    ]


def _expected(
    current: Sequence[Stack], prior: Sequence[Stack], chosen: Stack
) -> list[Names]:
    """Return what V.3 hangs, worked out case by case from what each study has."""
    views: dict[tuple[str, View], str] = {}
    for when, study in (("now", current), ("then", prior)):
        for stack in study:
            views.setdefault((when, stack.view), stack.name)
    now = {v: views.get(("now", v)) for v in (View.FRONTAL, View.LATERAL)}
    then = {v: views.get(("then", v)) for v in (View.FRONTAL, View.LATERAL)}
    if chosen.view is View.UNKNOWN:
        return [[[chosen.name]]]
    if any(now[v] and then[v] for v in now):
        return [[[name for name in (now[v], then[v]) if name]] for v in now if now[v]]
    return [[[name for name in now.values() if name]]]


def test_that_current_and_prior_chests_hang_as_in_annex_v_for_200_studies() -> None:
    """PS3.17 V.3, with missing laterals, swapped order and missing view tags."""
    draw = random.Random(3)
    kinds = [
        subset
        for size in (1, 2, 3)
        for subset in product((View.FRONTAL, View.LATERAL, View.UNKNOWN), repeat=size)
        if len(set(subset)) == size
    ]
    for _ in range(200):
        current = [_stack(f"now {view}", view) for view in draw.choice(kinds)]
        prior = [_stack(f"then {view}", view) for view in draw.choice(kinds)]
        chosen = draw.choice(current)
        priors = (tuple(prior),) if draw.random() < 0.7 else ()
        choice = Chosen(chosen, tuple(current), priors=priors)
        expected = _expected(current, prior if priors else (), chosen)
        assert _hung(choice) == expected, (current, prior, chosen)
        shown = stages(fitting(PROTOCOLS, choice)[0], choice)
        first = shown[stage_of(shown, choice)]
        assert chosen in first.stacks


def test_that_the_most_recent_study_that_compares_is_the_prior() -> None:
    now, hand = _stack("now", View.FRONTAL), _stack("h", View.FRONTAL, body_part="HAND")
    last, before = _stack("last", View.FRONTAL), _stack("before", View.FRONTAL)
    ct = _stack("ct", View.OTHER, modality="CT")
    chosen = Chosen(now, (now,), priors=((ct,), (hand,), (last,), (before,)))
    assert _hung(chosen) == [[["now", "last"]]]


def test_that_a_projection_without_view_position_is_told_by_its_directions() -> None:
    frontal = _stack("f", letters=("L", "F"))
    lateral = _stack("l", letters=("A", "F"))
    assert _hung(Chosen(lateral, (lateral, frontal))) == [[["f", "l"]]]


def test_that_the_right_breast_hangs_on_the_viewers_left() -> None:
    views = [
        _stack(f"{side} {at}", View.OTHER, modality="MG", position=at, side=side)
        for at in ("MLO", "CC")
        for side in ("L", "R")
    ]
    expected: list[Names] = [[["R CC", "L CC"], ["R MLO", "L MLO"]]]
    assert _hung(Chosen(views[0], tuple(views))) == expected
    assert _hung(Chosen(views[0], tuple(views[:3]))) == [
        [[None, "L CC"], ["R MLO", "L MLO"]]
    ]


@pytest.mark.parametrize("modality", ["CT", "MR"])
def test_that_a_series_hangs_alone_or_beside_the_same_one_of_the_prior(
    modality: str,
) -> None:
    axial, sagittal = (
        _stack(name, View.OTHER, modality=modality, count=3) for name in ("ax", "sag")
    )
    alone = Chosen(axial, (sagittal, axial))
    assert _hung(alone) == [[["ax"]]]
    assert _hung(alone, "Series side by side")[0] == [["ax", "sag"]]
    old = tuple(
        replace(_stack(n, View.OTHER, modality=modality), key=f"old {n}")
        for n in ("sag", "ax")
    )
    assert _hung(Chosen(axial, (sagittal, axial), priors=(old,))) == [[["ax", "ax"]]]


def test_that_a_slide_hangs_alone_and_a_series_can_be_tiled() -> None:
    slide = _stack("slide", View.OTHER, modality="SM", count=4)
    assert _hung(Chosen(slide, (slide, slide))) == [[["slide"]]]
    tiles = stages(PROTOCOLS[-1], Chosen(slide, (slide,)))[0]
    assert [[one.tile for one in row if one] for row in tiles.rows] == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    "words",
    ["frontal | sideways", "", "series | next / next", "|".join(["series"] * 4)],
)
def test_that_a_stage_that_cannot_hang_is_refused(words: str) -> None:
    with pytest.raises(WrongUseError):
        read_stage(words)


def test_that_the_users_own_table_comes_first(tmp_path: Path) -> None:
    assert own_protocols(tmp_path) == PROTOCOLS
    own = '[[protocol]]\nname = "Mine"\nmodalities = ["*"]\nstages = ["series"]'
    (tmp_path / FILE).write_text(own, encoding="utf-8")
    assert [protocol.name for protocol in own_protocols(tmp_path)] == ["Mine"]
    for wrong in ("", "[[protocol]", '[[protocol]]\nname = "x"'):
        with pytest.raises(WrongUseError):
            read_protocols(wrong)
