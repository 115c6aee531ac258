import contextlib
import struct
from pathlib import Path

import gguf
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.tiny_gguf import write_tiny_model
from viewer.domain.errors import OverreadError, UnreadableInputError
from viewer.models.gguf_local import header as header_module
from viewer.models.gguf_local.header import read_header


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_tiny_model(tmp_path_factory.mktemp("gguf"))


def test_that_metadata_and_tensors_equal_those_of_another_reader(
    files: tuple[Path, Path],
) -> None:
    for path in files:
        ours, theirs = read_header(path), gguf.GGUFReader(path)
        for key, value in ours.metadata.items():
            field = theirs.fields[key]
            if field.types[0] == gguf.GGUFValueType.ARRAY:
                assert value == (int(field.types[1]), len(field.data))
            else:
                assert value == field.contents()
        assert {t.name: tuple(t.shape) for t in theirs.tensors} == {
            name: tensor.shape for name, tensor in ours.tensors.items()
        }
        first = theirs.tensors[0].data_offset
        for tensor in theirs.tensors:
            mine = ours.tensors[tensor.name]
            assert mine.offset == tensor.data_offset - first
            assert mine.end == mine.offset + tensor.n_bytes


def test_that_the_sizes_of_blocks_are_those_of_ggml() -> None:
    for kind, sizes in header_module._BLOCKS.items():
        assert gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType(kind)] == sizes


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data[:-1], "ends before its last weights"),
        (lambda data: data[:5000], "damaged header"),
        (lambda data: data[:10], "not a GGUF file"),
        (lambda data: b"PK" + data[2:], "not a GGUF file"),
        (lambda data: data[:4] + struct.pack("<I", 1) + data[8:], "version 1"),
        (lambda data: data[:8] + b"\xff" * 8 + data[16:], "damaged header"),
    ],
)
def test_that_a_file_that_is_not_whole_is_named_with_its_fault(
    files: tuple[Path, Path], tmp_path: Path, change: object, said: str
) -> None:
    assert callable(change)
    path = tmp_path / "broken.gguf"
    path.write_bytes(change(files[0].read_bytes()))
    with pytest.raises(UnreadableInputError, match=said):
        read_header(path)


def test_that_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match=r"'no\.gguf' cannot be read"):
        read_header(tmp_path / "no.gguf")


@settings(deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 12))
def test_that_a_spoilt_header_is_read_or_refused(
    files: tuple[Path, Path],
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    count: int,
) -> None:
    rng = np.random.default_rng(seed)
    data = bytearray(files[seed % 2].read_bytes())
    for place in rng.integers(0, 6000, count):
        data[place] = rng.integers(0, 256)
    path = tmp_path_factory.getbasetemp() / "spoilt.gguf"
    path.write_bytes(data)
    with contextlib.suppress(OverreadError):
        assert read_header(path).size == len(data)
