"""Arrays in the database piece by piece are the arrays that went in, and damage is still damage."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from workbench.run import blobs
from workbench.run.blobs import packed, read_blob, write_blob
from workbench.run.session import _UNREADABLE

ARRAYS: dict[str, dict[str, Any]] = {
    "none": {},
    "empty": {"a": np.zeros((0, 4), np.float32)},
    "small": {"a": np.arange(6.0).reshape(2, 3), "b": np.arange(3)},
    "large": {"a": np.arange(2 * blobs.PIECE_BYTES // 4 + 3, dtype=np.float32).reshape(-1, 1)},
}


def kept(data: memoryview | bytes) -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.execute("create table runs (id integer primary key, arrays blob)")
    db.execute("insert into runs values (7, zeroblob(?))", (len(data),))
    write_blob(db, 7, memoryview(data))
    return db


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("compress", [False, True])
def test_what_went_in_comes_out(kind: str, compress: bool) -> None:
    with closing(kept(packed(ARRAYS[kind], compress))) as db:
        found = read_blob(db, 7)
    assert set(found) == set(ARRAYS[kind])
    for name, array in ARRAYS[kind].items():
        assert found[name].dtype == array.dtype and np.array_equal(found[name], array)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
@pytest.mark.parametrize("compress", [False, True])
def test_what_is_cut_off_cannot_be_read(share: float, compress: bool) -> None:
    whole = bytes(packed(ARRAYS["large"], compress))
    with closing(kept(whole[: int(share * len(whole))])) as db, pytest.raises(_UNREADABLE):
        read_blob(db, 7)
