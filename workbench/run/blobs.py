"""Arrays in a database, piece by piece: taken in one, hundreds of MB keep the interpreter's lock for a visible time."""

from __future__ import annotations

import io
import sqlite3
import zipfile
from collections.abc import Mapping
from contextlib import closing
from typing import Any

import numpy as np
import numpy.typing as npt

PIECE_BYTES = 2**20
TABLE, COLUMN = "runs", "arrays"


def packed(arrays: Mapping[str, Any], compress: bool = False) -> memoryview:
    """`arrays` as the bytes of an .npz file. NumPy's own writer takes 16 MiB at once, copied twice."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                _write_array(member, np.asarray(array, order="C"))
    return buffer.getbuffer()


def _write_array(member: Any, array: npt.NDArray[Any]) -> None:
    np.lib.format.write_array_header_1_0(member, np.lib.format.header_data_from_array_1_0(array))
    data: Any = array.reshape(-1).view(np.uint8)  # of nothing, too, which a memoryview cannot cast
    for start in range(0, len(data), PIECE_BYTES):
        member.write(data[start : start + PIECE_BYTES])


def write_blob(db: sqlite3.Connection, number: int, data: memoryview) -> None:
    """Write `data` into the blob of run `number`, which has its size already."""
    with closing(db.blobopen(TABLE, COLUMN, number)) as blob:
        for start in range(0, len(data), PIECE_BYTES):
            blob.write(data[start : start + PIECE_BYTES])


def read_blob(db: sqlite3.Connection, number: int) -> dict[str, Any]:
    """The arrays of run `number` by their names. Raises what NumPy and zipfile raise for what they cannot read."""
    with closing(db.blobopen(TABLE, COLUMN, number, readonly=True)) as blob:
        file: Any = io.BufferedReader(_Blob(blob), PIECE_BYTES)
        with np.load(file) as stored:
            return {name: stored[name] for name in stored.files}


class _Blob(io.RawIOBase):
    """A blob as a file that is only read."""

    def __init__(self, blob: sqlite3.Blob) -> None:
        self._blob = blob

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._blob.tell(), io.SEEK_END: len(self._blob)}[whence]
        if start + offset < 0:
            raise OSError(f"there is no byte {start + offset} in a blob")
        self._blob.seek(min(start + offset, len(self._blob)))
        return self._blob.tell()

    def readinto(self, buffer: Any) -> int:
        piece = self._blob.read(min(len(buffer), len(self._blob) - self._blob.tell()))
        buffer[: len(piece)] = piece
        return len(piece)
