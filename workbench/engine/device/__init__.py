"""The device: which one is used, what NVML reads of it while launches are timed, the rates that it reaches."""
