"""Which of many runs can stand in one trend with a run: those of its problem, or of one that differs in one thing."""

from __future__ import annotations

from dataclasses import fields

from workbench.analysis.listing.fields import SETTING, parts_of_setting
from workbench.run.kept.runs import Runs
from workbench.run.request import Problem

_PLACES = {one.name: SETTING.index(one.name) for one in fields(Problem) if one.name != "seed"}


def near(runs: Runs, problem: Problem) -> Runs:
    """Those of `runs` whose problem is `problem` but for one value at most; another seed is other values of a kind.

    No run is read for it.
    """
    wanted = [(place, str(_plain(getattr(problem, name)))) for name, place in _PLACES.items()]
    settings = runs.column("setting")

    def is_near(setting: object) -> bool:
        parts = parts_of_setting(str(setting))
        return sum(parts[place] != value for place, value in wanted) <= 1

    alike = {setting for setting in set(settings) if is_near(setting)}
    return runs.chosen(place for place, setting in enumerate(settings) if setting in alike)


def _plain(value: object) -> object:
    return int(value) if isinstance(value, bool) else value
