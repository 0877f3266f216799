"""Error: where and by how much an output differs from float64."""
