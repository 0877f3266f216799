"""Latency: launches in order, their distribution, and the trend of the runs of this problem."""
