"""The pages for readers: what they point at is there, and what they tell to type is taken."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from workbench.cli.grammar import make_parser

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "assets" / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors_of(page: Path) -> set[str]:
    """The names that a page's headings are linked by."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = LINK.findall(page.read_text(encoding="utf-8"))
    assert links
    for link in links:
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        assert target.is_file(), link
        assert not anchor or anchor in anchors_of(target), link


def test_every_picture_of_the_readme_is_retaken_by_the_script() -> None:
    pictures = {Path(link).stem for link in LINK.findall(PAGES[0].read_text(encoding="utf-8")) if link.endswith(".png")}
    script = (ROOT / "assets" / "screenshots" / "retake.sh").read_text(encoding="utf-8")
    assert set(re.findall(r"^take ([\w-]+)", script, re.MULTILINE)) == pictures
    assert {path.stem for path in (ROOT / "assets" / "screenshots").glob("*.png")} == pictures


def commands_in_the_readme() -> list[str]:
    rows = re.findall(r"^\| (`.+?) \|", PAGES[0].read_text(encoding="utf-8"), re.MULTILINE)
    code = [command for row in rows for command in re.findall(r"`([^`]+)`", row)]
    return [command for command in code if "/" not in command.split()[0] and not command.endswith(".py")]


@pytest.mark.parametrize("command", commands_in_the_readme())
def test_every_command_of_the_readme_is_in_the_grammar(command: str) -> None:
    parsed = make_parser().parse_args(shlex.split(command))
    assert parsed.command == command.split()[0]


def test_the_rooms_of_the_readme_are_those_there_are_from_the_top() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = (one["layers"] for one in contracts if one.get("containers") == ["workbench"])
    rooms = [room.strip() for layer in layers for room in layer.split("|")]
    assert re.findall(r"^\| `workbench/(\w+)/` \|", PAGES[0].read_text(encoding="utf-8"), re.MULTILINE) == rooms
