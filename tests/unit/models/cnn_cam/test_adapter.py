import os
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("captum", reason="needs captum")

import torch

from tests.helpers.requests import facts, noise, request
from tests.helpers.tiny_cnn import (
    FACTORY,
    SIDE,
    TinyNet,
    WithMaps,
    tiny_net,
    write_tiny_network,
)
from viewer.domain.errors import OverreadError, ProviderError, RetryClass
from viewer.domain.exchange import ModelProfile, ModelReply, ModelRequest
from viewer.models.cnn_cam import network as networks
from viewer.models.cnn_cam.adapter import CnnCam
from viewer.models.cnn_cam.card import Card
from viewer.models.file_hash import file_sha256
from viewer.models.loaded import (
    Loadable,
    LoadCancelledError,
    LoadState,
    Progress,
    silent,
)

WHOLE = f'factory = "{FACTORY}"\nweights = "net.safetensors"'


def made(card: Path, trusted: str | None = FACTORY, **changes: object) -> CnnCam:
    settings = {"card": str(card), "trusted": trusted, "device": "cpu", **changes}
    return CnnCam(ModelProfile("tiny", "cnn_cam", settings))


def question(finding: str = "Edema", seed: int = 0) -> ModelRequest:
    return request(facts(item=f"patient1|{finding}", plain=noise(48, seed)))


def ask(adapter: CnnCam, asked: ModelRequest) -> ModelReply:
    return adapter.read(adapter.generate(asked))


def refusal(adapter: CnnCam) -> str:
    with pytest.raises(OverreadError) as caught:
        adapter.load(silent, threading.Event())
    assert adapter.state is LoadState.UNLOADED
    return str(caught.value)


@pytest.mark.statement("E000-30")
def test_that_the_cell_named_holds_the_maps_greatest_place(tmp_path: Path) -> None:
    reply = ask(made(write_tiny_network(tmp_path)), question())
    assert reply.heat_map is not None
    values = reply.heat_map.values
    assert values.shape == (64, 64)
    assert values.min() >= 0
    assert values.max() == 1
    row, column = np.unravel_index(int(values.argmax()), values.shape)
    assert reply.text == f"{'ABCDEFGH'[row // 8]}{column // 8 + 1}"
    assert reply.note.startswith("score ")


def test_that_the_network_is_shown_the_image_without_the_grid(tmp_path: Path) -> None:
    adapter = made(write_tiny_network(tmp_path))
    about = facts(item="p|Edema", plain=noise(48, 1))
    with_grid = request(about, png=question(seed=7).images[0].png)
    assert adapter.generate(with_grid).body == adapter.generate(request(about)).body


def test_that_findings_differ_and_spellings_do_not(tmp_path: Path) -> None:
    adapter = made(write_tiny_network(tmp_path))
    effusion = ask(adapter, question("Pleural Effusion"))
    assert ask(adapter, question("pleural_effusion")).heat_map == effusion.heat_map
    assert ask(adapter, question("Edema")).note != effusion.note


def test_that_a_finding_that_was_not_learned_is_a_failed_trial(tmp_path: Path) -> None:
    adapter = made(write_tiny_network(tmp_path))
    with pytest.raises(
        ProviderError, match="was not trained on 'Lung Lesion'"
    ) as caught:
        adapter.generate(question("Lung Lesion"))
    assert caught.value.retry_class is RetryClass.FAIL
    assert "pleural effusion" in caught.value.how


def test_that_numbers_without_end_are_a_failed_trial(tmp_path: Path) -> None:
    card = write_tiny_network(tmp_path)
    card.write_text(card.read_text().replace("std = [0.25]", "range = [0.0, 1e300]"))
    with (
        np.errstate(over="ignore"),
        pytest.raises(ProviderError, match="or undefined numbers"),
    ):
        made(card).generate(question())


def test_that_it_is_loaded_and_unloaded_as_told(tmp_path: Path) -> None:
    adapter = made(write_tiny_network(tmp_path))
    assert isinstance(adapter, Loadable)
    before = adapter.memory_bytes()
    told: list[float] = []
    adapter.load(lambda part, _what: told.append(part), threading.Event())
    states = [adapter.state]
    assert told == sorted(told)
    assert told[-1] == 1.0
    weights = sum(4 * t.numel() for t in tiny_net().parameters())
    assert adapter.memory_bytes() == weights < before
    adapter.unload()
    states.append(adapter.state)
    assert states == [LoadState.LOADED, LoadState.UNLOADED]


def test_that_an_interruption_stops_the_loading_that_a_question_waits_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter, began = made(write_tiny_network(tmp_path)), threading.Event()

    def endless(
        _card: Card, _device: str, _told: Progress, cancelled: threading.Event
    ) -> NoReturn:
        began.set()
        assert cancelled.wait(300)
        raise LoadCancelledError("Loading the model was cancelled.")

    with monkeypatch.context() as patched, ThreadPoolExecutor(1) as pool:
        patched.setattr(networks, "load_network", endless)
        asking = pool.submit(adapter.generate, question())
        assert began.wait(300)
        adapter.interrupt()
        with pytest.raises(ProviderError) as caught:
            asking.result(30)
    assert (caught.value.reason, caught.value.retry_class) == (
        "cancelled",
        RetryClass.RETRY,
    )
    assert adapter.state is LoadState.UNLOADED
    assert ask(adapter, question()).heat_map is not None


def test_that_its_identity_follows_card_and_weights(tmp_path: Path) -> None:
    card = write_tiny_network(tmp_path)
    first = made(card).identity(0)
    assert made(card).identity(1) == first
    card.write_text(card.read_text().replace("0.25", "0.26"))
    second = made(card).identity(0)
    weights = tmp_path / "net.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    third = made(card).identity(0)
    assert len({first.revision, second.revision, third.revision}) == 3
    assert first.local["torch"] == metadata.version("torch")


@pytest.mark.parametrize("suffix", ["pt", "safetensors"])
def test_that_a_checkpoint_with_entry_and_prefix_is_read(
    tmp_path: Path, suffix: str
) -> None:
    plain = ask(made(write_tiny_network(tmp_path)), question())
    lines = f'factory = "{FACTORY}"\nweights = "net.{suffix}"\n'
    if suffix == "pt":
        held = {f"module.{k}": v for k, v in tiny_net().state_dict().items()}
        torch.save({"epoch": 3, "state_dict": held}, tmp_path / "net.pt")
        lines += 'entry = "state_dict"\nprefix = "module."'
    card = write_tiny_network(tmp_path, lines)
    assert ask(made(card), question()) == plain


def test_that_an_exported_network_answers_the_same_once_trusted(tmp_path: Path) -> None:
    plain = ask(made(write_tiny_network(tmp_path)), question())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(tiny_net(), (torch.zeros(1, 1, SIDE, SIDE),))
        torch.export.save(program, tmp_path / "net.pt2")
    card = write_tiny_network(tmp_path, 'exported = "net.pt2"')
    sha256 = file_sha256(tmp_path / "net.pt2")
    said = refusal(made(card, None))
    assert "may contain code" in said
    assert f'trusted = "{sha256}"' in said
    reply = ask(made(card, sha256), question())
    assert reply.text == plain.text
    assert reply.heat_map == plain.heat_map


def test_that_a_torchscript_network_answers_the_same_once_trusted(
    tmp_path: Path,
) -> None:
    plain = ask(made(write_tiny_network(tmp_path)), question())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        script = torch.jit.script(WithMaps(tiny_net()))
        torch.jit.save(script, tmp_path / "net.pt")
    card = write_tiny_network(tmp_path, 'torchscript = "net.pt"', layer="")
    sha256 = file_sha256(tmp_path / "net.pt")
    assert "may contain code" in refusal(made(card, "0" * 64))
    reply = ask(made(card, sha256), question())
    assert reply.text == plain.text
    assert reply.heat_map is not None
    assert plain.heat_map is not None
    np.testing.assert_allclose(reply.heat_map.values, plain.heat_map.values, atol=1e-3)
    named = write_tiny_network(tmp_path, 'torchscript = "net.pt"')
    assert "cannot be read" in refusal(made(named, sha256))


class _Runs:
    """Runs a command when unpickled, as an attacker's file would."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, (self.command,)


def test_that_weights_that_would_run_code_run_nothing(tmp_path: Path) -> None:
    trace = tmp_path / "it-ran"
    torch.save({"weight": _Runs(f"touch {trace}")}, tmp_path / "net.pt")
    lines = f'factory = "{FACTORY}"\nweights = "net.pt"'
    said = refusal(made(write_tiny_network(tmp_path, lines)))
    assert "none of it was run" in said
    assert not trace.exists()


def test_that_a_factory_runs_only_where_it_is_trusted(tmp_path: Path) -> None:
    trace = tmp_path / "it-ran"
    lines = (
        'factory = "os:system"\nweights = "net.safetensors"\n'
        f'[network.arguments]\ncommand = "touch {trace}"'
    )
    card = write_tiny_network(tmp_path, lines)
    assert "calls os:system, and is not marked" in refusal(made(card))
    assert not trace.exists()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (f'factory = "{FACTORY}"\nweights = "no.pt"', "'no.pt' cannot be read"),
        (f'factory = "{FACTORY}"\nweights = "card.toml"', "contain more than numbers"),
        (
            f'factory = "{FACTORY}"\nweights = "bad.safetensors"',
            "not a complete safetensors",
        ),
        (
            WHOLE + "\n[network.arguments]\nscores = 5",
            "do not fit the network",
        ),
        (
            WHOLE + "\n[network.arguments]\nsize = 5",
            "does not take the card's arguments",
        ),
    ],
)
def test_that_weights_that_do_not_fit_say_so(
    tmp_path: Path, lines: str, said: str
) -> None:
    (tmp_path / "bad.safetensors").write_bytes(b"no")
    assert said in refusal(made(write_tiny_network(tmp_path, lines)))


@pytest.mark.parametrize(
    ("factory", "said"),
    [
        ("no_such_package:Net", "is not installed"),
        ("tests.helpers.tiny_cnn:NoNet", "is not installed"),
        ("tests.helpers.requests:noise", "does not return a torch module"),
    ],
)
def test_that_a_factory_that_makes_no_network_says_so(
    tmp_path: Path, factory: str, said: str
) -> None:
    lines = f'factory = "{factory}"\nweights = "net.safetensors"'
    assert said in refusal(made(write_tiny_network(tmp_path, lines), factory))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('layer = "features"', 'layer = "nowhere"', "Its last ones are"),
        ('"Edema" = 1', '"Edema" = 3', "returns 3 scores, and the card names number 3"),
        ("mean = [0.5]\nstd = [0.25]", "channels = 3", "does not take 3 × 16 × 16"),
    ],
)
def test_that_a_card_that_does_not_fit_its_network_says_so(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    card = write_tiny_network(tmp_path)
    card.write_text(card.read_text().replace(old, new))
    assert said in refusal(made(card))


def test_that_a_damaged_network_file_says_so(tmp_path: Path) -> None:
    for kind, layer in (("exported", "features"), ("torchscript", "")):
        (tmp_path / "net.bin").write_bytes(b"PK\x03\x04 no")
        card = write_tiny_network(tmp_path, f'{kind} = "net.bin"', layer=layer)
        sha256 = file_sha256(tmp_path / "net.bin")
        assert "damaged, or not a network that torch can open" in refusal(
            made(card, sha256)
        )


def test_that_a_network_on_a_device_that_is_not_there_says_so(tmp_path: Path) -> None:
    card = write_tiny_network(tmp_path)
    if not torch.backends.mps.is_available():
        assert "run on mps, which torch does not" in refusal(made(card, device="mps"))


def test_that_the_factory_that_tests_use_is_the_tiny_network() -> None:
    assert isinstance(tiny_net(), TinyNet)
