"""The window. Nothing below this package imports torch or triton."""
