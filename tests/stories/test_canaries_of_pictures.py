"""What a PNG, JPEG or TIFF carries beside its pixels stays here."""

import base64
import re
from collections.abc import Callable
from pathlib import Path
from threading import Event as Flag

import numpy as np
import pytest
from PIL import Image, ImageCms, ImageDraw, PngImagePlugin, TiffImagePlugin

from tests.helpers.canaries import FINDING, everything_in
from tests.helpers.scripted_server import ScriptedServer
from tests.helpers.tiny_study import a_spec, everything_is_remote
from viewer.domain.exchange import ModelProfile
from viewer.domain.privacy import ReviewDecision
from viewer.imaging.png import is_bare_png
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.privacy import decisions
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.plan_run import plan_run
from viewer.services.running.run_batch import run_batch
from viewer.store import cases
from viewer.store.database import open_store

CANARY = "CANARY_ZEBRAFINCH_48000"
_DESCRIPTION, _ARTIST, _COMMENT = 0x010E, 0x013B, 0x9286


def _film() -> Image.Image:
    noise = np.random.default_rng(0).normal(90, 20, (300, 260))
    return Image.fromarray(noise.clip(0, 255).astype(np.uint8))


def _exif() -> Image.Exif:
    exif = Image.Exif()
    exif[_DESCRIPTION], exif[_ARTIST] = CANARY, CANARY
    exif.get_ifd(0x8769)[_COMMENT] = b"ASCII\0\0\0" + CANARY.encode()
    return exif


def _profile() -> bytes:
    """Return a colour profile with the canary where its maker's name stands."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    return profile + CANARY.encode()


def write_png(path: Path) -> None:
    """Write every kind of chunk that PNG has for words, and bytes behind its end."""
    info = PngImagePlugin.PngInfo()
    info.add_text("Author", CANARY)
    info.add_text("Comment", CANARY, zip=True)
    info.add_itxt("Title", CANARY, lang="en", tkey=CANARY)
    info.add(b"prVt", CANARY.encode())
    _film().convert("RGB").save(
        path, pnginfo=info, exif=_exif(), icc_profile=_profile()
    )
    path.write_bytes(path.read_bytes() + CANARY.encode())


def write_jpeg(path: Path) -> None:
    """Write EXIF, a comment and a profile."""
    _film().convert("RGB").save(
        path,
        quality=95,
        exif=_exif(),
        comment=CANARY.encode(),
        icc_profile=_profile(),
    )


def write_tiff(path: Path) -> None:
    """Write tags of words, and one that only its maker knows."""
    tags = TiffImagePlugin.ImageFileDirectory_v2()
    tags[_DESCRIPTION], tags[_ARTIST], tags[65000] = CANARY, CANARY, CANARY
    _film().save(path, tiffinfo=tags)


@pytest.mark.parametrize(
    ("suffix", "write"),
    [(".png", write_png), (".jpg", write_jpeg), (".tif", write_tiff)],
)
def test_that_nothing_beside_the_pixels_of_a_picture_leaves(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    suffix: str,
    write: Callable[[Path], None],
) -> None:
    everything_is_remote(monkeypatch)
    folder = tmp_path / CANARY
    folder.mkdir()
    path = folder / f"{CANARY}_frontal{suffix}"
    write(path)
    assert CANARY.encode() in path.read_bytes()
    mask = Image.new("L", (260, 300))
    ImageDraw.Draw(mask).rectangle((100, 100, 160, 180), fill=255)
    mask.save(folder / f"{path.stem}.{FINDING}.png")
    with open_store(tmp_path / "s.sqlite") as store, ScriptedServer() as server:
        import_dataset(store, "folder", folder, "birds")
        decisions.allow(store, server.base_url, "birds", unencrypted=True)
        refs = [image.ref for image in cases.dataset_named(store, "birds").images]
        decisions.decide(store, refs, ReviewDecision.CLEAN)
        settings = {"base_url": server.base_url, "model": "m"}
        spec = a_spec(
            [ModelProfile("far", "openai_api", settings)],
            dataset="birds",
            params={"grids": [8], "findings": [FINDING]},
        )
        list(run_batch(store, plan_run(store, spec), BatchOptions(), Flag()))
        (received,) = server.script.received
    (data,) = re.findall(rb"base64,([A-Za-z0-9+/=]+)", received.body)
    png = base64.b64decode(data)
    assert is_bare_png(png)
    seen = f"{received.path}{received.headers}".encode() + received.body
    assert b"CANARY" not in (seen + everything_in(png)).upper()
