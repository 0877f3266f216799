"""What a run is, and its file: the request, what is measured, the events that cross between processes, the record.

Frozen dataclasses of scalars, strings and numpy arrays. Nothing here knows torch, Triton or Qt.
"""
