"""Values, spacing and number of slices as SimpleITK reads them, header by header."""

import bz2
import gzip
import math
import struct
import zlib
from pathlib import Path
from typing import Any, Final

import nibabel
import numpy as np
import numpy.typing as npt
import pytest

from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.domain.image import Photometric
from viewer.domain.image_geometry import ImageGeometry
from viewer.readers.headers import read_file_header
from viewer.readers.pixels import load_pixels

SHAPE: Final = (4, 3, 2)
VALUES: Final = np.arange(24, dtype="<u2").reshape(SHAPE, order="F") * 1000
RAW: Final = VALUES.tobytes(order="F")
TEXT: Final = " ".join(map(str, VALUES.ravel("F"))).encode()
LPS: Final = "space: LPS\nspace directions: (1,0,0) (0,2,0) (0,0,3)\n"


def sitk() -> Any:  # noqa: ANN401 - it has no types
    return pytest.importorskip("SimpleITK", reason="it reads the same file to compare")


def read(path: Path) -> tuple[npt.NDArray[Any], ImageGeometry]:
    """Return the slices as they are shown, and the geometry of the first."""
    header = read_file_header(path)
    images = [load_pixels(ImageRef(path, n)) for n in range(header.frames)]
    return np.stack([image.values for image in images]), header.geometry()


def assert_as_simpleitk(path: Path) -> None:
    """Compare with what SimpleITK reads, of which the first component is shown."""
    image = sitk().ReadImage(str(path))
    expected = sitk().GetArrayFromImage(image)
    if image.GetNumberOfComponentsPerPixel() > 1:
        expected = expected[..., 0]
    values, geometry = read(path)
    order = sitk().DICOMOrientImageFilter.GetOrientationFromDirectionCosines
    if image.GetDimension() == 3 and geometry.axes is not None:
        assert order(image.GetDirection()) == "LPS", "it would have to be turned"
    flat = expected.reshape(-1, *expected.shape[-2:])
    np.testing.assert_array_equal(values, flat.astype(values.dtype))
    assert values.dtype.kind == flat.dtype.kind
    column_mm, row_mm = image.GetSpacing()[:2]
    if geometry.spacing is None:
        assert (column_mm, row_mm) == (1, 1), "SimpleITK's where a file has none"
    else:
        assert geometry.spacing.row_mm == pytest.approx(row_mm)
        assert geometry.spacing.column_mm == pytest.approx(column_mm)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("suffix", ["nii", "nii.gz", "nrrd", "nhdr", "mha", "mhd"])
def test_that_numbers_of_every_type_are_read(
    tmp_path: Path, suffix: str, packed: bool
) -> None:
    for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"):
        values = np.random.default_rng(0).integers(0, 100, (4, 5, 6)).astype(kind)
        is_float, of = kind[0] == "f", np.iinfo("i4" if kind[0] == "f" else kind)
        values.ravel()[:2] = [-1.25, 1e30] if is_float else [of.min, of.max]
        image = sitk().GetImageFromArray(values)
        image.SetSpacing((0.5, 0.75, 2))
        path = tmp_path / f"{kind}.{suffix}"
        sitk().WriteImage(image, str(path), packed)
        assert_as_simpleitk(path)


def nrrd(path: Path, fields: str, data: bytes = RAW, encoding: str = "raw") -> Path:
    """Write a NRRD file of 4 × 3 × 2 values, unless the fields say otherwise."""
    told = {line.partition(": ")[0] for line in fields.splitlines()}
    usual = {"type": "uint16", "dimension": "3", "sizes": "4 3 2", "endian": "little"}
    lines = [f"{name}: {text}" for name, text in usual.items() if name not in told]
    header = "\n".join(["NRRD0004", *lines, f"encoding: {encoding}"])
    path.write_bytes(f"{header}\n{fields}\n".encode() + data)
    return path


NRRD: Final = {
    "nothing else": ("", RAW, "raw"),
    "big endian": ("endian: big\n", VALUES.astype(">u2").tobytes("F"), "raw"),
    "gzip": ("", gzip.compress(RAW), "gz"),
    "text": ("", TEXT, "txt"),
    "hex": ("", RAW.hex().encode(), "hex"),
    "data at the end": ("byte skip: -1\n", b"junk" + RAW, "raw"),
    "lines and bytes before": ("line skip: 1\nbyteskip: 2\n", b"a\nbc" + RAW, "raw"),
    "a line before gzip": ("line skip: 1\n", b"a\n" + gzip.compress(RAW), "gzip"),
    "bytes before, packed": ("byte skip: 2\n", gzip.compress(b"ab" + RAW), "gz"),
    "spacings": ("spacings: 0.5 0.75 2\n", RAW, "raw"),
    "patient": (LPS, RAW, "raw"),
    "scanner": (LPS.replace("LPS", "scanner-xyz"), RAW, "raw"),
    "handedness": (LPS.replace("LPS", "3D-right-handed"), RAW, "raw"),
    "no name of a space": (LPS.replace("space: LPS", "space dimension: 3"), RAW, "raw"),
    "comments and keys": ("# sizes: 1\ntype:=float\ndata file:=/a\n", RAW, "raw"),
    "centers": (f"{LPS}centerings: cell cell cell\n", RAW, "raw"),
    "no slices": ("dimension: 2\nsizes: 4 6\n", RAW, "raw"),
    "four axes": ("dimension: 4\nsizes: 2 2 3 2\n", RAW, "raw"),
    "time": (
        (
            "dimension: 4\nsizes: 2 2 3 2\nspacings: 1 2 3 nan\n"
            "kinds: space space space time\n"
        ),
        RAW,
        "raw",
    ),
    "vector first": (
        (
            "dimension: 4\nsizes: 2 2 3 2\nkinds: vector domain domain domain\n"
            f"{LPS.replace(': (', ': none (')}"
        ),
        RAW,
        "raw",
    ),
    "vector between": (
        (
            "dimension: 4\nsizes: 2 2 3 2\nkinds: domain list domain domain\n"
            f"{LPS.replace(') (0,2', ') none (0,2')}"
        ),
        RAW,
        "raw",
    ),
    "vector last": (
        (
            "dimension: 4\nsizes: 2 2 3 2\nkinds: domain domain domain list\n"
            f"{LPS.replace('3)', '3) none')}"
        ),
        RAW,
        "raw",
    ),
    "vector last, packed": (
        (
            "dimension: 4\nsizes: 2 2 3 2\nkinds: domain domain domain list\n"
            f"{LPS.replace('3)', '3) none')}"
        ),
        gzip.compress(RAW),
        "gz",
    ),
}


@pytest.mark.parametrize("name", NRRD)
def test_that_nrrd_headers_are_read_as_simpleitk_does(
    tmp_path: Path, name: str
) -> None:
    fields, data, encoding = NRRD[name]
    assert_as_simpleitk(nrrd(tmp_path / "a.nrrd", fields, data, encoding))


def test_that_lines_may_end_as_on_windows(tmp_path: Path) -> None:
    path = nrrd(tmp_path / "a.nrrd", LPS, b"")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n") + RAW)
    assert_as_simpleitk(path)
    path = metaimage(tmp_path / "a.mha", "", b"")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n") + RAW)
    assert_as_simpleitk(path)


MORE_NRRD: Final = {
    "bzip2": (LPS, bz2.compress(RAW), "bz2"),
    "time without a direction": (
        f"dimension: 4\nsizes: 4 3 1 2\n{LPS.replace('3)', '3) none')}",
        RAW,
        "raw",
    ),
    "time of a patient's space": (
        (
            "dimension: 4\nsizes: 4 3 1 2\nspace: LPST\n"
            "space directions: (1,0,0,0) (0,2,0,0) (0,0,3,0) (0,0,0,1)\n"
        ),
        RAW,
        "raw",
    ),
    "units": (
        f'{LPS}space units: "cm" "cm" "cm"\n'.replace("1,", ".1,").replace("2,", ".2,"),
        RAW,
        "raw",
    ),
}


@pytest.mark.parametrize("name", MORE_NRRD)
def test_that_nrrd_headers_that_simpleitk_refuses_are_read(
    tmp_path: Path, name: str
) -> None:
    fields, data, encoding = MORE_NRRD[name]
    values, geometry = read(nrrd(tmp_path / "a.nrrd", fields, data, encoding))
    np.testing.assert_array_equal(values, VALUES.transpose())
    assert geometry.letters == ("L", "P")
    assert geometry.spacing is not None
    assert (geometry.spacing.row_mm, geometry.spacing.column_mm) == (2, 1)


def test_that_a_vector_without_a_kind_is_told_by_its_direction(tmp_path: Path) -> None:
    fields = f"dimension: 4\nsizes: 2 2 3 2\n{LPS.replace(': (', ': none (')}"
    values, _ = read(nrrd(tmp_path / "a.nrrd", fields))
    first = VALUES.ravel("F").reshape(2, 2, 3, 2, order="F")[0]
    np.testing.assert_array_equal(values, first.transpose())


def metaimage(
    path: Path, fields: str, data: bytes = RAW, pixels: str = "LOCAL"
) -> Path:
    """Write a MetaImage of 4 × 3 × 2 values, unless the fields say otherwise."""
    told = {line.partition(" ")[0] for line in fields.splitlines()}
    usual = {"NDims": "3", "DimSize": "4 3 2", "ElementType": "MET_USHORT"}
    lines = [f"{name} = {text}" for name, text in usual.items() if name not in told]
    header = "\n".join(["ObjectType = Image", *lines])
    last = f"ElementDataFile = {pixels}\n"
    path.write_bytes(f"{header}\n{fields}{last}".encode() + data)
    return path


PACKED: Final = zlib.compress(RAW)
MATRIX: Final = "TransformMatrix = 1 0 0 0 1 0 0 0 1\n"
METAIMAGE: Final = {
    "nothing else": ("", RAW),
    "big endian": ("ElementByteOrderMSB = True\n", VALUES.astype(">u2").tobytes("F")),
    "big endian, by another name": (
        "BinaryDataByteOrderMSB = True\n",
        VALUES.astype(">u2").tobytes("F"),
    ),
    "zlib": (f"CompressedData = True\nCompressedDataSize = {len(PACKED)}\n", PACKED),
    "data at the end": ("HeaderSize = -1\n", b"junk" + RAW),
    "direction": (f"{MATRIX}Offset = 1 2 3\nElementSpacing = 1 2 3\n", RAW),
    "direction by another name": (
        (
            f"{MATRIX.replace('TransformMatrix', 'Orientation')}Position = 1 2 3\n"
            "ElementSize = 1 2 3\n"
        ),
        RAW,
    ),
    "an orientation in letters": (
        f"{MATRIX}AnatomicalOrientation = ASR\nElementSpacing = 1 2 3\n",
        RAW,
    ),
    "longs are of four bytes": ("ElementType = MET_LONG\nDimSize = 2 3 2\n", RAW),
    "long longs of eight": ("ElementType = MET_LONG_LONG\nDimSize = 3 1 2\n", RAW),
    "two channels": ("ElementNumberOfChannels = 2\nDimSize = 2 3 2\n", RAW),
    "channels in an array": (
        (
            "ElementType = MET_USHORT_ARRAY\nElementNumberOfChannels = 2\n"
            "DimSize = 2 3 2\n"
        ),
        RAW,
    ),
    "four axes": ("NDims = 4\nDimSize = 2 2 3 2\n", RAW),
    "no slices": ("NDims = 2\nDimSize = 4 6\n", RAW),
}


@pytest.mark.parametrize("name", METAIMAGE)
def test_that_metaimage_headers_are_read_as_simpleitk_does(
    tmp_path: Path, name: str
) -> None:
    fields, data = METAIMAGE[name]
    assert_as_simpleitk(metaimage(tmp_path / "a.mha", fields, data))


def test_that_a_header_before_the_pixels_is_passed_over(tmp_path: Path) -> None:
    path = metaimage(tmp_path / "a.mhd", "HeaderSize = 3\n", b"", "a.raw")
    (tmp_path / "a.raw").write_bytes(b"abc" + RAW)
    assert_as_simpleitk(path)
    path = metaimage(tmp_path / "a.mha", "HeaderSize = 00000\n", b"")
    size = len(path.read_bytes())
    assert_as_simpleitk(metaimage(path, f"HeaderSize = {size:05}\n"))


def test_that_a_list_may_hold_several_slices_a_file(tmp_path: Path) -> None:
    path = metaimage(tmp_path / "a.mhd", "DimSize = 2 3 4\n", b"a.0\na.1\n", "LIST 3")
    for n in range(2):
        (tmp_path / f"a.{n}").write_bytes(RAW[n * 24 : n * 24 + 24])
    values, _ = read(path)
    np.testing.assert_array_equal(values.ravel(), VALUES.ravel("F"))


def test_that_a_metaimage_may_have_its_spacing_in_centimetres(tmp_path: Path) -> None:
    fields = f"{MATRIX}DistanceUnits = cm\nElementSpacing = 0.1 0.2 0.3\n"
    _, geometry = read(metaimage(tmp_path / "a.mha", fields))
    assert geometry.spacing is not None
    assert geometry.spacing.row_mm == pytest.approx(2)


def nifti(values: npt.NDArray[Any] = VALUES, version: int = 1) -> Any:  # noqa: ANN401 - nor has it
    """Return a NIfTI image that can be changed before it is saved."""
    kind = nibabel.Nifti1Image if version == 1 else nibabel.Nifti2Image
    return kind(values, np.diag([-1.0, -2.0, 3.0, 1.0]))  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("suffix", ["nii", "nii.gz"])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("order", ["<", ">"])
def test_that_both_versions_and_byte_orders_of_nifti_are_read(
    tmp_path: Path, suffix: str, version: int, order: str
) -> None:
    path = tmp_path / f"a.{suffix}"
    plain = nifti(version=version)
    header = plain.header.as_byteswapped(order)
    type(plain)(VALUES, None, header).to_filename(path)
    np.testing.assert_array_equal(read(path)[0], VALUES.transpose())
    if version == 1:  # SimpleITK reads no other
        assert_as_simpleitk(path)


def changed(path: Path, *fields: tuple[str, int, float]) -> Path:
    """Write numbers into the header of a NIfTI-1 file: format, place and value each."""
    data = bytearray(path.read_bytes())
    for form, at, value in fields:
        struct.pack_into(f"<{form}", data, at, value)
    path.write_bytes(data)
    return path


SLOPE, INTERCEPT, OFFSET, UNITS, QFAC = 112, 116, 108, 123, 76
QFORM_CODE, SFORM_CODE, QUATERNION_D = 252, 254, 264


@pytest.mark.parametrize(
    ("slope", "intercept"),
    [(1, 0), (2, -3), (0.25, 0), (0, 7), (math.nan, 0), (1, -1024), (-1, 0)],
)
def test_that_stored_numbers_are_rescaled(
    tmp_path: Path, slope: float, intercept: float
) -> None:
    path = tmp_path / "a.nii"
    nifti().to_filename(path)
    changed(path, ("f", SLOPE, slope), ("f", INTERCEPT, intercept))
    values, _ = read(path)
    known = slope != 0 and not math.isnan(slope)
    stored = VALUES.transpose().astype(np.float64)
    np.testing.assert_array_equal(
        values, stored * slope + intercept if known else stored
    )
    if known:
        assert_as_simpleitk(path)


def test_that_numbers_may_begin_behind_an_extension(tmp_path: Path) -> None:
    path = tmp_path / "a.nii"
    image = nifti()
    extension = nibabel.nifti1.Nifti1Extension("comment", b"a" * 100)
    image.header.extensions.append(extension)
    image.to_filename(path)
    assert path.stat().st_size > 352 + len(RAW)
    assert_as_simpleitk(path)


def test_that_lengths_may_be_in_metres_or_micrometres(tmp_path: Path) -> None:
    for code, millimetres in ((1, 1000), (3, 0.001)):
        path = tmp_path / f"a{code}.nii"
        nifti().to_filename(path)
        changed(path, ("b", UNITS, code))
        _, geometry = read(path)
        assert geometry.spacing is not None
        assert geometry.spacing.row_mm == pytest.approx(2 * millimetres)
        assert_as_simpleitk(path)


def test_that_the_sform_goes_before_the_qform_if_it_has_a_code(tmp_path: Path) -> None:
    path = tmp_path / "a.nii"
    image = nifti()
    image.set_sform(np.diag([-1.0, -2, 3, 1]), 1)
    image.set_qform(np.diag([1.0, 2, 3, 1]), 1)
    image.to_filename(path)
    stored, turned = VALUES.transpose(), VALUES.transpose()[:, ::-1, ::-1]
    for sform, qform, expected, letters in (
        (1, 1, stored, ("L", "P")),
        (4, 0, stored, ("L", "P")),
        (0, 2, turned, ("L", "P")),
        (0, 0, stored, ()),
    ):
        changed(path, ("h", SFORM_CODE, sform), ("h", QFORM_CODE, qform))
        values, geometry = read(path)
        np.testing.assert_array_equal(values, expected)
        assert geometry.letters == letters
        assert geometry.spacing is not None
        assert geometry.spacing.row_mm == 2


def test_that_a_qfac_of_0_is_taken_for_1(tmp_path: Path) -> None:
    path = tmp_path / "a.nii"
    image = nifti()
    image.set_sform(None, 0)
    image.set_qform(np.diag([-1.0, -2, 3, 1]), 1)
    image.to_filename(path)
    for qfac in (0, 1):
        assert read(changed(path, ("f", QFAC, qfac)))[1].position.z == 0  # type: ignore[union-attr]
        assert_as_simpleitk(path)


@pytest.mark.parametrize(
    ("length", "letters"), [(1.0, ("L", "P")), (1.01, ("L", "P")), (math.nan, ())]
)
def test_that_a_quaternion_need_not_be_of_unit_length(
    tmp_path: Path, length: float, letters: tuple[str, ...]
) -> None:
    path = tmp_path / "a.nii"
    image = nifti()
    image.set_sform(None, 0)
    image.set_qform(np.diag([-1.0, -2, 3, 1]), 1)
    image.to_filename(path)
    _, geometry = read(changed(path, ("f", QUATERNION_D, length)))
    assert geometry.letters == letters
    if letters:
        assert_as_simpleitk(path)


@pytest.mark.parametrize("names", ["RGB", "RGBA"])
def test_that_the_colours_of_nifti_are_read(tmp_path: Path, names: str) -> None:
    values = np.random.default_rng(0).integers(0, 256, (4, 3, 2, len(names)), np.uint8)
    path = tmp_path / "a.nii.gz"
    nifti(values.view([(name, "u1") for name in names])[..., 0]).to_filename(path)
    image = load_pixels(ImageRef(path, 1))
    assert image.photometric is Photometric.RGB
    np.testing.assert_array_equal(image.values, values[:, :, 1, :3].swapaxes(0, 1))


def test_that_a_vector_of_nifti_is_not_taken_for_slices(tmp_path: Path) -> None:
    path = tmp_path / "a.nii"
    image = nifti(VALUES.reshape(4, 3, 1, 1, 2))
    image.to_filename(path)
    assert len(read(path)[0]) == 2
    image.header.set_intent("vector")
    image.to_filename(path)
    assert len(read(path)[0]) == 1
    assert_as_simpleitk(path)


def test_that_a_file_beside_it_is_not_read_instead(tmp_path: Path) -> None:
    """SimpleITK reads ``a.nii`` where it is told to read ``a.nii.gz``."""
    nifti().to_filename(tmp_path / "a.nii.gz")
    nifti(VALUES + 1).to_filename(tmp_path / "a.nii")
    np.testing.assert_array_equal(read(tmp_path / "a.nii.gz")[0], VALUES.transpose())


UNKNOWN: Final = {
    "no space": ("a.nrrd", "spacings: 1 2 3\n"),
    "a scanner's": ("a.nrrd", LPS.replace("LPS", "scanner-xyz")),
    "a handedness": ("a.nrrd", LPS.replace("LPS", "3D-left-handed")),
    "a flat space": ("a.nrrd", LPS.replace("0,0,3", "0,2,0")),
    "no direction": ("a.mha", "ElementSpacing = 1 2 3\n"),
    "letters alone": ("a.mha", "AnatomicalOrientation = RAI\nElementSpacing = 1 2 3\n"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_that_a_volume_of_unknown_direction_has_no_letters(
    tmp_path: Path, name: str
) -> None:
    file, fields = UNKNOWN[name]
    write = nrrd if file == "a.nrrd" else metaimage
    values, geometry = read(write(tmp_path / file, fields))
    np.testing.assert_array_equal(values, VALUES.transpose())
    assert (geometry.letters, geometry.axes, geometry.position) == ((), None, None)
    assert geometry.spacing is not None
    assert (geometry.spacing.row_mm, geometry.spacing.column_mm) == (2, 1)


def test_that_no_spacing_is_made_up(tmp_path: Path) -> None:
    assert read(nrrd(tmp_path / "a.nrrd", ""))[1].spacing is None
    assert read(metaimage(tmp_path / "a.mha", ""))[1].spacing is None
    units = 'spacings: 1 2 3\nunits: "pixel" "pixel" "pixel"\n'
    assert read(nrrd(tmp_path / "a.nrrd", units))[1].spacing is None


def test_that_letters_need_no_position(tmp_path: Path) -> None:
    _, geometry = read(nrrd(tmp_path / "a.nrrd", LPS))
    assert geometry.letters == ("L", "P")
    assert geometry.position is None


REFUSED: Final = {
    "time before space": (
        "a.nrrd",
        "dimension: 4\nsizes: 2 2 3 2\nkinds: time domain domain domain\n"
        + LPS.replace(": (", ": none ("),
        "axes in an unsupported order",
    ),
    "two axes of components": (
        "a.nrrd",
        "dimension: 4\nsizes: 2 2 3 2\nkinds: list vector domain domain\n",
        "axes in an unsupported order",
    ),
    "packed data at the end": (
        "a.nrrd",
        "encoding: gzip\nbyte skip: -1\n",
        "cannot be read as a volume",
    ),
    "no components": (
        "a.nrrd",
        "dimension: 4\nsizes: 0 4 3 2\nkinds: list domain domain domain\n",
        "claims an impossible size of 4 × 3 × 2 voxels",
    ),
    "blocks": ("a.nrrd", "type: block\nblock size: 2\n", "cannot be read as a volume"),
    "text": ("a.mha", "BinaryData = False\n", "stores its pixels as text"),
    "no such type": ("a.mha", "ElementType = MET_STRING\n", "cannot be read as a vol"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_that_what_is_not_read_is_refused(tmp_path: Path, name: str) -> None:
    file, fields, says = REFUSED[name]
    path = (nrrd if file == "a.nrrd" else metaimage)(tmp_path / file, fields)
    with pytest.raises(UnreadableInputError, match=says):
        read(path)


def test_that_other_encodings_and_numbers_are_refused(tmp_path: Path) -> None:
    path = nrrd(tmp_path / "a.nrrd", "", RAW, "zrl")
    with pytest.raises(UnreadableInputError, match="in an unsupported encoding"):
        read(path)
    path = tmp_path / "a.nii"
    nifti(VALUES.astype(np.complex64)).to_filename(path)
    with pytest.raises(UnreadableInputError, match="contains complex64 values"):
        read(path)


def test_that_a_list_of_files_of_unequal_length_is_refused(tmp_path: Path) -> None:
    for name in ("a.0", "a.1", "a.2", "a.3", "a.4"):
        (tmp_path / name).write_bytes(RAW)
    names = b"a.0\na.1\na.2\na.3\na.4\n"
    path = metaimage(tmp_path / "a.mhd", "", names, "LIST")
    with pytest.raises(UnreadableInputError, match="cannot be read as a volume"):
        load_pixels(ImageRef(path, 1))
