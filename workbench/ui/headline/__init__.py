"""The strip above all panels: what a run came to in one line, how that is known, and what must be known beside it."""
