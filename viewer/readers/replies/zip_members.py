"""Members of zip files, also those compressed with Zstandard.

Python's zipfile reads these from 3.14 on. APPNOTE.TXT 4.3.7 has the local header,
4.4.5 the numbers of the methods.
"""

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final
from zipfile import BadZipFile, ZipFile

from viewer.readers.files.text_files import MOST_BYTES

_ZSTANDARD: Final = 93
_LOCAL_HEADER: Final = struct.Struct("<26xHH")
"""A member's local header; it ends with the lengths of the name and of extra fields."""


class ZipMembers:
    """The members of an open zip file."""

    def __init__(self, archive: ZipFile, file: BinaryIO) -> None:
        self._archive, self._file = archive, file
        self.names = tuple(dict.fromkeys(archive.namelist()))

    def read(self, name: str) -> bytes:
        """Return the content of a member; of several of one name that of the last.

        Raises
        ------
        KeyError
            There is no such member.
        BadZipFile, RuntimeError
            It is damaged, encrypted, or larger than a table may be.
        NotImplementedError
            It is compressed in another way.
        """
        info = self._archive.getinfo(name)
        if info.file_size > MOST_BYTES:
            raise BadZipFile(f"'{name}' unpacks to {info.file_size:,} bytes.")
        if info.compress_type != _ZSTANDARD:
            return self._archive.read(info)
        from imagecodecs import zstd_decode

        self._file.seek(info.header_offset)
        header = self._file.read(_LOCAL_HEADER.size)
        # By the local header: its extra field may differ from the directory's.
        self._file.seek(sum(_LOCAL_HEADER.unpack(header)), 1)
        packed = self._file.read(info.compress_size)
        data = bytes(zstd_decode(packed, out=info.file_size))
        if zlib.crc32(data) != info.CRC:
            raise BadZipFile(f"'{name}' has a wrong checksum.")
        return data


@contextmanager
def zip_members(path: Path) -> Iterator[ZipMembers]:
    """Open a zip file to read its members; what is none raises BadZipFile."""
    with path.open("rb") as file, ZipFile(file) as archive:
        yield ZipMembers(archive, file)
