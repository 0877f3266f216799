"""Ceilings on disk: kept by device, driver and torch, and never in the way of a run."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from workbench.cli.commands import ceiling_lines
from workbench.run import codec
from workbench.run.ceilings import (
    FILE,
    NOT_WATCHED,
    Ceilings,
    CeilingsError,
    best_fit,
    data_folder,
    kept_ceilings,
    save_ceilings,
)

OLD = Ceilings("NVIDIA H200", "580.1", "2.11.0", "2026-11-30T12:00:00+00:00", 4.25e12, 51e12, 368e12, 694e12, 735e12)
H200 = replace(OLD, l2_bytes=60 * 2**20, uuid="GPU-1", power_limit_w=700.0, warnings=("bf16: throttled by power",))
H200 = replace(H200, labels=("bf16: throttled by power",))


def load(folder: Path, of: Ceilings = H200) -> Ceilings | None:
    return best_fit(kept_ceilings(of.device, of.driver, of.torch, folder), of.uuid, of.power_limit_w)


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "there yet"
    assert load(folder) is None
    save_ceilings(H200, folder)
    assert load(folder) == H200
    assert [path.name for path in folder.iterdir()] == [FILE]


@pytest.mark.parametrize(
    "changed",
    [
        {"device": "NVIDIA A100"},
        {"driver": "590.0"},
        {"torch": "2.12.0"},
        {"uuid": "GPU-2"},
        {"power_limit_w": 500.0},
    ],
)
def test_another_gpu_limit_driver_or_torch_has_its_own(tmp_path: Path, changed: dict[str, str]) -> None:
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


def test_a_file_of_an_earlier_version_is_read_as_not_watched(tmp_path: Path) -> None:
    """It lacks the fields that came later: nothing is known of them, and nothing is made up."""
    later = ("l2_bytes", "uuid", "power_limit_w", "warnings")
    entry = {name: value for name, value in asdict(OLD).items() if name not in later}
    (tmp_path / FILE).write_text(json.dumps([entry]), encoding="utf-8")
    found = load(tmp_path, H200)
    assert found == OLD and found.notes == (NOT_WATCHED,)
    save_ceilings(H200, tmp_path)
    assert kept_ceilings(OLD.device, OLD.driver, OLD.torch, tmp_path) == (H200,), "measured anew, they are replaced"
    assert load(tmp_path, replace(H200, power_limit_w=500.0)) is None


def test_who_does_not_know_the_gpu_gets_the_latest_and_who_does_its_own(tmp_path: Path) -> None:
    other = replace(H200, uuid="GPU-2", date="2026-12-01T12:00:00+00:00")
    for entry in (H200, other):
        save_ceilings(entry, tmp_path)
    unknown = replace(H200, uuid="", power_limit_w=None)
    assert load(tmp_path, unknown) == other
    assert load(tmp_path, replace(unknown, uuid="GPU-1")) == H200
    assert load(tmp_path, replace(unknown, uuid="GPU-3")) is None


@pytest.mark.parametrize("text", ["", "{", "{}", "[1]", '[{"device": "NVIDIA H200"}]', "\ufeff[]"])
def test_a_damaged_file_is_as_none_and_is_replaced(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    assert load(tmp_path) is None
    save_ceilings(H200, tmp_path)
    assert load(tmp_path) == H200


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("735000000000000.0", '"fast"'),
        ("700.0", '"much"'),
        ('"GPU-1"', "null"),
        ('"bf16: throttled by power"', "1"),
        ("4250000000000.0", "0.0"),
        ("4250000000000.0", "-1.0"),
        ("4250000000000.0", "true"),
        ("4250000000000.0", "NaN"),
        ("51000000000000.0", "-51e12"),
        ("51000000000000.0", "Infinity"),
        ("700.0", "0"),
        ("700.0", "NaN"),
    ],
)
def test_a_field_that_cannot_be_is_not_taken(tmp_path: Path, right: str, wrong: str) -> None:
    save_ceilings(H200, tmp_path)
    text = (tmp_path / FILE).read_text(encoding="utf-8")
    assert right in text
    (tmp_path / FILE).write_text(text.replace(right, wrong), encoding="utf-8")
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


def test_the_command_line_says_what_they_are_of_and_what_kept_the_device_from_its_best() -> None:
    first, *rates, warning = ceiling_lines(H200)
    assert first.startswith("NVIDIA H200, power limit 700 W, driver 580.1") and len(rates) == 5
    assert warning == "warning: bf16: throttled by power"
    assert list(ceiling_lines(OLD))[-1] == f"warning: {NOT_WATCHED}"
    assert "warning" not in "".join(ceiling_lines(replace(H200, warnings=())))
    printed = codec.plain(H200)
    assert printed["warnings"] == ["bf16: throttled by power"] and printed["power_limit_w"] == 700.0
