from pathlib import Path

import pytest

from viewer.domain.errors import OverreadError, UnreadableInputError
from viewer.imaging.resample import FitMode
from viewer.models.cnn_cam.card import read_card

CARD = """
name = "densenet"
layer = "features"
[network]
factory = "torchvision.models:densenet121"
weights = "net.safetensors"
[network.arguments]
num_classes = 10
[input]
side = 320
channels = 3
range = [0, 1.0]
mean = [0.485, 0.456, 0.406]
std = [0.229, 0.224, 0.225]
fit = "letterbox"
[classes]
"Pleural  Effusion" = 9
Edema = 4
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "card.toml"
    path.write_text(text)
    return path


def test_that_a_whole_card_is_read(tmp_path: Path) -> None:
    card = read_card(written(tmp_path, CARD))
    assert (card.name, card.layer) == ("densenet", "features")
    assert card.source.kind == "factory"
    assert card.source.factory == "torchvision.models:densenet121"
    assert card.source.arguments == {"num_classes": 10}
    assert card.source.file == tmp_path / "net.safetensors"
    assert card.input.side == 320
    assert card.input.mean == (0.485, 0.456, 0.406)
    assert (card.input.low, card.input.high) == (0.0, 1.0)
    assert card.input.fit is FitMode.LETTERBOX
    assert card.score_of("pleural_effusion") == 9
    assert card.score_of("Pneumothorax") is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "densenet"', "", "'name' is missing"),
        ('layer = "features"', "layer = 3", "'layer' in card.toml must be text"),
        ("[classes]", "[klasses]", "'classes' is missing"),
        ("side = 320", "side = 0", "side must be from 1 to 4096"),
        ("side = 320", "side = true", "'input.side' in card.toml must be a whole"),
        ("side = 320", "size = 320", "'input.side' is missing"),
        ("channels = 3", "channels = 2", "'input.channels' in card.toml cannot be 2"),
        (
            "range = [0, 1.0]",
            "range = [0]",
            "'input.range' in card.toml must be a list of length 2",
        ),
        ("range = [0, 1.0]", "range = [0, nan]", "must be finite"),
        ("mean = [0.485,", "mean = [1,", None),
        ("mean = [0.485, ", "mean = [", "mean and std need 3 numbers each"),
        ("std = [0.229", "std = [0.0", "std must be above 0"),
        (
            'fit = "letterbox"',
            'fit = "tile"',
            "'input.fit' in card.toml cannot be 'tile'",
        ),
        ("Edema = 4", "Edema = -1", "must be a whole number, 0 or more"),
        ("Edema = 4", 'Edema = "4"', "must be a whole number"),
        ('weights = "net.safetensors"', "", "a factory needs weights"),
        ("[network]", '[network]\nexported = "a.pt2"', "name exactly one of"),
        (":densenet121", "", "module:callable"),
        (":densenet121", ":dense net", "module:callable"),
        (":densenet121", ":a:b", "module:callable"),
    ],
)
def test_that_what_cannot_be_on_a_card_is_named(
    tmp_path: Path, old: str, new: str, said: str | None
) -> None:
    assert old in CARD
    path = written(tmp_path, CARD.replace(old, new))
    if said is None:
        assert read_card(path).input.mean[0] == 1
        return
    with pytest.raises(OverreadError) as caught:
        read_card(path)
    assert said in caught.value.what


@pytest.mark.parametrize("table", ["network", "input", "classes"])
def test_that_a_card_without_one_of_its_tables_says_so(
    tmp_path: Path, table: str
) -> None:
    text = 'name = "n"\nlayer = "l"\n' + "\n".join(
        lines
        for name, lines in {
            "network": '[network]\nexported = "a.pt2"',
            "input": "[input]\nside = 8",
            "classes": "[classes]\na = 0",
        }.items()
        if name != table
    )
    with pytest.raises(OverreadError, match=f"'{table}' is missing in card.toml"):
        read_card(written(tmp_path, text))


def test_that_a_file_that_is_no_card_says_so(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="is not TOML"):
        read_card(written(tmp_path, "name = "))
    (tmp_path / "card.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UnreadableInputError, match="is not TOML"):
        read_card(tmp_path / "card.toml")
    with pytest.raises(UnreadableInputError, match="cannot be read"):
        read_card(tmp_path / "none.toml")
