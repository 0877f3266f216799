"""What a run is beside the reference that a person has set: a remark for the headline."""

from __future__ import annotations

from math import isfinite

from workbench.analysis.comparison import against
from workbench.run.record import RunRecord
from workbench.words.comparing import BEYOND, SEPARATE, TIE, factors_text, run_title
from workbench.words.remarks import Remark
from workbench.words.results import against_text


def reference_remark(run: RunRecord, reference: RunRecord) -> Remark:
    """How fast `run` is beside `reference`, and whether that is beyond noise.

    Takes some 10 ms: the interval is drawn from the samples of both.
    """
    name = run_title(reference).replace("\n", ", ")
    short = name.split(",")[0]
    if run.key == reference.key:
        return Remark("the reference", f"runs are held against {name}", "muted")
    held = against(run, reference)
    if held.ratio is None:
        return Remark(f"no ratio to {short}", f"beside the reference {name}: {held.why}", "muted")
    if not isfinite(held.ratio.high):
        return Remark(f"no interval to {short}", f"beside the reference {name}: too few launches", "muted")
    bounds = factors_text(held.ratio)
    if not held.is_beyond_noise:
        return Remark(f"tie with {short}", f"beside the reference {name}: {bounds}, {TIE}, {SEPARATE}", "muted")
    text = against_text(held.ratio)
    tone = "good" if held.ratio.low > 1 else "warn"
    return Remark(f"{text} than {short}", f"{text} than the reference {name}: {bounds}, {BEYOND}, {SEPARATE}", tone)
