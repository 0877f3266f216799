"""Text that fits where it stands: lines in several colours, cards, and what is left out where room is short."""
