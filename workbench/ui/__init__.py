"""The window: what is shown of runs, and what is asked for. Nothing in this package imports torch or triton.

What a run is, how it is measured and what is said of it belong to the rooms below.
"""
