"""Small data sets and results of the study, made by hand."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from viewer.domain.answer import Status
from viewer.domain.case import Dataset, DatasetImage, ImageRef, View
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.item import Item
from viewer.domain.plain import plain
from viewer.domain.result import Score, TrialResult
from viewer.domain.run import RunSpec
from viewer.studies.pathology_mcq.params import read_params

MODEL = ModelProfile("m", "scripted", {"answer": "A"})


def item(
    key: str,
    correct: int = 0,
    options: int = 4,
    images: tuple[str, ...] = ("a.png",),
    experts: Iterable[tuple[str, str, int]] = (),
) -> Item:
    """Return an item called ``subset-split-number``."""
    subset, split, number = key.split("-")
    texts = [f"text {i}" for i in range(options)]
    letters = [f"{chr(65 + i)}) {text}" for i, text in enumerate(texts)]
    return Item(
        key,
        images[0] if images else key,
        subset,
        images,
        {
            "number": number,
            "subset": subset,
            "split": split,
            "question": f"What about {key}?",
            "options": texts,
        },
        {
            "option": correct,
            "answer": letters[correct],
            "written": letters,
            "explanation": "",
            **({"experts": [list(one) for one in experts]} if experts else {}),
        },
    )


def image(key: str, defect: str = "") -> DatasetImage:
    return DatasetImage(
        key,
        key,
        "",
        View.OTHER,
        ImageRef(Path(key)),
        ImageGeometry(SizePx(6, 8)),
        "",
        defects={"*": defect} if defect else {},
    )


def dataset(items: Iterable[Item], missing: Iterable[str] = ()) -> Dataset:
    """Return a data set of items with their images, some of whose files are missing."""
    made = tuple(items)
    keys = sorted({key for one in made for key in one.images})
    gone = set(missing)
    images = tuple(image(key, "missing_file" if key in gone else "") for key in keys)
    return Dataset("tiles", "pathmmu", Path(), images, (), "", items=made)


def spec(
    models: Iterable[ModelProfile] = (MODEL,),
    repeats: int = 1,
    limit: int | None = None,
    settings: Mapping[str, object] | None = None,
    **overrides: object,
) -> RunSpec:
    chosen_params = {**(settings or {}), **overrides}
    params = plain(read_params("pathmmu2024", chosen_params))
    chosen = tuple(models)
    return RunSpec(
        *("pathology_mcq", "tiles", "pathmmu2024", 5, repeats, chosen, params, limit)
    )


def result(
    one: Item, status: Status, condition: str = "plain", model: str = "m", **more: int
) -> TrialResult:
    """Return a trial about an item with its verdict."""
    numbers: Mapping[str, int] = {k: v for k, v in more.items() if k == "official"}
    return TrialResult(
        item=one.key,
        patient=one.patient,
        image=one.images[0] if one.images else "",
        view=str(one.facts["split"]),
        finding=one.kind,
        condition=condition,
        repeat=more.get("repeat", 0),
        model=model,
        score=Score(status, numbers=tuple((k, float(v)) for k, v in numbers.items())),
    )
