"""The line that outliers hardly move: held against SciPy's, and against what is known of it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import theilslopes

from workbench.stats.slope import median_line


def _values(seed: int, kind: str) -> np.ndarray:
    draw = np.random.default_rng(seed)
    count = int(draw.integers(3, 40))
    noise = draw.standard_t(2, count)
    return {"noise": noise, "trend": 0.3 * np.arange(count) + noise, "equal": np.round(noise)}[kind]


@pytest.mark.parametrize("kind", ["noise", "trend", "equal"])
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("confidence", [0.9, 0.99])
def test_it_is_scipys_line(seed: int, kind: str, confidence: float) -> None:
    values = _values(seed, kind)
    slope, intercept, low, high = theilslopes(values, alpha=confidence)
    line = median_line(values, confidence)
    assert (line.slope, line.intercept) == pytest.approx((slope, intercept))
    assert (line.low, line.high) == pytest.approx((low, high))


def test_one_wild_value_does_not_turn_it() -> None:
    values = np.arange(20.0)
    values[7] = 1e6
    assert median_line(values).slope == pytest.approx(1.0)


def test_fewer_than_two_values_have_no_line() -> None:
    with pytest.raises(ValueError, match="there are 1 values; allowed are two and more"):
        median_line(np.ones(1))


def test_judging_samples_leaves_the_slow_half_of_scipy_alone() -> None:
    """The first run waits for whatever is imported by its judgement."""
    words = (
        "import sys, numpy as np; from workbench.engine.timing.measure import judged; "
        "from workbench.run.measurement import Latency; "
        "samples = np.random.default_rng(0).normal(100, 1, 400); "
        "judged(Latency('cold', 'cuda events', samples, None, 0, 400)); sys.exit('scipy.stats' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", words], check=False).returncode == 0
