"""The values of one slice of a volume, reading no more of its files than needed."""

import bz2
import math
import os
from typing import IO

import numpy as np

from viewer.readers.files.inflating import inflated
from viewer.readers.volumes.header import Packing, Part, Values, VolumeHeader


def slice_values(header: VolumeHeader, index: tuple[int, ...], shown: int) -> Values:
    """Return a stored slice: (rows, columns, components).

    Parameters
    ----------
    index : tuple of int
        Index of the slice along each axis of space and time but the first two.
    shown : int
        Number of components to return, from the first on.

    Raises
    ------
    ValueError, EOFError
        If the files have fewer values than the header says.
    """
    strides = np.cumprod((1, *header.shape[:-1]), dtype=np.int64).tolist()
    axis = header.components
    across = strides.pop(axis) if axis is not None else 0
    first = sum(n * step for n, step in zip(index, strides[2:], strict=True))
    columns, rows = (*header.extent, 1)[:2]
    # Components behind both axes of a slice: each has a plane of its own.
    if axis is None or axis > 1:
        starts = [first + n * across for n in range(shown)]
        planes = [_block(header, start, columns * rows) for start in starts]
        return np.stack([plane.reshape(rows, columns) for plane in planes], axis=-1)
    count = header.component_count
    block = _block(header, first, columns * rows * count)
    shape = (rows, columns, count) if axis == 0 else (rows, count, columns)
    return np.array(np.moveaxis(block.reshape(shape), 2 - axis, -1)[:, :, :shown])


def _block(header: VolumeHeader, first: int, count: int) -> Values:
    """Return ``count`` values from number ``first`` of the volume on."""
    whole = math.prod(header.shape)
    each, left_over = divmod(whole, len(header.parts))
    if left_over:
        raise ValueError(f"{whole} values are not the same number in each file")
    found = []
    while count:
        number, offset = divmod(first, each)
        taken = min(count, each - offset)
        found.append(_part_values(header, header.parts[number], offset, taken))
        first, count = first + taken, count - taken
    return found[0] if len(found) == 1 else np.concatenate(found)


def _part_values(header: VolumeHeader, part: Part, first: int, count: int) -> Values:
    start, width = part.start, header.dtype.itemsize
    if start is None:
        held = math.prod(header.shape) // len(header.parts) * width
        start = part.path.stat().st_size - held
    if header.packing is Packing.DEFLATE:
        at = header.skip + first * width
        data = inflated(part.path, start, at, count * width)
        return np.frombuffer(data, header.dtype)
    with part.path.open("rb") as stream:
        stream.seek(start)
        values = _read(stream, header, first, count)
    if len(values) != count:
        raise EOFError(f"{len(values)} of {count} values are there")
    return values


def _read(stream: IO[bytes], header: VolumeHeader, first: int, count: int) -> Values:
    """Return values of a file, fewer if it is truncated."""
    if header.packing is Packing.TEXT:
        # numpy parses text only into the byte order of the machine.
        plain = header.dtype.newbyteorder("=")
        # Numbers as text have no fixed width: those before must be read to skip them.
        return np.fromfile(stream, plain, first + count, sep=" ")[first:]
    width = header.dtype.itemsize
    at, length = header.skip + first * width, count * width
    if header.packing is Packing.HEX:
        data = bytes.fromhex(stream.read().decode("ascii"))[at : at + length]
    elif header.packing is Packing.BZIP2:
        with bz2.BZ2File(stream) as unpacked:
            unpacked.seek(at)
            data = unpacked.read(length)
    else:
        stream.seek(at, os.SEEK_CUR)
        data = stream.read(length)
    return np.frombuffer(data, header.dtype)
