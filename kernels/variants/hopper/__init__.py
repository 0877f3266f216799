"""The 16-bit kernel for compute capability 9.0: its launcher, and its Gluon, which older Tritons cannot import."""
