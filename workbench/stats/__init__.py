"""Numbers in, numbers out: intervals, ratios, drift and modes of samples. Nothing here knows what was measured."""
