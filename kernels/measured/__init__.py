"""The kernels measured on a GPU, and the data that came of it: the table of good tiles.

`python -m kernels.measured.bench` prints the table of times, `python -m kernels.measured.tune` measures the tiles anew.
"""
