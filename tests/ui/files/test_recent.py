"""Each kind of file has its own last folder, over a restart."""

from __future__ import annotations

from pathlib import Path

import pytest
from PyQt6.QtCore import QSettings

from workbench.ui.files.recent import FileKind, Recent


@pytest.mark.parametrize("kind", FileKind)
def test_a_dialog_starts_where_the_last_of_its_kind_ended(tmp_path: Path, kind: FileKind) -> None:
    def recent() -> Recent:
        return Recent(QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat))

    there = tmp_path / "there"
    there.mkdir()
    assert recent().folder(kind, tmp_path) == tmp_path
    recent().keep_folder(kind, there / "a.file")
    assert recent().folder(kind, tmp_path) == there
    assert all(recent().folder(other, tmp_path) == tmp_path for other in FileKind if other is not kind)
    there.rmdir()
    assert recent().folder(kind, tmp_path) == tmp_path


@pytest.mark.parametrize("count", [0, 1, 2])
def test_any_number_of_files_is_kept(tmp_path: Path, count: int) -> None:
    paths = [tmp_path / f"{number}.tilescope" for number in range(count)]
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    for path in paths:
        path.touch()
        Recent(settings).add(path)
    settings.sync()
    again = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    assert Recent(again).paths() == paths[::-1]
