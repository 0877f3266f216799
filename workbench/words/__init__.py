"""Sentences about a run, so that window, pictures and command line say the same. No Qt, and no decisions."""
