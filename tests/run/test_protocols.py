"""Protocols: their traits agree with each other, and with what the engine does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.engine.timing.samplers import SAMPLERS, Flushing
from workbench.run.protocols import PROTOCOLS, Protocol, protocol_of

WORKBENCH = Path(__file__).resolve().parents[2] / "workbench"
each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=lambda p: p.name)


@each_protocol
def test_a_protocol_means_something_on_the_host_or_says_why_it_takes_a_gpu(protocol: Protocol) -> None:
    assert protocol.meaning and bool(protocol.on_host) is not bool(protocol.needs_gpu)
    assert "CUDA" not in protocol.on_host and "block" not in protocol.on_host


@each_protocol
def test_those_that_take_turns_have_a_sampler_that_does_what_they_say(protocol: Protocol) -> None:
    assert (protocol.name in SAMPLERS) is protocol.takes_turns
    if protocol.takes_turns:
        made_by = SAMPLERS[protocol.name]
        assert isinstance(made_by, type) and issubclass(made_by, Flushing) is protocol.flushes


def test_a_later_versions_protocol_is_read_by_its_name() -> None:
    unknown = protocol_of("of a later version")
    assert unknown.name == "of a later version" and unknown.meaning == ""
    assert unknown.figure == "median" and not unknown.has_fixed_counts and not unknown.replays


def _compared() -> Iterator[str]:
    names = "|".join(map(re.escape, PROTOCOLS))
    compare = re.compile(rf'protocol\w*(\(\))? (==|!=|in|not in) \(?"({names})"|"({names})" (==|!=|in) \w*protocol')
    for path in WORKBENCH.rglob("*.py"):
        if "panels" not in path.parts:
            yield from (
                f"{path.name}: {line.strip()}" for line in path.read_text().splitlines() if compare.search(line)
            )


def test_traits_are_asked_for_and_never_names() -> None:
    assert list(_compared()) == []
