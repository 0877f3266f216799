"""What a kernel is held against: PyTorch's SDPA by backend, FlexAttention, packages that are installed."""
