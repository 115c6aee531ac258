"""What is drawn on an image comes back to the same native pixels.

Images with pixels of any shape are imported, asked about in every convention that a
model may write, and exported again; where things lie is worked out here by hand.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import nibabel
import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageOps

from tests.helpers.geometries import GEOMETRIES, centred_square, pixel_height
from tests.helpers.make_dicom import make_dicom
from tests.helpers.tiny_study import FEW_RESAMPLES, a_spec, finish, plan_and_finish
from tests.unit.services.exporting.test_export_bundle import members_of, quiet
from viewer.domain.answer import BoxesAnswer, CellAnswer, MaskAnswer, PointAnswer
from viewer.domain.case import DatasetImage
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.grid import Cell, Grid
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.places import Place
from viewer.domain.prediction import Coordinates
from viewer.imaging.png import decode_png
from viewer.models.coordinates.conventions import CONVENTIONS
from viewer.models.coordinates.frame import Frame
from viewer.models.coordinates.marks import Kind
from viewer.readers.headers import read_file_header
from viewer.services.exporting.export_answers import export_answers
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.importing.import_predictions import (
    PredictionsSource,
    plan_predictions,
)
from viewer.services.inspecting.answers import StoredAnswer, answers_about, sent_images
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, runs
from viewer.store.database import Store, open_store
from viewer.writers.verify.main import verify

SIDE = 1024
SENT = SizePx(SIDE, SIDE)
GRID = Grid(8, 8)
FINDING = "Edema"
NAME = "a_frontal"


@dataclass(frozen=True)
class Asked:
    """An image, the native box of what is bright on it, and the answers about it."""

    geometry: ImageGeometry
    store: Path
    run: int
    image: DatasetImage
    box: BoxPx

    @property
    def on_sent(self) -> BoxPx:
        """The box in what is sent, by hand."""
        return on_sent(self.geometry, self.box)

    def answers(self) -> dict[str, StoredAnswer]:
        """Return the answers as the window draws them, by model."""
        return {a.model: a for a in answers_about(self.store, self.image.ref)}


def on_sent(geometry: ImageGeometry, box: BoxPx) -> BoxPx:
    window = centred_square(geometry)
    x = SIDE / (window.x1 - window.x0)
    y = SIDE / (window.y1 - window.y0)
    return BoxPx(
        (box.x0 - window.x0) * x,
        (box.y0 - window.y0) * y,
        (box.x1 - window.x0) * x,
        (box.y1 - window.y0) * y,
    )


def bright_box(geometry: ImageGeometry) -> BoxPx:
    """Return whole native pixels, about a third of what is sent, off its middle."""
    window = centred_square(geometry)
    width, height = window.x1 - window.x0, window.y1 - window.y0
    x0, y0 = int(window.x0 + 0.22 * width), int(window.y0 + 0.41 * height)
    return BoxPx(x0, y0, x0 + int(0.37 * width), y0 + int(0.3 * height))


def block(geometry: ImageGeometry, box: BoxPx) -> npt.NDArray[np.bool_]:
    mask = np.zeros((geometry.size.rows, geometry.size.columns), bool)
    mask[int(box.y0) : int(box.y1), int(box.x0) : int(box.x1)] = True
    return mask


def write_dicom(folder: Path, geometry: ImageGeometry) -> ImageGeometry:
    """Write a radiograph of a bright box."""
    shape: dict[str, list[float]] = {}
    if geometry.spacing is not None:
        shape["PixelSpacing"] = [geometry.spacing.row_mm, geometry.spacing.column_mm]
    elif geometry.aspect_ratio is not None:
        shape["PixelAspectRatio"] = [int(100 * geometry.aspect_ratio), 100]
    make_dicom(
        folder / f"{NAME}.dcm",
        drawn(geometry),
        Modality="CR",
        WindowCenter=127.5,
        WindowWidth=255,
        VOILUTFunction="LINEAR_EXACT",
        **shape,  # type: ignore[arg-type]
    )
    return geometry


def write_turned(folder: Path, orientation: int) -> ImageGeometry:
    """Write a TIFF that is shown turned, its pixels 1.6 times as high as wide."""
    geometry = ImageGeometry(SizePx(150, 210), aspect_ratio=1.6)
    shown = drawn(geometry)
    ways = [np.rot90(side, n) for side in (shown, shown.T) for n in range(4)]
    stored = next(way for way in ways if _shown(way, orientation) == shown.tobytes())
    upright = stored.shape == shown.shape and orientation < 5
    across, down = (160, 100) if upright else (100, 160)
    tags = {274: orientation, 282: across, 283: down, 296: 2}
    image = Image.fromarray(np.ascontiguousarray(stored))
    image.save(folder / f"{NAME}.tif", tiffinfo=tags)
    return geometry


def _shown(stored: npt.NDArray[np.uint8], orientation: int) -> bytes:
    """Return the bytes that Pillow shows of a stored array."""
    image = Image.fromarray(np.ascontiguousarray(stored))
    image.getexif()[274] = orientation
    return np.asarray(ImageOps.exif_transpose(image)).tobytes()


def write_volume(folder: Path, axes: str) -> ImageGeometry:
    """Write a slice whose stored axes run as nibabel names them, 0.7 and 2.8 mm."""
    path, shape = folder / f"{NAME}.nii.gz", (120, 40, 1)
    affine = np.zeros((4, 4))
    for column, (letter, mm) in enumerate(zip(axes, (0.7, 2.8, 5.0), strict=True)):
        row = next(i for i, pair in enumerate(("LR", "PA", "IS")) if letter in pair)
        affine[row, column] = mm if letter in "RAS" else -mm
    affine[:, 3] = (-20, 30, 40, 1)
    _save(np.zeros(shape, np.uint8), affine, path)
    geometry = read_file_header(path).geometry()
    stored = np.moveaxis(np.indices(shape), 0, -1) @ affine[:3, :3].T + affine[:3, 3]
    assert geometry.spacing is not None
    assert geometry.position is not None
    corner = geometry.position.x, geometry.position.y, geometry.position.z
    at = stored * (-1, -1, 1) - np.array(corner)
    along, down = np.array(geometry.axes).reshape(2, 3)
    column = np.rint(at @ along / geometry.spacing.column_mm).astype(int)
    row = np.rint(at @ down / geometry.spacing.row_mm).astype(int)
    values = drawn(geometry)[row, column]
    _save(values, affine, path)
    return geometry


def _save(
    values: npt.NDArray[np.uint8], affine: npt.NDArray[np.float64], path: Path
) -> None:
    nibabel.save(nibabel.Nifti1Image(values, affine), path)  # type: ignore[no-untyped-call]


def drawn(geometry: ImageGeometry) -> npt.NDArray[np.uint8]:
    """Return the bright box as it is shown."""
    mask = block(geometry, bright_box(geometry))
    return np.asarray(np.where(mask, 255, 0), dtype=np.uint8)


WRITERS: Mapping[str, Callable[[Path], ImageGeometry]] = {
    **{
        name: partial(write_dicom, geometry=geometry)
        for name, geometry in GEOMETRIES.items()
    },
    **{
        f"TIFF orientation {n}": partial(write_turned, orientation=n)
        for n in range(1, 9)
    },
    **{
        f"NIfTI {axes}": partial(write_volume, axes=axes)
        for axes in ("LPS", "RAS", "PIR", "SLA", "ALS")
    },
}


def models(geometry: ImageGeometry, box: BoxPx) -> Iterator[ModelProfile]:
    """Yield a model for each convention, which says where the box is."""
    frame, there = Frame.of_sent(SENT), on_sent(geometry, box)
    middle = PointPx((there.x0 + there.x1) / 2, (there.y0 + there.y1) / 2)
    for name, convention in CONVENTIONS.items():
        shape = there if Kind.BOX in convention.kinds else middle
        answer = convention.write([Place(shape, FINDING)], frame)
        settings = {"answer": answer}
        if name != "grid":
            settings["convention"] = name
        yield ModelProfile(name, "scripted", settings)


@pytest.fixture(scope="module", params=WRITERS.values(), ids=list(WRITERS))
def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Asked:
    folder = tmp_path_factory.mktemp("geometry")
    (folder / "images").mkdir()
    geometry: ImageGeometry = request.param(folder / "images")
    box = bright_box(geometry)
    mask = Image.fromarray(block(geometry, box).astype(np.uint8) * 255)
    mask.save(folder / "images" / f"{NAME}.{FINDING}.png")
    path = folder / "s.sqlite"
    with open_store(path) as store:
        import_dataset(store, "folder", folder / "images", "d")
        spec = a_spec(
            list(models(geometry, box)),
            dataset="d",
            params={"grids": [8], "side": SIDE, "mask_mode": "exact", **FEW_RESAMPLES},
        )
        run = plan_and_finish(store, spec)
        (image,) = cases.dataset_named(store, "d").images
    return Asked(geometry, path, run, image, box)


def test_that_the_registered_geometry_is_the_files(asked: Asked) -> None:
    known, expected = asked.image.geometry, asked.geometry
    assert known.size == expected.size
    assert known.pixel_aspect == pytest.approx(pixel_height(expected))
    if expected.spacing is not None:
        assert known.spacing is not None
        assert known.spacing.row_mm == expected.spacing.row_mm


def test_that_what_is_sent_shows_the_box_where_it_is(asked: Asked) -> None:
    with open_store(asked.store) as store:
        context = RunContext(
            runs.run_spec(store, asked.run), cases.dataset_of_run(store, 1)
        )
        plain = context.plain(NAME, context.study.conditions(context.params)[0])
        gridded = context.places.gridded(
            context.drawn.raster((NAME, None))[0],
            context.study.conditions(context.params)[0],
        )
    answers = asked.answers()
    for name, expected in (("grid", gridded), ("gemini", plain)):
        (png,) = sent_images(asked.store, answers[name].request_sha256)
        assert (decode_png(png).pixels == expected.pixels).all()
    there, window = asked.on_sent, centred_square(asked.geometry)
    scale_x = SIDE / (window.x1 - window.x0)
    scale_y = SIDE / (window.y1 - window.y0)
    for brightness, first, last, scale in (
        (plain.pixels.max(axis=0), there.x0, there.x1, scale_x),
        (plain.pixels.max(axis=1), there.y0, there.y1, scale_y),
    ):
        bright = np.flatnonzero(brightness > 127)
        assert abs(bright[0] - first) <= max(1.0, 0.5 * scale)
        assert abs(bright[-1] + 1 - last) <= max(1.0, 0.5 * scale)


def test_that_every_convention_comes_back_to_the_native_pixels(asked: Asked) -> None:
    window = centred_square(asked.geometry)
    to_native = (window.x1 - window.x0) / SIDE, (window.y1 - window.y0) / SIDE
    box = asked.box
    middle = PointPx((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
    told = asked.answers()
    assert sorted(told) == sorted(CONVENTIONS)
    for name, stored in told.items():
        answer = stored.answer
        step = CONVENTIONS[name].bin_native(Frame.of_sent(SENT))
        near = max(0.5, step.x * to_native[0]), max(0.5, step.y * to_native[1])
        if isinstance(answer, BoxesAnswer):
            (found,) = answer.boxes
            pairs = zip(
                (found.x0, found.y0, found.x1, found.y1),
                (box.x0, box.y0, box.x1, box.y1),
                near * 2,
                strict=True,
            )
            assert all(abs(a - b) <= most + 1e-6 for a, b, most in pairs), name
        elif isinstance(answer, PointAnswer):
            assert abs(answer.point.x - middle.x) <= near[0], name
            assert abs(answer.point.y - middle.y) <= near[1], name
        elif isinstance(answer, MaskAnswer):
            there = answer.mask.array()
            edges = [np.flatnonzero(there.any(axis)) for axis in (0, 1)]
            assert abs(edges[0][0] - box.x0) <= near[0] + 0.5, name
            assert abs(edges[1][-1] + 1 - box.y1) <= near[1] + 0.5, name
        else:
            assert isinstance(answer, CellAnswer), name
            sent = asked.on_sent
            row = int((sent.y0 + sent.y1) / 2 / SIDE * 8)
            column = int((sent.x0 + sent.x1) / 2 / SIDE * 8)
            assert answer.cell == Cell(row, column)
        assert stored.score.answer in stored.reference_cells, name


def test_that_the_reference_covers_the_cells_that_the_box_does(asked: Asked) -> None:
    stored, there = asked.answers()["grid"], asked.on_sent
    edges = np.arange(9) * SIDE / 8

    def parts(first: float, last: float) -> npt.NDArray[np.float64]:
        ends = np.minimum(edges[1:], last) - np.maximum(edges[:-1], first)
        return np.asarray(np.clip(ends, 0, None) / (SIDE / 8))

    share = np.outer(parts(there.y0, there.y1), parts(there.x0, there.x1))
    labels = np.array([GRID.label(cell) for cell in GRID.cells()]).reshape(8, 8)
    assert sorted(stored.reference_cells) == sorted(labels[share > 0.5 + 1e-6]) or set(
        stored.reference_cells
    ) == set(labels[share >= 0.5 - 1e-6])
    assert stored.score.coverage == pytest.approx(
        float(share[labels == stored.score.answer][0]), abs=1e-6
    )


def test_that_answers_are_exported_in_native_pixels_and_read_again(
    asked: Asked, tmp_path: Path
) -> None:
    with open_store(asked.store) as store:
        export_answers(store, asked.run, tmp_path / "a.csv", model="qwen3_vl")
        row = _only_row(tmp_path / "a.csv")
        corners = [float(row[name]) for name in ("x1", "y1", "x2", "y2")]
        step = CONVENTIONS["qwen3_vl"].bin_native(Frame.of_sent(SENT))
        window = centred_square(asked.geometry)
        near = max(0.5, step.x * (window.x1 - window.x0) / SIDE) + 1e-6
        box = asked.box
        for found, drawn in zip(corners, (box.x0, box.y0, box.x1, box.y1), strict=True):
            assert abs(found - drawn) <= near
        again = _imported(store, tmp_path, tmp_path / "a.csv")
        (coco,) = _coco(asked, tmp_path)
        from_coco = _imported(store, tmp_path, coco)
    assert again == corners
    assert from_coco == [box.x0, box.y0, box.x1, box.y1]


def _only_row(path: Path) -> dict[str, str]:
    (row,) = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))
    return row


def _coco(asked: Asked, folder: Path) -> Iterator[Path]:
    """Write the box as COCO has detections: left, top, width and height."""
    box, path = asked.box, folder / "results.json"
    width, height = box.x1 - box.x0, box.y1 - box.y0
    row = {"image_id": NAME, "category_id": FINDING, "score": 1.0}
    path.write_text(json.dumps([{**row, "bbox": [box.x0, box.y0, width, height]}]))
    yield path


def _imported(store: Store, home: Path, file: Path) -> list[float]:
    """Import a file's only box, ask for it, and return it as it was exported."""
    native = Coordinates.NATIVE
    source = PredictionsSource(file, file.stem, dataset="d", coordinates=native)
    run = plan_predictions(store, home, source).run
    finish(store, run)
    out = home / f"{file.stem} again.csv"
    export_answers(store, run, out)
    row = _only_row(out)
    return [float(row[name]) for name in ("x1", "y1", "x2", "y2")]


BUNDLED = {"4 x 1 mm, wide", "NIfTI PIR"}
"""A film and a volume: a bundle is made of the answers that are looked at above."""


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(write, id=name, marks=[] if name in BUNDLED else pytest.mark.proof)
        for name, write in WRITERS.items()
    ],
    indirect=True,
)
def test_that_a_bundle_is_verified_and_says_the_same(asked: Asked) -> None:
    with open_store(asked.store) as store:
        data = run_bundle(store, asked.run)
    assert verify(data, quiet).wrong == []
    members = members_of(data)
    items = csv.DictReader(io.StringIO(members["tables/items.csv"].decode()))
    told = asked.answers()
    for item in items:
        stored = told[item["model"]]
        assert item["answer"] == stored.score.answer
        assert float(item["coverage"]) == stored.score.coverage
