"""Softmax state: m and l of the online softmax in every tile of the kernel."""
