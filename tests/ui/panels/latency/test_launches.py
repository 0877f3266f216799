"""Launch times kept as they come: their order, and their quantiles as numpy has them."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.ui.panels.latency.launches import Launches


def test_times_that_come_in_pieces_are_the_same_as_all_at_once() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(100, 3, 3001)
    launches = Launches()
    for i, end in enumerate([1, 2, 300, 301, 2500, 3001]):
        launches.follow(values[:end])
        if i % 2:
            assert len(launches.ordered) == len(launches)  # asked between some of them, as a frame does
    assert launches.values.tolist() == values.tolist()
    assert launches.ordered.tolist() == np.sort(values).tolist()
    assert launches.quantiles(0.2, 0.5, 0.8) == pytest.approx(np.percentile(values, [20, 50, 80]).tolist(), rel=1e-12)


def test_one_launch_is_all_its_quantiles_and_none_has_none() -> None:
    assert Launches(np.array([7.0])).quantiles(0.2, 0.8) == [7.0, 7.0]
    with pytest.raises(ValueError, match="no launch"):
        Launches().quantiles(0.5)
