from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydicom.dataset import Dataset
from pydicom.pixels.processing import apply_color_lut

from tests.helpers.make_dicom import dicom_dataset, save_dicom
from viewer.readers.dicom.color import apply_palette, expand_segments
from viewer.readers.dicom.decoding import load_dicom

INDICES = np.arange(12, dtype=np.uint8).reshape(3, 4)
NAMES = ("Red", "Green", "Blue")


def palette_dataset(
    indices: npt.NDArray[Any], tables: list[bytes], descriptor: list[int]
) -> Dataset:
    dataset = dicom_dataset(indices, PhotometricInterpretation="PALETTE COLOR")
    kind = "SS" if indices.dtype.kind == "i" else "US"
    for name, table in zip(NAMES, tables, strict=True):
        keyword = f"{name}PaletteColorLookupTable"
        dataset.add_new(f"{keyword}Descriptor", kind, descriptor)
        dataset.add_new(f"{keyword}Data", "OW", table)
    return dataset


@pytest.mark.parametrize("bits", [8, 16])
def test_that_a_palette_gives_the_colours_pydicom_finds(
    tmp_path: Path, bits: int
) -> None:
    generator = np.random.default_rng(bits)
    tables = [
        generator.integers(0, 1 << bits, 8).astype(f"<u{bits // 8}") for _ in NAMES
    ]
    tables[0][-1] = (1 << bits) - 1
    tables[1][-1] = tables[2][-1] = (1 << bits) - 1
    dataset = palette_dataset(INDICES, [t.tobytes() for t in tables], [8, 2, bits])
    path = save_dicom(dataset, tmp_path / "a")
    expected = apply_color_lut(INDICES, dataset) >> (bits - 8)
    assert (load_dicom(path).values == expected).all()


def test_that_a_signed_palette_starts_below_zero(tmp_path: Path) -> None:
    table = np.arange(10, 14, dtype=np.uint8).tobytes()
    indices = np.array([[-3, -2, -1, 0, 1, 5]], np.int8)
    dataset = palette_dataset(indices, [table] * 3, [4, -2, 8])
    values = load_dicom(save_dicom(dataset, tmp_path / "a")).values
    assert values[0, :, 0].tolist() == [10, 10, 11, 12, 13, 13]


def test_that_a_start_written_without_its_sign_is_still_below_zero() -> None:
    table = np.arange(10, 14, dtype=np.uint8).tobytes()
    dataset = palette_dataset(INDICES, [table] * 3, [4, 65534, 8])
    dataset.set_original_encoding(False, True)
    values = apply_palette(dataset, np.array([[-2, -1]], np.int16))
    assert values[0, :, 0].tolist() == [10, 11]


def test_that_eight_bit_values_in_sixteen_bit_entries_are_not_darkened(
    tmp_path: Path,
) -> None:
    table = np.array([0, 100, 200, 255], "<u2").tobytes()
    dataset = palette_dataset(INDICES, [table] * 3, [4, 0, 16])
    values = load_dicom(save_dicom(dataset, tmp_path / "a")).values
    assert values[0, :, 0].tolist() == [0, 100, 200, 255]


def test_that_a_palette_of_bytes_is_swapped_where_the_file_is_big_endian() -> None:
    table = np.array([0, 256, 1024, 65280], ">u2").tobytes()
    dataset = palette_dataset(INDICES, [table] * 3, [4, 0, 16])
    dataset.set_original_encoding(False, False)
    assert apply_palette(dataset, INDICES)[0, :, 0].tolist() == [0, 1, 4, 255]


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 9), st.integers(0, 65535))))
def test_that_segments_expand_as_pydicom_expands_them(
    segments: list[tuple[bool, int, int]],
) -> None:
    from pydicom.pixels.processing import _expand_segmented_lut

    words = [0, 1, 7]
    for discrete, length, value in segments:
        run = [(value + i) % 65536 for i in range(length)]
        words += [0, length, *run] if discrete else [1, length, value]
    assert expand_segments(words, 2) == _expand_segmented_lut(tuple(words), "<H")


@pytest.mark.parametrize("word_bytes", [1, 2])
def test_that_an_indirect_segment_repeats_from_a_byte_offset(word_bytes: int) -> None:
    # PS3.3 C.7.9.2.3: three words of discrete, then linear, then both once more.
    offset = [0, 0, 0, 0] if word_bytes == 1 else [0, 0]
    words = [0, 2, 10, 20, 1, 2, 40, 2, 2, *offset]
    assert expand_segments(words, word_bytes) == [10, 20, 30, 40, 10, 20, 30, 40]


def test_that_an_indirect_offset_counts_bytes_not_words() -> None:
    words = [0, 2, 10, 20, 1, 2, 40, 2, 1, 8, 0]
    assert expand_segments(words, 2) == [10, 20, 30, 40, 40, 40]


def test_that_a_segmented_palette_is_read_from_a_file(tmp_path: Path) -> None:
    dataset = palette_dataset(INDICES, [b"", b"", b""], [12, 0, 16])
    words = np.array([0, 1, 0, 1, 11, 0xFF00], "<u2").tobytes()
    for name in NAMES:
        delattr(dataset, f"{name}PaletteColorLookupTableData")
        dataset.add_new(f"Segmented{name}PaletteColorLookupTableData", "OW", words)
    values = load_dicom(save_dicom(dataset, tmp_path / "a")).values
    expected = (np.rint(np.linspace(0, 0xFF00, 12)).astype(int) >> 8).tolist()
    assert values[..., 1].ravel().tolist() == expected


def test_that_an_unknown_segment_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown opcode"):
        expand_segments([9, 1, 2], 2)
