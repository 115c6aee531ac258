"""Data sets of any number of tiny images, one writer a format; and counted calls."""

import base64
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from tests.helpers.small_datasets import SmallChexlocalize, coded, square, write_picture

_WAITING = ("threading.py", "queue.py", "futures/_base.py", "futures/thread.py")


@contextmanager
def counted_calls() -> Iterator[list[int]]:
    """Count the calls of this thread, without those that wait for another."""
    counts = [0]

    def count(frame: FrameType, event: str, _: object) -> None:
        if event in {"call", "c_call"}:
            counts[0] += not frame.f_code.co_filename.endswith(_WAITING)

    sys.setprofile(count)
    try:
        yield counts
    finally:
        sys.setprofile(None)


def _pictures(root: Path, n: int) -> list[str]:
    names = [f"patient{i:05d}_frontal" for i in range(n)]
    picture = write_picture(root / "images" / f"{names[0]}.png").read_bytes()
    for name in names:
        (root / "images" / f"{name}.png").write_bytes(picture)
    return names


def _csv(root: Path, name: str, header: str, rows: Iterable[str]) -> None:
    root.mkdir(parents=True, exist_ok=True)
    (root / name).write_text("\n".join((header, *rows)) + "\n", encoding="utf-8")


def _folder(root: Path, n: int) -> None:
    for name in _pictures(root, n):
        write_picture(root / "images" / f"{name}.edema.png")
        (root / "images" / f"{name}.txt").touch()


def _chexlocalize(root: Path, n: int) -> None:
    data = SmallChexlocalize(root)
    keys = [f"patient{i:05d}_study1_view1_frontal" for i in range(n)]
    for key in keys:
        data.picture(key)
    data.segment({key: {"Edema": coded(square())} for key in keys})
    data.label({key: ["0.0", "0.0", "1.0", "0.0"] for key in keys})


def _coco_of(names: Sequence[str]) -> str:
    size = {"width": 8, "height": 6}
    images = [{"id": i, "file_name": f"{n}.png", **size} for i, n in enumerate(names)]
    drawn = [
        {"id": i, "image_id": i, "category_id": 1, "bbox": [1, 1, 3, 3]}
        for i in range(len(names))
    ]
    categories = [{"id": 1, "name": "Edema"}]
    return json.dumps(
        {"images": images, "categories": categories, "annotations": drawn}
    )


def _coco(root: Path, n: int) -> None:
    (root / "instances.json").write_text(_coco_of(_pictures(root, n)))


def _coco_file_an_image(root: Path, n: int) -> None:
    for name in _pictures(root, n):
        (root / f"{name}.json").write_text(_coco_of([name]))


def _csv_boxes(root: Path, n: int) -> None:
    rows = (f"{name},Edema,1,1,3,3" for name in _pictures(root, n))
    _csv(root, "boxes.csv", "image,finding,x1,y1,x2,y2", rows)


def _csv_boxes_in_folders(root: Path, n: int) -> None:
    names = [f"{i}/study1/pa.png" for i in range(n)]
    for name in names:
        write_picture(root / name)
    rows = (f"{name},Edema,1,1,3,3" for name in names)
    _csv(root, "boxes.csv", "image,finding,x1,y1,x2,y2", rows)


def _vindr(root: Path, n: int) -> None:
    rows = (f"{name},Edema,R1,1,1,3,3" for name in _pictures(root, n))
    header = "image_id,class_name,rad_id,x_min,y_min,x_max,y_max"
    _csv(root, "train.csv", header, rows)


def _nih(root: Path, n: int) -> None:
    names = _pictures(root, n)
    header = "Image Index,Finding Labels,Patient ID,View Position"
    _csv(root, "Data_Entry.csv", header, (f"{x}.png,Mass,{x},PA" for x in names))
    header = "Image Index,Finding Label,Bbox [x,y,w,h],,,"
    _csv(root, "BBox_List.csv", header, (f"{x}.png,Mass,1,1,3,3" for x in names))


def _rsna(root: Path, n: int) -> None:
    rows = (f"{name},1,1,3,3,1" for name in _pictures(root, n))
    _csv(root, "labels.csv", "patientId,x,y,width,height,Target", rows)


def _siim(root: Path, n: int) -> None:
    rows = (f"{name},1 3 4 3" for name in _pictures(root, n))
    _csv(root, "train-rle.csv", "ImageId,EncodedPixels", rows)


def _heal(root: Path, n: int) -> None:
    asked = {"question": "Is the heart enlarged?", "answer": "Yes"}
    rows = [
        {"image": f"{name}.png", **asked, "location": "Heart"}
        for name in _pictures(root, n)
    ]
    (root / "test.json").write_text(json.dumps(rows))


def _pathmmu(root: Path, n: int) -> None:
    asked = {"question": "What?", "options": ["A) x", "B) y"], "answer": "B) y"}
    rows = [
        {"No": i, "img": f"{name}.png", **asked}
        for i, name in enumerate(_pictures(root, n))
    ]
    (root / "data.json").write_text(json.dumps({"PubMed": {"test": rows}}))


def _vlmevalkit(root: Path, n: int) -> None:
    picture = write_picture(root / "first.png").read_bytes()
    rows = (
        # what follows a picture's end is not read, and makes each file another
        f"{i}\tWhat?\tx\ty\tB\t{base64.b64encode(picture + b'%d' % i).decode()}"
        for i in range(n)
    )
    _csv(root, "tiles.tsv", "index\tquestion\tA\tB\tanswer\timage", rows)


def _captioned(root: Path, n: int) -> None:
    rows = (f"{name}.png,Glands." for name in _pictures(root, n))
    _csv(root, "captions.csv", "image,caption", rows)


def _cases(root: Path, n: int) -> None:
    for i in range(n):
        folder = root / f"study{i}"
        write_picture(folder / "pa.png")
        case = {"images": [{"file": "pa.png", "view": "PA"}], "findings": "Edema."}
        (folder / "case.json").write_text(json.dumps(case))


def _studies(root: Path, n: int) -> None:
    for i in range(n):
        write_picture(root / f"study{i}" / "pa.png")
    rows = (f"s{i},study{i}/pa.png,PA" for i in range(n))
    _csv(root, "studies.csv", "study,file,view", rows)


def _medsyn(root: Path, n: int) -> None:
    for i in range(n):
        folder = root / f"case{i}"
        shown = [
            {"type": "CT", "images": [f"{name}.png"], "finding": "Nodes."}
            for name in ("one", "two")
        ]
        case = {
            "language": "en",
            "specialty": "Neurology",
            "history": "A man fell.",
            "options": ["a", "b", "c", "d"],
            "diagnosis": "b",
            "evidence": shown,
        }
        for name in ("one", "two"):
            write_picture(folder / f"{name}.png")
        (folder / "case.json").write_text(json.dumps(case))


def _question_set(root: Path, n: int) -> None:
    rows = (f"{name}.png,Is it {i}?,yes" for i, name in enumerate(_pictures(root, n)))
    _csv(root, "rows.csv", "image,question,answer", rows)
    names = ("question", "answer", "image")
    columns = "".join(f'{name} = "{name}"\n' for name in names)
    text = f'[columns]\n{columns}[answer]\nkind = "yes_no"\n'
    (root / "question_set.toml").write_text(text)


MANY: dict[str, tuple[str, Callable[[Path, int], None]]] = {
    "folder": ("folder", _folder),
    "chexlocalize": ("chexlocalize", _chexlocalize),
    "coco": ("coco", _coco),
    "coco, a file an image": ("coco", _coco_file_an_image),
    "csv-boxes": ("csv-boxes", _csv_boxes),
    "csv-boxes, equal names": ("csv-boxes", _csv_boxes_in_folders),
    "vindr": ("vindr", _vindr),
    "nih-chestxray14": ("nih-chestxray14", _nih),
    "rsna": ("rsna", _rsna),
    "siim": ("siim-absolute", _siim),
    "heal": ("heal", _heal),
    "pathmmu": ("pathmmu", _pathmmu),
    "vlmevalkit": ("vlmevalkit", _vlmevalkit),
    "captioned-tiles": ("captioned-tiles", _captioned),
    "question-set": ("question-set", _question_set),
    "report-studies, cases": ("report-studies", _cases),
    "report-studies, table": ("report-studies", _studies),
    "medsyn": ("medsyn", _medsyn),
}
"""A format and what writes n of its images below a folder, by what it shows."""
