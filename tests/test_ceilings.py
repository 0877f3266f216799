"""Ceilings on disk: kept by device, driver and torch, and never in the way of a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from workbench.ceilings import FILE, Ceilings, CeilingsError, data_folder, load_ceilings, save_ceilings

H200 = Ceilings("NVIDIA H200", "580.1", "2.11.0", "2026-11-30T12:00:00+00:00", 4.25e12, 51e12, 368e12, 694e12, 735e12)


def load(folder: Path, of: Ceilings = H200) -> Ceilings | None:
    return load_ceilings(of.device, of.driver, of.torch, folder)


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "there yet"
    assert load(folder) is None
    save_ceilings(H200, folder)
    assert load(folder) == H200
    assert [path.name for path in folder.iterdir()] == [FILE]


@pytest.mark.parametrize("changed", [{"device": "NVIDIA A100"}, {"driver": "590.0"}, {"torch": "2.12.0"}])
def test_another_device_driver_or_torch_has_its_own(tmp_path: Path, changed: dict[str, str]) -> None:
    other = replace(H200, **changed, bf16=1e12)  # type: ignore[arg-type]
    save_ceilings(H200, tmp_path)
    assert load(tmp_path, other) is None
    save_ceilings(other, tmp_path)
    assert (load(tmp_path), load(tmp_path, other)) == (H200, other)


def test_newer_ones_take_the_place_of_older_ones(tmp_path: Path) -> None:
    save_ceilings(H200, tmp_path)
    newer = replace(H200, date="2026-12-01T12:00:00+00:00", copy_bytes_per_s=4.3e12)
    save_ceilings(newer, tmp_path)
    assert load(tmp_path) == newer


@pytest.mark.parametrize("text", ["", "{", "{}", "[1]", '[{"device": "NVIDIA H200"}]', "\ufeff[]"])
def test_a_damaged_file_is_as_none_and_is_replaced(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    assert load(tmp_path) is None
    save_ceilings(H200, tmp_path)
    assert load(tmp_path) == H200


def test_a_field_of_the_wrong_kind_is_not_taken(tmp_path: Path) -> None:
    save_ceilings(H200, tmp_path)
    text = (tmp_path / FILE).read_text(encoding="utf-8")
    (tmp_path / FILE).write_text(text.replace("735000000000000.0", '"fast"'), encoding="utf-8")
    assert load(tmp_path) is None


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(CeilingsError, match=r"file/ceilings\.json cannot be written"):
        save_ceilings(H200, tmp_path / "file")


def test_they_lie_in_the_users_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert data_folder() == tmp_path / "tilescope"
    monkeypatch.delenv("XDG_DATA_HOME")
    assert data_folder() == Path.home() / ".local" / "share" / "tilescope"
