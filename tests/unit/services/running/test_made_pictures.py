"""What is made of images is made once for models that are asked beside one another."""

from pathlib import Path

import pytest

from tests.helpers.item_datasets import tiles_dataset
from tests.helpers.tiny_study import a_spec, plan_and_finish
from viewer.domain.exchange import ModelProfile
from viewer.domain.image import Raster
from viewer.imaging.corruptions import Corruption, corrupt
from viewer.store import cases
from viewer.store.database import open_store
from viewer.studies.pathology_mcq import request


@pytest.mark.statement("E003-06")
def test_that_a_corrupted_image_is_made_once_however_many_models_see_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[Corruption, int]] = []

    def counted(
        raster: Raster, kind: Corruption, level: int, seed: int, side: int
    ) -> Raster:
        made.append((kind, level))
        return corrupt(raster, kind, level, seed, side)

    monkeypatch.setattr(request, "corrupt", counted)
    models = [ModelProfile(f"m{i}", "scripted", {"answer": "A"}) for i in range(4)]
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, tiles_dataset(tmp_path / "tiles", 6))
        spec = a_spec(
            models,
            study="pathology_mcq",
            dataset="tiles",
            params={
                "arms": ["corruption"],
                "corruptions": ["hue", "pixelate"],
                "levels": ["1", "4"],
                "splits": ["test_tiny"],
            },
        )
        plan_and_finish(store, spec)
        pictures = store.rows("SELECT DISTINCT condition, image FROM trial")
        asked = store.rows("SELECT DISTINCT condition, item FROM trial")
    assert len(made) == len(pictures) == 4
    assert len(set(made)) == 4
    assert len(asked) == 8
