"""Student's t and the normal distribution against SciPy's."""

from __future__ import annotations

import subprocess
import sys

import pytest
from scipy.special import ndtr, stdtrit

from workbench.stats.student import normal_below, student_quantile


@pytest.mark.parametrize("z", [-8.0, -2.5, -1.0, 0.0, 0.3, 4.0])
def test_the_normal_share_is_scipys(z: float) -> None:
    assert normal_below(z) == pytest.approx(float(ndtr(z)), rel=1e-12)


@pytest.mark.parametrize("freedom", [1.0, 3.0, 3.7, 15.0, 63.0, 1000.0])
@pytest.mark.parametrize("share", [1e-6, 0.005, 0.025, 0.25, 0.49])
def test_the_quantile_is_scipys(share: float, freedom: float) -> None:
    assert student_quantile(share, freedom) == pytest.approx(float(stdtrit(freedom, share)), rel=1e-9)


@pytest.mark.parametrize(("share", "freedom"), [(0.0, 3.0), (0.5, 3.0), (0.1, 0.0)])
def test_other_shares_are_refused(share: float, freedom: float) -> None:
    with pytest.raises(ValueError, match="allowed are"):
        student_quantile(share, freedom)


def test_intervals_do_without_scipy() -> None:
    """Its import would keep the window from its frames, also from a thread."""
    code = (
        "import sys, numpy as np; from workbench.stats.summary import median_interval;"
        "from workbench.stats.independent import independent_ratio; a = np.random.default_rng(0).normal(100, 1, 500);"
        "median_interval(a); independent_ratio(a, a + 1); sys.exit('scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
