"""The tolerance that an output is held to when nobody has set one."""

from __future__ import annotations

# The article's, for full-precision products; 3xTF32 and its like are as good for this purpose.
ARTICLE_TOLERANCE = 2e-3


def default_tolerance(dtype: str, precision: str) -> float:
    """What to take for both rtol and atol, for outputs of `dtype` whose fp32 products are made in `precision`.

    About four times the rounding unit of the number format that the softmax weights and the output pass through, and
    not below the article's 2e-3. What PyTorch's own SDPA needs, that is the largest |out - float64| / (1 + |float64|)
    over its math and flash backends, six shapes from 7 x 13 x 8 to 256 x 2048 x 128 and every distribution of inputs:

    - fp16 (unit 4.9e-4): 4e-4 on normal inputs, 7.3e-4 with outliers: 2e-3.
    - bf16 (unit 3.9e-3): 3.2e-3 on normal inputs, 5.5e-3 with outliers: 1.6e-2.
    - tf32 (the unit of fp16, but Q and K are cut to it as well, so that the scores err too): 1.6e-3 on normal inputs,
      4e-3. With outliers the cut scores are off by 8e-2: a result that misses the tolerance there is a true one.
    """
    if dtype == "bf16":
        return 1.6e-2
    if dtype == "fp32" and precision == "tf32":
        return 4e-3
    return ARTICLE_TOLERANCE
