"""What perturbation tests really send: the words and the pixels of their requests."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from tests.helpers.heal_run import heal_run
from viewer.domain.case import Dataset
from viewer.imaging.luts import to_raster
from viewer.imaging.png import decode_png
from viewer.imaging.seams import seam_of
from viewer.readers.pixels import load_pixels
from viewer.services.inspecting.answers import images_of, parts_of
from viewer.services.reporting.report_run import report_data
from viewer.store import cases, trials
from viewer.store.database import open_store

TEMPLATES = (
    "Does {anatomy} have {disease}",
    "Is there {disease} present in {anatomy}",
    "Does {anatomy} suffer from {disease}?",
)
"""Of closed questions (App. C.3)."""
FEATHER, REACH = 0.02, 4
"""The edge's standard deviation as a share of the width, and how far it is followed."""
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Sent:
    """One request about a positive question: its words, and its only image."""

    change: str
    words: str
    pixels: npt.NDArray[np.int64]


Asked = Mapping[str, Mapping[str, Sent]]
"""What was sent, by question and condition."""


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Dataset, Asked]]:
    folder = tmp_path_factory.mktemp("sent")
    found: dict[str, dict[str, Sent]] = defaultdict(dict)
    with open_store(folder / "s.sqlite") as store:
        heal_run(store, folder)
        for result in report_data(store, 1).results:
            if result.model != "grounded" or result.view != "positive":
                continue
            if not result.request_sha256:
                continue
            request = trials.sent_request(store, result.request_sha256)
            (png,) = images_of(request)
            words = " ".join(
                text for who, text in parts_of(request) if "image" not in who
            )
            key, _, change = result.item.partition("|")
            pixels = decode_png(png).pixels.astype(np.int64)
            found[key][result.condition] = Sent(change, words, pixels)
        yield cases.dataset_named(store, "q"), found


@pytest.mark.statement("E002-09", "E002-11")
def test_that_the_words_sent_are_those_of_the_pair_swapped_or_of_another_template(
    sent: tuple[Dataset, Asked],
) -> None:
    dataset, asked = sent
    items = {item.key: item for item in dataset.items}
    assert len(asked) >= 8
    for key, of in asked.items():
        facts = items[key].facts
        own = TEMPLATES[int(str(facts["template"]))]
        pair = (str(facts["anatomy"]), str(facts["finding"]))
        assert said(own, *pair) in of["plain"].words
        others = [said(t, *pair) for t in TEMPLATES if t != own]
        assert any(text in of["tpt-sham"].words for text in others)
        assert said(own, *pair) not in of["tpt-sham"].words
        for test in ("tpt-anatomy", "tpt-disease"):
            if test in of:
                anatomy, _, finding = of[test].change.partition(": ")
                assert said(own, anatomy, finding) in of[test].words
                assert (anatomy == pair[0]) == (test == "tpt-disease")
                assert (finding == pair[1]) == (test == "tpt-anatomy")
        for arm in ("vpt", "vpt-sham-own", "vpt-sham-same"):
            if arm in of:
                assert of[arm].words == of["plain"].words
    assert any("tpt-disease" in of for of in asked.values())


@pytest.mark.statement("E002-10", "E002-11")
def test_that_the_pixels_sent_differ_in_the_region_asked_about_alone(
    sent: tuple[Dataset, Asked],
) -> None:
    dataset, asked = sent
    images = {image.key: image for image in dataset.images}
    items = {item.key: item for item in dataset.items}
    changes: dict[str, list[float]] = defaultdict(list)
    for key, of in asked.items():
        image = images[items[key].images[0]]
        mask = image.anatomy[str(items[key].facts["anatomy"])].array()
        assert mask.shape == of["plain"].pixels.shape
        outside = ~widened(mask)
        for arm in ("vpt", "vpt-sham-own", "vpt-sham-same"):
            if arm not in of:
                continue
            change = np.abs(of[arm].pixels - of["plain"].pixels)
            assert not change[outside].any(), (key, arm)
            sigma = 0.02 * float(np.ptp(np.flatnonzero(mask.any(axis=0))))
            changes[arm].append(float(change[seam_of(mask, sigma)].mean()))
        for test in ("tpt-anatomy", "tpt-disease", "tpt-sham"):
            if test in of:
                assert (of[test].pixels == of["plain"].pixels).all()
    assert len(changes["vpt"]) >= 8
    assert min(changes["vpt"]) > 0
    donor, own = (np.mean(changes[arm]) for arm in ("vpt", "vpt-sham-own"))
    assert own == pytest.approx(donor, rel=0.1)


@pytest.mark.statement("E002-10")
def test_that_what_is_pasted_looks_like_the_donor_and_not_like_the_image(
    sent: tuple[Dataset, Asked],
) -> None:
    dataset, asked = sent
    images = {image.key: image for image in dataset.images}
    items = {item.key: item for item in dataset.items}
    nearer = []
    for key, of in asked.items():
        if "vpt" not in of:
            continue
        donor = images[of["vpt"].change]
        shown = to_raster(load_pixels(donor.ref)).pixels
        anatomy = str(items[key].facts["anatomy"])
        here = images[items[key].images[0]].anatomy[anatomy].array()
        there = donor.anatomy[anatomy].array()
        pasted = np.median(of["vpt"].pixels[here])
        wanted = np.median(shown[there])
        before = np.median(of["plain"].pixels[here])
        if abs(wanted - before) > 4:
            nearer.append(abs(pasted - wanted) < abs(pasted - before))
    assert len(nearer) >= 4
    assert all(nearer)


def said(template: str, anatomy: str, finding: str) -> str:
    """Return a closed question's words."""
    return template.replace("{anatomy}", anatomy).replace("{disease}", finding)


def widened(mask: Bools) -> Bools:
    """Return a mask's box, as much wider as a feathered edge may reach."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    width = columns[-1] - columns[0] + 1
    by = int(np.ceil(REACH * FEATHER * width)) + 1
    box = np.zeros_like(mask)
    top, left = max(rows[0] - by, 0), max(columns[0] - by, 0)
    box[top : rows[-1] + by + 1, left : columns[-1] + by + 1] = True
    return box
