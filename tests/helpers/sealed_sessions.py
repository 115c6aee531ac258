"""A store with a session to be sealed, whose every name and truth is a canary."""

import io
import zipfile
from pathlib import Path

import numpy as np

from tests.helpers.make_dicom import make_dicom
from viewer.domain.case import Dataset, DatasetImage, ImageRef, View
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.item import Item
from viewer.domain.privacy import PixelReview, ReviewDecision, pixels_sha256
from viewer.domain.reading import SessionId
from viewer.domain.reference import Mask
from viewer.imaging.png import decode_png
from viewer.readers.pixels import load_pixels
from viewer.services.readings import cases, recording
from viewer.services.readings.task_choice import TaskWanted
from viewer.services.readings.task_readings import open_task
from viewer.store import cases as data_sets
from viewer.store import consents
from viewer.store.database import open_store

SIZE = SizePx(40, 48)
PANEL = TaskWanted("pathology_mcq", "panel", "CANARYDATASET", panel="I")
READER = "Zoe"


def store_of_questions(
    folder: Path, n: int = 3, question: str = "What is seen in field {number}?"
) -> Path:
    """Return a store of questions about DICOM images of named patients, reviewed."""
    images = tuple(_image(folder / "CANARYFOLDER", i) for i in range(n))
    items = tuple(
        _item(image, i, question.format(number=i, name=f"CANARYNAME{i}"))
        for i, image in enumerate(images)
    )
    dataset = Dataset(
        PANEL.dataset, "pathmmu", folder, images, (), "e" * 64, items=items
    )
    path = folder / "origin.sqlite"
    with open_store(path) as store:
        data_sets.add_dataset(store, dataset)
        for image in images:
            sha256 = pixels_sha256(load_pixels(image.ref))
            consents.add_review(store, PixelReview(sha256, ReviewDecision.CLEAN))
    other = open_task(path, PANEL, "CANARYOTHER")
    recording.lock(path, other, 0, {"answer": "B"}, comment="CANARYCOMMENT")
    return path


def _image(folder: Path, i: int) -> DatasetImage:
    folder.mkdir(parents=True, exist_ok=True)
    shape = (SIZE.rows, SIZE.columns)
    path = make_dicom(
        folder / f"CANARYFILE{i}.dcm",
        np.random.default_rng(i).integers(0, 4096, shape, dtype=np.uint16),
        PatientName=f"CANARYNAME{i}^Ada",
        PatientID=f"CANARYID{i}",
        AccessionNumber=f"CANARYVISIT{i}",
    )
    return DatasetImage(
        key=f"CANARYKEY{i}",
        patient=f"CANARYPATIENT{i}",
        study=f"CANARYSTUDY{i}",
        view=View.FRONTAL,
        ref=ImageRef(path),
        geometry=ImageGeometry(SIZE),
        sha256=f"{i:064x}",
        labels={"Edema": True},
        masks={"Edema": Mask.of_array(np.eye(SIZE.rows, SIZE.columns, dtype=bool))},
    )


def _item(image: DatasetImage, i: int, question: str) -> Item:
    options = ["cells", "glands"]
    return Item(
        f"CANARYITEM{i}",
        image.patient,
        "tiles",
        (image.key,),
        {"question": question, "options": options},
        {"option": i % 2, "answer": options[i % 2], "explanation": f"CANARYTRUTH {i}"},
    )


def answer_all(store: Path, session: SessionId) -> None:
    """Save a first thought, lock, undo and lock again on every case."""
    for position in range(len(cases.queue(store, session))):
        recording.autosave(store, session, position, {"answer": "A"}, comment="hm")
        recording.lock(store, session, position, {"answer": "A"})
        recording.undo(store, session, position)
        recording.lock(store, session, position, {"answer": "BA"[position % 2]})


def everything_in(path: Path) -> list[bytes]:
    """Return a file's bytes, its members', and those of its images unpacked."""
    data = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [archive.read(name) for name in archive.namelist()]
        names = "\n".join(archive.namelist()).encode()
    unpacked = [
        decode_png(one).pixels.tobytes()
        for one in members
        if one.startswith(b"\x89PNG")
    ]
    return [data, names, *members, *unpacked]


def look_through(store: Path, session: SessionId) -> None:
    """Say of every image of a session that its pixels name nobody."""
    shown = {
        ref
        for task in cases.queue(store, session)
        for ref in (task.image, *(one.image for one in task.exhibits))
        if ref is not None
    }
    with open_store(store) as opened:
        for ref in shown:
            review = PixelReview(pixels_sha256(load_pixels(ref)), ReviewDecision.CLEAN)
            consents.add_review(opened, review)
