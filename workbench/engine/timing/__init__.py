"""Times of launches: clocks, the samplers of each protocol, rounds in which implementations take turns."""
