import builtins
import collections
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from viewer.domain.errors import UnreadableInputError
from viewer.readers.files.harmless_pickle import load_harmless

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
NUMBERS = st.sampled_from(["<f4", ">f8", "<f2", "|u1", "<i8", ">i2", "|b1"])


OBJECTS = (
    b"\x80\x02cnumpy.core.multiarray\n_reconstruct\n)R(K\x01(K\x01tcnumpy\ndtype\n"
    b"U\x02O8\x85R\x89]K\x01atb."
)


class _Runs:
    """Calls something when unpickled, as an attacker's pickle would."""

    def __init__(self, call: object, *arguments: object) -> None:
        self.call, self.arguments = call, arguments

    def __reduce__(self) -> tuple[object, ...]:
        return self.call, self.arguments


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_that_plain_values_are_read_as_they_were_written(protocol: int) -> None:
    value = {
        "text": "Mü",
        "numbers": [1, -2, 2**40, 1.5, True, None],
        "pair": (320, 400),
        "order": collections.OrderedDict(a=1),
    }
    assert load_harmless(pickle.dumps(value, protocol), "a.pkl") == value


@given(protocol=st.sampled_from(PROTOCOLS), data=st.data())
def test_that_arrays_are_read_as_they_were_written(
    protocol: int, data: st.DataObject
) -> None:
    array = data.draw(hnp.arrays(data.draw(NUMBERS), hnp.array_shapes(max_side=4)))
    if data.draw(st.booleans()):
        array = np.asfortranarray(array)
    read = load_harmless(pickle.dumps({"map": array}, protocol), "a.pkl")["map"]
    assert read.dtype == array.dtype
    np.testing.assert_array_equal(read, array)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_that_numpy_scalars_are_read(protocol: int) -> None:
    value = [np.float32(0.5), np.int64(7)]
    assert load_harmless(pickle.dumps(value, protocol), "a.pkl") == [0.5, 7.0]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "bool"])
def test_that_tensors_are_read_as_they_were_written(protocol: int, dtype: str) -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    whole = (torch.rand(3, 5, 4) * 9).to(getattr(torch, dtype))
    parts = {
        "map": whole,
        "turned": whole.permute(2, 0, 1),
        "cut": whole[1:, ::2, 3],
        "one": whole[0, 0, 0],
        "none": whole[:0],
    }
    read = load_harmless(pickle.dumps(parts, protocol), "a.pkl")
    for name, part in parts.items():
        np.testing.assert_array_equal(read[name], part.numpy())


def test_that_a_trained_parameter_is_read_as_its_numbers() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    parameter = torch.nn.Parameter(torch.rand(2, 3))
    read = load_harmless(pickle.dumps([parameter], 2), "a.pkl")[0]
    np.testing.assert_array_equal(read, parameter.detach().numpy())


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "evil",
    [
        _Runs(os.system, "touch {trace}"),
        _Runs(builtins.eval, "__import__('os').system('touch {trace}')"),
        _Runs(builtins.exec, "open('{trace}', 'w').close()"),
        _Runs(subprocess.check_call, ["touch", "{trace}"]),
        _Runs(os.mkdir, "{trace}"),
        _Runs(Path, "{trace}"),
        _Runs(getattr, os, "system"),
        _Runs(open, "{trace}", "w"),
    ],
)
def test_that_a_pickle_that_would_run_code_runs_nothing(
    evil: _Runs, protocol: int, tmp_path: Path
) -> None:
    trace = str(tmp_path / "it-ran")
    evil.arguments = tuple(_with_trace(a, trace) for a in evil.arguments)
    try:
        data = pickle.dumps({"map": evil}, protocol)
    except (TypeError, pickle.PicklingError):  # a module cannot be pickled
        pytest.skip("this protocol cannot write it")
    _refused(data)
    assert not Path(trace).exists()


def _with_trace(argument: object, trace: str) -> object:
    if isinstance(argument, list):
        return [_with_trace(part, trace) for part in argument]
    return argument.format(trace=trace) if isinstance(argument, str) else argument


def _refused(data: bytes) -> None:
    with pytest.raises(UnreadableInputError, match="nothing in it was run"):
        load_harmless(data, "evil.pkl")


def test_that_code_inside_a_tensors_own_file_runs_nothing(tmp_path: Path) -> None:
    trace = tmp_path / "it-ran"
    inner = pickle.dumps(_Runs(os.system, f"touch {trace}"), 2)
    _refused(_storage_of(inner))
    magic = [0x1950A86A20F9469CFC6C, 1001, {}]
    whole = b"".join(pickle.dumps(v, 2) for v in magic) + inner
    _refused(_storage_of(whole))
    assert not trace.exists()


def _storage_of(inner: bytes) -> bytes:
    """Return the pickle that has torch open these bytes as a file of its own."""
    length = len(inner).to_bytes(4, "little")
    return b"\x80\x03ctorch.storage\n_load_from_bytes\nB" + length + inner + b"\x85R."


@pytest.mark.parametrize(
    "data",
    [
        b"cos\nsystem\n(S'true'\ntR.",  # GLOBAL, REDUCE
        b"(S'true'\nios\nsystem\n.",  # INST
        b"(cos\nsystem\nS'true'\no.",  # OBJ
        b"\x80\x02ccollections\nOrderedDict\n)\x81.",  # NEWOBJ
        b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.",  # STACK_GLOBAL
        b"\x80\x02\x82\x01.",  # EXT1
        b"Pfile\n.",  # PERSID
        b"\x80\x02U\x04evilQ.",  # BINPERSID
        b"\x80\x05\x96\xff\xff\xff\xff\xff\xff\xff\x7f.",  # BYTEARRAY8 of 2^63 bytes
        b"\x80\x02K\x01r\xff\xff\xff\xff.",  # a memo of 2^32 places
        b"\x80\x02K\x01}b.",  # BUILD on a number
        b"\x80\x02ccollections\nOrderedDict\n}U\x06system\x88sb.",  # BUILD on a name
        b"\x80\x02cnumpy\ndtype\nU\x02O8\x85R.",
        OBJECTS,
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(K\x01K\x00K\x01\x85K\x01\x85tR.",
        b"",
        b".",
        b"no pickle at all",
    ],
)
def test_that_instructions_that_build_more_than_values_are_refused(data: bytes) -> None:
    try:
        value = load_harmless(data, "evil.pkl")
    except UnreadableInputError:
        return
    assert isinstance(value, int | _dtype_stand_in())


def _dtype_stand_in() -> type:
    return type(load_harmless(pickle.dumps(np.dtype("f4"), 2), "a.pkl"))


def test_that_a_tensor_beyond_its_storage_is_refused() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    data = pickle.dumps(torch.arange(7.0), 2)
    assert data.count(b"K\x07\x85") == 1
    _refused(data.replace(b"K\x07\x85", b"K\x08\x85"))
    _refused(data.replace(b"K\x07\x85", b"J\xff\xff\xff\xff\x85"))


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 8))
def test_that_a_spoilt_pickle_is_read_or_refused_and_runs_nothing(
    seed: int, count: int
) -> None:
    rng = np.random.default_rng(seed)
    value = {"map": np.arange(6.0).reshape(2, 3), "cxr_dims": (40, 30), "prob": 0.5}
    data = bytearray(pickle.dumps(value, int(rng.integers(6))))
    for place in rng.integers(0, len(data), count):
        data[place] = rng.integers(0, 256)
    before = set(sys.modules)
    _read_or_refused(bytes(data))
    assert set(sys.modules) == before


@given(st.binary(max_size=200))
def test_that_any_bytes_are_read_or_refused(data: bytes) -> None:
    before = set(sys.modules)
    _read_or_refused(data)
    assert set(sys.modules) == before


def _read_or_refused(data: bytes) -> None:
    audited: list[str] = []
    _AUDIT.append(audited)
    try:
        load_harmless(data, "spoilt.pkl")
    except UnreadableInputError as error:
        assert error.how  # noqa: PT017 - reading it is allowed too
    finally:
        _AUDIT.remove(audited)
    assert not audited


_AUDIT: list[list[str]] = []
_DANGEROUS = ("os.", "subprocess.", "open", "import", "exec", "compile", "socket.")


def _hook(event: str, _arguments: Any) -> None:  # noqa: ANN401 - as sys gives them
    for audited in _AUDIT:
        if event.startswith(_DANGEROUS):
            audited.append(event)


b"\\u0041".decode("raw-unicode-escape")  # Python imports this codec when first used
sys.addaudithook(_hook)
