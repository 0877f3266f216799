"""Runs as a table for other programs: its columns with their units, and the files that it is written to."""
